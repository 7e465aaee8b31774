// The queues of the drawn run: a lane for each, its commands, and what they wait for.

const ROW = 24;         // Height of a row of commands.
const LANE_GAP = 8;
const MOST_ARROWS = 600;
const MOST_COUNTS = 60;
const MOST_STUCK = 4;   // Commands in a lane that never start, drawn after the end of the run.

class Lanes extends Plot {
  private readonly lanes: number[] = [];              // Those in use, in order.
  private readonly row: Int32Array;                   // By command: its row in its lane.
  private readonly rows: number[];                    // By lane: how many.
  private readonly top: number[];                     // By lane.
  private readonly inLane: number[][];                // By lane: commands by start.
  private readonly syncsOf = new Map<number, number[]>();
  private hovered = -1;
  private readonly start: number[];                   // By command: where it is drawn.
  private readonly stop: number[];

  constructor(data: PlanData, time: TimeWindow, tip: Tip, private readonly selection: Chosen) {
    super(data, time, tip, "Queues: commands over time and what they wait for. Arrow keys pan, " +
                           "plus and minus zoom, 0 shows all.");
    const { commands, ops, syncs } = data;
    this.row = new Int32Array(commands.op.length);
    this.inLane = data.lanes.map(() => []);
    this.start = [...commands.start];
    this.stop = commands.end.map((end) => end < 0 ? data.drawn.end : end);
    commands.op.forEach((op, c) => {
      if (commands.start[c] >= 0 && ops.lane[op] >= 0) this.inLane[ops.lane[op]].push(c);
    });
    this.addStuck();
    this.rows = this.inLane.map((list) => this.layRows(list));
    this.top = data.lanes.map(() => 0);
    let y = 4;
    data.lanes.forEach((lane, k) => {
      if (this.inLane[k].length === 0 && (lane.busy ?? "").search(/[^0]/) < 0) {
        if (lane.order === "thread") return;
      }
      this.lanes.push(k);
      this.top[k] = y;
      y += this.rows[k] * ROW + LANE_GAP;
    });
    this.bottom = y;
    for (let k = 0; k < syncs.from.length; k++) {
      for (const c of [syncs.from[k], syncs.to[k]]) {
        const list = this.syncsOf.get(c);
        if (list === undefined) this.syncsOf.set(c, [k]);
        else list.push(k);
      }
    }
    selection.onChange(() => this.redraw());
  }
  private readonly bottom: number;

  /** The first that never start, in program order after the end of the run. */
  private addStuck(): void {
    const { commands, ops, drawn } = this.data;
    const stuck: number[][] = this.data.lanes.map(() => []);
    commands.op.forEach((op, c) => {
      if (commands.start[c] < 0 && ops.lane[op] >= 0 && stuck[ops.lane[op]].length < MOST_STUCK) stuck[ops.lane[op]].push(c);
    });
    const width = stuckRoom(this.data) / Math.max(...stuck.map((list) => list.length), 1);
    stuck.forEach((list, lane) => list.forEach((c, k) => {
      this.start[c] = drawn.end + k * width;
      this.stop[c] = this.start[c] + width;
      this.inLane[lane].push(c);
    }));
  }

  /** Commands that overlap get rows of their own. Returns how many rows there are. */
  private layRows(list: number[]): number {
    const { start, stop } = this;
    const { commands } = this.data;
    list.sort((a, b) => start[a] - start[b] || a - b);
    const ends: number[] = [];
    for (const c of list) {
      const end = commands.start[c] >= 0 && commands.end[c] < 0 ? Infinity : stop[c];
      let row = ends.findIndex((until) => until <= start[c]);
      if (row < 0) row = Math.min(ends.length, 7);
      ends[row] = Math.max(end, ends[row] ?? 0);
      this.row[c] = row;
    }
    return Math.max(ends.length, 1);
  }

  height(): number { return this.bottom + AXIS; }

  private y(c: number): number {
    return this.top[this.data.ops.lane[this.data.commands.op[c]]] + this.row[c] * ROW;
  }

  protected draw(): void {
    this.drawNames();
    this.clipToPlot(() => {
      this.drawTimeGrid();
      for (const lane of this.lanes) this.drawLane(lane);
      this.drawSyncs();
    });
    this.drawTimeAxis();
  }

  private drawNames(): void {
    const { context, colors } = this;
    for (const k of this.lanes) {
      const lane = this.data.lanes[k];
      const middle = this.top[k] + this.rows[k] * ROW / 2;
      context.textAlign = "right";
      context.fillStyle = colors.text;
      const room = GUTTER - 14;
      const name = fitted(shown(lane.name), room, this.measure);
      const two = this.rows[k] * ROW >= 24 && lane.order !== "serial";
      context.fillText(name, GUTTER - 8, two ? middle - 6 : middle);
      if (two) {
        context.fillStyle = colors.muted;
        context.fillText(lane.order, GUTTER - 8, middle + 7);
      }
    }
    context.strokeStyle = colors.line;
    this.line(GUTTER - 0.5, 0, GUTTER - 0.5, this.plotHeight());
  }

  private drawLane(lane: number): void {
    const { context, colors } = this;
    const { commands } = this.data;
    const height = this.rows[lane] * ROW;
    context.fillStyle = colors.grid;
    context.globalAlpha = 0.45;
    context.fillRect(GUTTER, this.top[lane], this.plotWidth(), height - 2);
    context.globalAlpha = 1;
    this.drawBusy(lane, height - 2);
    // Of what is smaller than a pixel one for each pixel.
    const drawn: number[] = new Array<number>(this.rows[lane]).fill(-1);
    const marks: number[] = [];
    for (const c of this.inLane[lane]) {
      if (this.stop[c] < this.time.from) continue;
      if (this.start[c] > this.time.to) break;
      if (commands.start[c] >= 0 && commands.start[c] === commands.end[c]) { marks.push(c); continue; }
      const x = this.x(this.start[c]);
      const w = this.x(this.stop[c]) - x;
      if (w < 1 && Math.floor(x) === drawn[this.row[c]] && !this.isMarked(c)) continue;
      drawn[this.row[c]] = Math.floor(x);
      this.drawCommand(c, x, Math.max(w, 1));
    }
    let last = -9;
    for (const c of marks) {
      const x = this.x(commands.start[c]);
      if (x - last < 3 && !this.isMarked(c)) continue;
      last = x;
      this.drawMark(c, x);
    }
  }

  private drawBusy(lane: number, height: number): void {
    const busy = this.data.lanes[lane].busy;
    if (busy === undefined) return;
    const width = (this.x(this.data.drawn.end) - this.x(0)) / RASTER_WIDTH;
    this.context.fillStyle = this.colors.bar;
    shares(busy).forEach((share, k) => {
      this.context.globalAlpha = 0.5;
      const h = share * height;
      this.context.fillRect(this.x(0) + k * width, this.top[lane] + height - h, width + 0.5, h);
    });
    this.context.globalAlpha = 1;
  }

  private clashing(c: number): boolean {
    return this.data.findings[this.selection.finding]?.at.includes(c) ?? false;
  }
  /** How the op touches the selected family: 0 not, 1 reads, 2 writes. */
  private touches(c: number): number {
    return this.roles().get(this.data.commands.op[c]) ?? 0;
  }
  private roleTensor = -2;
  private roleMap = new Map<number, number>();
  private roles(): Map<number, number> {
    if (this.roleTensor === this.selection.tensor) return this.roleMap;
    this.roleTensor = this.selection.tensor;
    this.roleMap = new Map();
    const { uses } = this.data;
    if (this.roleTensor < 0) return this.roleMap;
    for (let k = 0; k < uses.op.length; k++) {
      if (rootOf(this.data, uses.tensor[k]) !== this.roleTensor) continue;
      const role = uses.kind[k] === 0 ? 1 : 2;
      this.roleMap.set(uses.op[k], Math.max(role, this.roleMap.get(uses.op[k]) ?? 0));
    }
    return this.roleMap;
  }
  private isMarked(c: number): boolean {
    return this.clashing(c) || this.touches(c) !== 0;
  }

  private drawCommand(c: number, x: number, w: number): void {
    const { context, colors } = this;
    const y = this.y(c);
    const h = ROW - 4;
    const stuck = this.data.commands.start[c] < 0;
    const bad = this.clashing(c);
    const touch = this.touches(c);
    context.fillStyle = stuck ? colors.panel : colors.bar;
    context.fillRect(x, y + 1, Math.max(w - (w > 3 ? 1 : 0), 1), h);
    if (touch !== 0 && w > 2) {
      context.fillStyle = touch === 1 ? "#56B4E9" : "#E69F00";
      context.fillRect(x, y + h - 3, w - 1, 4);
    }
    if (bad || stuck) {
      context.strokeStyle = colors.bad;
      context.lineWidth = bad ? 2.5 : 1.5;
      context.setLineDash(stuck ? [4, 3] : []);
      context.strokeRect(x + 1, y + 2, Math.max(w - 3, 1), h - 2);
      context.setLineDash([]);
    }
    const left = Math.max(x, GUTTER) + 8;
    const room = Math.min(x + w, GUTTER + this.plotWidth()) - left - 4;
    if (room < 14) return;
    const text = fitted(commandText(this.data, c), room, this.measure);
    if (text === "…") return;
    context.fillStyle = stuck ? colors.text : colors.barText;
    context.textAlign = "left";
    context.fillText(text, left, y + 1 + h / 2);
  }

  /** A command that takes no time. */
  private drawMark(c: number, x: number): void {
    const { context, colors } = this;
    const y = this.y(c) + ROW / 2 - 1;
    context.fillStyle = this.clashing(c) ? colors.bad : colors.text;
    context.beginPath();
    context.moveTo(x, y - 6);
    context.lineTo(x + 5, y);
    context.lineTo(x, y + 6);
    context.lineTo(x - 5, y);
    context.fill();
  }

  private drawSyncs(): void {
    const { commands, syncs } = this.data;
    const seen: number[] = [];
    for (let k = 0; k < syncs.from.length && seen.length <= MOST_ARROWS; k++) {
      const from = commands.end[syncs.from[k]];
      const to = commands.start[syncs.to[k]];
      if (from < 0 || to < 0 || to < this.time.from || from > this.time.to) continue;
      seen.push(k);
    }
    if (seen.length <= MOST_ARROWS) {
      // Counts that hold a queue back are many and say little: only where there are few.
      const all = seen.length <= MOST_COUNTS;
      for (const k of seen) {
        const strong = this.isOfInterest(k);
        const passes = commands.end[syncs.from[k]] < this.time.from && commands.start[syncs.to[k]] > this.time.to;
        if (passes && !strong) continue;
        if (all || strong || syncs.reason[k] !== 4) this.drawSync(k, strong);
      }
      return;
    }
    for (const c of [this.hovered, ...(this.data.findings[this.selection.finding]?.at ?? [])]) {
      for (const k of this.syncsOf.get(c) ?? []) this.drawSync(k, true);
    }
  }
  private isOfInterest(k: number): boolean {
    const { from, to } = this.data.syncs;
    return from[k] === this.hovered || to[k] === this.hovered;
  }

  private drawSync(k: number, strong: boolean): void {
    const { context, colors } = this;
    const { commands, syncs } = this.data;
    const from = syncs.from[k];
    const to = syncs.to[k];
    if (commands.end[from] < 0 || commands.start[to] < 0) return;
    const x0 = this.x(commands.end[from]);
    const x1 = this.x(commands.start[to]);
    const y0 = this.y(from) + ROW / 2 - 1;
    const y1 = this.y(to) + ROW / 2 - 1;
    const bend = Math.max(18, Math.min(60, Math.abs(x1 - x0) / 2));
    context.strokeStyle = context.fillStyle = [colors.good, "#CC79A7", colors.muted, "#E69F00", colors.muted][syncs.reason[k]];
    context.setLineDash(syncs.reason[k] === 2 ? [4, 3] : []);
    context.lineWidth = strong ? 3 : 1.5;
    context.beginPath();
    context.moveTo(x0 - 3, y0);
    context.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1 - 3, y1);
    context.stroke();
    context.setLineDash([]);
    context.beginPath();
    context.moveTo(x1 + 1, y1);
    context.lineTo(x1 - 6, y1 - 4);
    context.lineTo(x1 - 6, y1 + 4);
    context.fill();
    context.beginPath();
    context.arc(x0 - 3, y0, 2.5, 0, 2 * Math.PI);
    context.fill();
  }

  private commandAt(x: number, y: number): number {
    const { commands } = this.data;
    const time = this.timeAt(x);
    const perPixel = (this.time.to - this.time.from) / this.plotWidth();
    let found = -1;
    for (const lane of this.lanes) {
      if (y < this.top[lane] || y > this.top[lane] + this.rows[lane] * ROW) continue;
      const row = Math.floor((y - this.top[lane]) / ROW);
      for (const c of this.inLane[lane]) {
        if (this.start[c] > time + 6 * perPixel) break;
        if (this.row[c] !== row) continue;
        const slack = commands.start[c] >= 0 && commands.start[c] === commands.end[c] ? 6 * perPixel : 0;
        if (time >= this.start[c] - slack && time <= this.stop[c] + slack) found = c;
        if (found === c && slack > 0) return c;
      }
    }
    return found;
  }

  protected about(x: number, y: number): string[] {
    const c = x < GUTTER ? -1 : this.commandAt(x, y);
    if (c !== this.hovered) {
      this.hovered = c;
      this.redraw();
    }
    if (c < 0) return [];
    const { ops, commands, syncs, lanes, unmet } = this.data;
    const op = commands.op[c];
    const label = ops.labels[ops.label[op]];
    const kind = ops.kind[op] === 0 ? "" : OP_KINDS[ops.kind[op]];
    const what = [shown(label), kind].filter((part) => part !== "").join(", ");
    const lines = [commandText(this.data, c)];
    if (what !== "") lines.push(what);
    lines.push((lanes[ops.lane[op]].order === "thread" ? "thread " : "queue ") + shown(lanes[ops.lane[op]].name) +
               ", " + spanText(this.data, commands.start[c], commands.end[c]));
    for (const [kind, verb] of USE_KINDS.entries()) {
      const names = this.tensorsOf(op, kind);
      if (names.length > 0) lines.push(`${verb} ${names.join(", ")}`);
    }
    for (const k of (this.syncsOf.get(c) ?? []).slice(0, 6)) {
      const done = commands.start[c] < 0 && commands.end[syncs.from[k]] >= 0;  // Not that holds it back.
      if (syncs.to[k] === c && !done) lines.push(`waits for ${commandText(this.data, syncs.from[k])} (${SYNC_KINDS[syncs.reason[k]]})`);
    }
    unmet.command.forEach((of, k) => { if (of === c) lines.push("waits for " + shown(unmet.words[unmet.what[k]])); });
    const file = ops.files[ops.file[op]];
    if (file !== "") lines.push(`${shown(file)}:${ops.line[op]}`);
    return lines;
  }
  private tensorsOf(op: number, kind: number): string[] {
    const { uses, tensors } = this.data;
    const names: string[] = [];
    let k = lowerBound(uses.op, op);
    for (; k < uses.op.length && uses.op[k] === op; k++) {
      if (uses.kind[k] === kind) names.push(shown(tensors.name[uses.tensor[k]]));
    }
    return names.length > 6 ? [...names.slice(0, 6), `${names.length - 6} more`] : names;
  }

  protected pick(x: number, y: number): void {
    const c = x < GUTTER ? -1 : this.commandAt(x, y);
    if (c < 0) return;
    // The tensor that it writes, else the first that it touches.
    const { uses, commands } = this.data;
    const op = commands.op[c];
    let chosen = -1;
    for (let k = lowerBound(uses.op, op); k < uses.op.length && uses.op[k] === op; k++) {
      if (chosen < 0 || uses.kind[k] === 1) chosen = uses.tensor[k];
      if (uses.kind[k] === 1) break;
    }
    if (chosen >= 0) this.selection.selectTensor(rootOf(this.data, chosen));
  }
}

/** Index of the first entry of an ascending list that is not below `value`. */
function lowerBound(list: number[], value: number): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
