// The memory map: addresses of one pool over the time of the drawn run.

class Arena extends Plot {
  pool = 0;
  arrows = true;
  private low = 0;          // Addresses shown.
  private high = 1;
  private inPool: number[] = [];
  private raster: HTMLCanvasElement | null = null;
  private readonly reuse: Map<number, number[]> = new Map();  // By range: indices into data.reuse.

  constructor(data: PlanData, time: TimeWindow, tip: Tip, private readonly selection: Chosen) {
    super(data, time, tip, "Memory map: addresses over time. Arrow keys pan, plus and minus zoom, " +
                           "square brackets zoom addresses, n and p select tensors, 0 shows all.");
    for (let k = 0; k < data.reuse.from.length; k++) {
      for (const range of [data.reuse.from[k], data.reuse.to[k]]) {
        const list = this.reuse.get(range);
        if (list === undefined) this.reuse.set(range, [k]);
        else list.push(k);
      }
    }
    selection.onChange(() => this.follow());
    this.setPool(0);
  }

  setPool(pool: number): void {
    this.pool = pool;
    this.inPool = [];
    this.data.ranges.pool.forEach((of, k) => { if (of === pool) this.inPool.push(k); });
    this.raster = this.makeRaster();
    this.allAddresses();
    this.redraw();
  }

  /** The highest address that matters. */
  private top(): number {
    const pool = this.data.pools[this.pool];
    const peak = Math.max(pool.peak, 1);
    const capacity = pool.capacity;
    return capacity !== undefined && capacity > 0 && capacity <= 1.5 * peak ? Math.max(capacity, peak)
                                                                              : peak;
  }
  private allAddresses(): void {
    this.low = 0;
    for (const k of this.inPool) this.low = Math.min(this.low, this.data.ranges.at[k]);
    this.high = this.top() * 1.09;
  }
  protected override showAll(): void {
    this.allAddresses();
    super.showAll();
  }

  height(): number { return 380; }

  private y(address: number): number {
    return this.plotHeight() * (1 - (address - this.low) / (this.high - this.low));
  }
  private addressAt(y: number): number {
    return this.low + (1 - y / this.plotHeight()) * (this.high - this.low);
  }
  protected override zoomAddress(factor: number, y: number): boolean {
    const around = this.addressAt(y);
    const share = (around - this.low) / (this.high - this.low);
    const most = this.top() * 1.09;
    const size = Math.min(Math.max((this.high - this.low) / factor, 8), most);
    this.moveTo(around - share * size, size);
    return true;
  }
  protected override panAddress(pixels: number): void {
    const size = this.high - this.low;
    this.moveTo(this.low + pixels / this.plotHeight() * size, size);
  }
  private moveTo(low: number, size: number): void {
    const most = this.top() * 1.09;
    this.low = Math.min(Math.max(low, Math.min(this.low, 0)), Math.max(most - size, 0));
    this.high = this.low + size;
    this.redraw();
  }

  /** Brings what is selected into view. */
  private follow(): void {
    const { ranges } = this.data;
    const finding = this.data.findings[this.selection.finding];
    let range = this.selection.range;
    if (range < 0 && this.selection.tensor >= 0) range = ranges.root.indexOf(this.selection.tensor);
    const pool = range >= 0 ? ranges.pool[range] : finding?.pool ?? this.pool;
    if (pool !== this.pool) this.setPool(pool);
    if (range >= 0 && !this.time.isAll()) this.time.show(ranges.start[range], ranges.end[range]);
    this.redraw();
  }

  protected draw(): void {
    this.drawAddressAxis();
    this.clipToPlot(() => {
      this.drawTimeGrid();
      if (this.raster !== null) this.drawRaster(this.raster);
      this.drawRanges();
      this.drawReuse();
      this.drawClashes();
    });
    this.drawLimits();
    this.drawTimeAxis();
  }

  private drawAddressAxis(): void {
    const { context, colors } = this;
    let step = 1;
    while (step / (this.high - this.low) * this.plotHeight() < 36) step *= 2;
    context.textAlign = "right";
    context.lineWidth = 1;
    for (let a = Math.ceil(this.low / step) * step; a <= this.high; a += step) {
      const y = Math.round(this.y(a)) + 0.5;
      context.strokeStyle = colors.grid;
      this.line(GUTTER, y, GUTTER + this.plotWidth(), y);
      context.fillStyle = colors.muted;
      if (y > 8 && y < this.plotHeight() + 2) {
        context.fillText(bytesText(a), GUTTER - 8, Math.min(y, this.plotHeight() - 5));
      }
    }
    context.strokeStyle = colors.line;
    this.line(GUTTER - 0.5, 0, GUTTER - 0.5, this.plotHeight());
    context.save();
    context.translate(10, this.plotHeight() / 2);
    context.rotate(-Math.PI / 2);
    context.textAlign = "center";
    context.fillStyle = colors.muted;
    context.fillText("address →", 0, 0);
    context.restore();
  }

  private box(range: number): { x: number; y: number; w: number; h: number } {
    const { ranges } = this.data;
    const x = this.x(ranges.start[range]);
    const y = this.y(ranges.at[range] + ranges.bytes[range]);
    return { x, y, w: this.x(ranges.end[range]) - x, h: this.y(ranges.at[range]) - y };
  }

  /** What is smaller than a pixel each way is summed up, everything else drawn. */
  private drawRanges(): void {
    const { context } = this;
    const { ranges } = this.data;
    const right = GUTTER + this.plotWidth();
    const fields = new Map<number, number>();
    const columns = Math.ceil(this.width);
    const labels: number[] = [];
    for (const k of this.inPool) {
      if (ranges.end[k] < this.time.from || ranges.start[k] > this.time.to) continue;
      if (ranges.at[k] > this.high || ranges.at[k] + ranges.bytes[k] < this.low) continue;
      const { x, y, w, h } = this.box(k);
      if (x > right || ranges.bytes[k] === 0) continue;
      if (w < 1 && h < 1) {
        const field = Math.floor(y) * columns + Math.floor(x);
        fields.set(field, (fields.get(field) ?? 0) + Math.max(w * h, 0.04));
        continue;
      }
      this.paintRange(k, x, y, Math.max(w, 1), Math.max(h, 1));
      if (w > 26 && h > 11) labels.push(k);
    }
    context.fillStyle = this.colors.accent;
    for (const [field, share] of fields) {
      context.globalAlpha = Math.min(0.25 + share, 1);
      context.fillRect(field % columns, Math.floor(field / columns), 1, 1);
    }
    context.globalAlpha = 1;
    for (const k of labels) this.labelRange(k);
  }

  private paintRange(range: number, x: number, y: number, w: number, h: number): void {
    const { context, colors } = this;
    const root = this.data.ranges.root[range];
    const chosen = root >= 0 && root === this.selection.tensor;
    const given = (this.data.ranges.role[range] & 1) !== 0;
    context.fillStyle = root < 0 ? colors.muted : FAMILIES[root % FAMILIES.length];
    context.globalAlpha = root < 0 ? 0.35 : given ? 0.45 : 0.85;
    context.fillRect(x, y, w, h);
    context.globalAlpha = 1;
    if (w > 3 && h > 3) {
      context.strokeStyle = chosen ? colors.text : colors.panel;
      context.lineWidth = chosen ? 2 : 1;
      context.strokeRect(x + 0.5, y + 0.5, w - 1, h - 1);
    } else if (chosen) {
      context.fillStyle = colors.text;
      context.fillRect(x, y, w, h);
    }
  }

  private rangeName(range: number): string {
    const { ranges, tensors, ops } = this.data;
    if (ranges.root[range] < 0) {
      return "workspace" + (ranges.op[range] < 0 ? "" : " of " + shown(ops.name[ranges.op[range]]));
    }
    return instanceText(this.data, tensors.name[ranges.root[range]], ranges.iteration[range]);
  }

  private labelRange(range: number): void {
    const { context } = this;
    const { x, y, w, h } = this.box(range);
    const root = this.data.ranges.root[range];
    const left = Math.max(x, GUTTER) + 5;
    const room = Math.min(x + w, GUTTER + this.plotWidth()) - left - 4;
    const name = fitted(this.rangeName(range), room, this.measure);
    if (name === "" || name === "…") return;
    const given = (this.data.ranges.role[range] & 1) !== 0;
    const onDark = root >= 0 && !given && LIGHT_TEXT[root % FAMILIES.length];
    context.fillStyle = root < 0 || given ? this.colors.text : onDark ? "#ffffff" : "#10151a";
    context.textAlign = "left";
    const top = Math.max(y, 0);
    const bottom = Math.min(y + h, this.plotHeight());
    if (bottom - top < 11) return;
    const middle = (top + bottom) / 2;
    const size = bytesText(this.data.ranges.bytes[range]);
    if (bottom - top > 30 && this.measure(size) < room) {
      context.fillText(name, left, middle - 7);
      context.globalAlpha = 0.8;
      context.fillText(size, left, middle + 7);
      context.globalAlpha = 1;
    } else {
      context.fillText(name, left, middle);
    }
  }

  /** From who had the bytes before to who has them next; all if they are few. */
  private drawReuse(): void {
    const { ranges, reuse } = this.data;
    const chosen = this.selection.tensor;
    const shownPairs: number[] = [];
    if (this.arrows) {
      for (let k = 0; k < reuse.from.length && shownPairs.length <= 300; k++) {
        if (ranges.pool[reuse.from[k]] !== this.pool) continue;
        if (this.isSeen(reuse.from[k]) && this.isSeen(reuse.to[k])) shownPairs.push(k);
      }
      if (shownPairs.length > 300) shownPairs.length = 0;
    }
    for (const k of shownPairs) this.drawArrow(reuse.from[k], reuse.to[k], false);
    if (chosen < 0) return;
    for (const range of this.inPool) {
      if (ranges.root[range] !== chosen) continue;
      for (const k of this.reuse.get(range) ?? []) this.drawArrow(reuse.from[k], reuse.to[k], true);
    }
  }
  private isSeen(range: number): boolean {
    const { ranges } = this.data;
    return ranges.end[range] >= this.time.from && ranges.start[range] <= this.time.to &&
           this.box(range).h > 5;
  }

  private drawArrow(earlier: number, later: number, strong: boolean): void {
    const { context, colors } = this;
    const { ranges } = this.data;
    const low = Math.max(ranges.at[earlier], ranges.at[later]);
    const high = Math.min(ranges.at[earlier] + ranges.bytes[earlier],
                          ranges.at[later] + ranges.bytes[later]);
    const y = this.y(low + (high - low) * 0.18);
    let from = this.x(ranges.end[earlier]);
    let to = this.x(ranges.start[later]);
    if (to - from < 16) {
      const middle = (from + to) / 2;
      from = middle - 8;
      to = middle + 8;
    }
    context.strokeStyle = context.fillStyle = strong ? colors.text : colors.muted;
    context.lineWidth = strong ? 2 : 1.25;
    this.line(from, y, to - 4, y);
    context.beginPath();
    context.moveTo(to, y);
    context.lineTo(to - 6, y - 3.5);
    context.lineTo(to - 6, y + 3.5);
    context.fill();
    context.beginPath();
    context.arc(from, y, 2, 0, 2 * Math.PI);
    context.fill();
  }

  private drawClashes(): void {
    this.data.findings.forEach((finding, k) => this.drawClash(finding, k));
  }
  private drawClash(finding: Finding, number: number): void {
    if (finding.pool !== this.pool || finding.bytes === undefined) return;
    const { context, colors } = this;
    const { commands } = this.data;
    const at = finding.at.filter((c) => c >= 0 && commands.start[c] >= 0);
    const starts = at.map((c) => commands.start[c]);
    const ends = at.map((c) => commands.end[c] < 0 ? this.data.drawn.end : commands.end[c]);
    const from = at.length === 0 ? 0 : Math.min(...starts);
    const to = at.length === 0 ? this.data.drawn.end : Math.max(...ends);
    const x = this.x(from);
    const y = this.y(finding.bytes[1]);
    const w = Math.max(this.x(to) - x, 4);
    const h = Math.max(this.y(finding.bytes[0]) - y, 4);
    if (x > GUTTER + this.plotWidth() || x + w < GUTTER || y > this.plotHeight() || y + h < 0) return;
    const chosen = number === this.selection.finding;
    context.save();
    context.beginPath();
    context.rect(x, y, w, h);
    context.clip();
    context.strokeStyle = colors.bad;
    context.globalAlpha = chosen ? 0.9 : 0.45;
    context.lineWidth = 1.5;
    const left = Math.max(x, GUTTER - h);
    const right = Math.min(x + w, GUTTER + this.plotWidth());
    for (let d = left - (left % 7) - h; d < right; d += 7) this.line(d, y + h, d + h, y);
    context.restore();
    context.strokeStyle = colors.bad;
    context.lineWidth = chosen ? 3 : 2;
    context.strokeRect(x, y, w, h);
    if (chosen || this.data.findings.length <= 8) this.labelClash(finding.rule, x, y, h);
  }
  private labelClash(text: string, x: number, y: number, h: number): void {
    const { context, colors } = this;
    context.font = "bold " + FONT;
    const width = this.measure(text) + 10;
    const top = y >= 18 ? y - 17 : Math.min(y + h, this.plotHeight() - 17);
    const left = Math.max(x - 1, GUTTER);
    context.fillStyle = colors.bad;
    context.fillRect(left, top, width, 16);
    context.fillStyle = colors.panel;
    context.textAlign = "left";
    context.fillText(text, left + 5, top + 8.5);
    context.font = FONT;
  }

  /** Capacity, peak, claim and live set, with labels that do not lie on each other. */
  private drawLimits(): void {
    const { context, colors } = this;
    const pool = this.data.pools[this.pool];
    const lines: { at: number; text: string; dash: number[]; color: string }[] = [];
    if (pool.capacity !== undefined) {
      lines.push({ at: pool.capacity, text: "capacity " + bytesText(pool.capacity), dash: [], color: colors.text });
    }
    if (pool.claimed !== undefined && pool.claimed !== pool.peak) {
      lines.push({ at: pool.claimed, text: "claimed peak " + bytesText(pool.claimed), dash: [8, 3, 2, 3], color: colors.text });
    }
    lines.push({ at: pool.peak, text: "peak " + bytesText(pool.peak), dash: [6, 4], color: colors.accent });
    if (pool.live_set > 0 && pool.live_set !== pool.peak) {
      lines.push({ at: pool.live_set, text: "largest live set " + bytesText(pool.live_set), dash: [2, 3], color: colors.accent });
    }
    const used: number[] = [];
    for (const { at, text, dash, color } of lines) {
      const y = Math.round(this.y(at)) + 0.5;
      if (y < 0 || y > this.plotHeight()) continue;
      context.strokeStyle = color;
      context.lineWidth = 1.5;
      context.setLineDash(dash);
      this.line(GUTTER, y, GUTTER + this.plotWidth(), y);
      context.setLineDash([]);
      let label = y - 8 > 7 ? y - 8 : y + 9;
      if (used.some((other) => Math.abs(other - label) < 15)) label = y + 9;
      if (used.some((other) => Math.abs(other - label) < 15)) continue;
      used.push(label);
      const right = GUTTER + this.plotWidth() - 6;
      const width = this.measure(text) + 8;
      context.fillStyle = colors.panel;
      context.globalAlpha = 0.85;
      context.fillRect(right - width + 4, label - 7, width, 14);
      context.globalAlpha = 1;
      context.fillStyle = color;
      context.textAlign = "right";
      context.fillText(text, right, label);
    }
  }

  /** What is not in the file one by one, as a picture. */
  private makeRaster(): HTMLCanvasElement | null {
    const raster = this.data.pools[this.pool].raster;
    if (raster === undefined) return null;
    const picture = document.createElement("canvas");
    picture.width = RASTER_WIDTH;
    picture.height = RASTER_HEIGHT;
    const context = picture.getContext("2d");
    if (context === null) return null;
    const image = context.createImageData(RASTER_WIDTH, RASTER_HEIGHT);
    shares(raster).forEach((share, k) => {
      const row = RASTER_HEIGHT - 1 - Math.floor(k / RASTER_WIDTH);
      const at = 4 * (row * RASTER_WIDTH + k % RASTER_WIDTH);
      image.data.set([110, 122, 134, Math.round(150 * share)], at);
    });
    context.putImageData(image, 0, 0);
    return picture;
  }
  private drawRaster(picture: HTMLCanvasElement): void {
    const top = this.y(Math.max(this.data.pools[this.pool].peak, 1));
    this.context.drawImage(picture, this.x(0), top, this.x(this.data.drawn.end) - this.x(0),
                           this.y(0) - top);
  }

  private rangeAt(x: number, y: number): number {
    const { ranges } = this.data;
    const time = this.timeAt(x);
    const address = this.addressAt(y);
    const slack = (this.time.to - this.time.from) / this.plotWidth();
    const slackBytes = (this.high - this.low) / this.plotHeight();
    let found = -1;
    for (const k of this.inPool) {
      if (time < ranges.start[k] - slack || time > ranges.end[k] + slack) continue;
      if (address < ranges.at[k] - slackBytes || address > ranges.at[k] + ranges.bytes[k] + slackBytes) continue;
      // Of several the smallest, so that all can be reached.
      if (found < 0 || ranges.bytes[k] <= ranges.bytes[found]) found = k;
    }
    return found;
  }

  protected about(x: number, y: number): string[] {
    if (x < GUTTER || y > this.plotHeight()) return [];
    const range = this.rangeAt(x, y);
    return range < 0 ? [] : this.describe(range);
  }
  private describe(range: number): string[] {
    const { ranges, tensors, storages } = this.data;
    const root = ranges.root[range];
    const bytes: [number, number] = [ranges.at[range], ranges.at[range] + ranges.bytes[range]];
    const role = ranges.role[range];
    const lines = [this.rangeName(range), `${bytesText(ranges.bytes[range])} at ${rangeText(bytes)}`];
    if (root >= 0) {
      const type = tensors.types[tensors.type[root]];
      if (type !== "") lines.push(type);
      if (tensors.storage[root] >= 0) lines.push("storage " + shown(storages.name[tensors.storage[root]]));
    }
    lines.push("live " + spanText(this.data, ranges.start[range], ranges.end[range]));
    if ((role & 1) !== 0) lines.push("given before the start");
    if ((role & 2) !== 0) lines.push("kept to the end");
    return lines;
  }

  protected pick(x: number, y: number): void {
    const range = x < GUTTER ? -1 : this.rangeAt(x, y);
    this.selection.selectRange(range, range < 0 ? -1 : this.data.ranges.root[range]);
  }

  protected override key(key: string): boolean {
    if (key !== "n" && key !== "p") return super.key(key);
    if (this.inPool.length === 0) return true;
    const { ranges } = this.data;
    let at = this.inPool.indexOf(this.selection.range);
    const by = key === "n" ? 1 : -1;
    for (let tries = 0; tries < this.inPool.length; tries++) {
      at = (at + by + this.inPool.length) % this.inPool.length;
      if (ranges.root[this.inPool[at]] >= 0) break;
    }
    this.selection.selectRange(this.inPool[at], ranges.root[this.inPool[at]]);
    return true;
  }
}

/** Bytes alive over time, under the map. */
class LiveCurve extends Plot {
  constructor(data: PlanData, time: TimeWindow, tip: Tip, private readonly arena: Arena) {
    super(data, time, tip, "Bytes alive over time");
  }
  height(): number { return 84; }
  protected override plotHeight(): number { return this.height() - 6; }

  protected draw(): void {
    const { context, colors } = this;
    const pool = this.data.pools[this.arena.pool];
    const most = Math.max(pool.live_set, 1) * 1.12;
    const y = (bytes: number) => (this.plotHeight() - 1) * (1 - bytes / most);
    this.clipToPlot(() => {
      this.drawTimeGrid();
      context.beginPath();
      context.moveTo(this.x(0), y(0));
      pool.curve_time.forEach((time, k) => {
        const next = pool.curve_time[k + 1] ?? Math.max(this.data.drawn.end, time);
        context.lineTo(this.x(time), y(pool.curve_bytes[k]));
        context.lineTo(this.x(next), y(pool.curve_bytes[k]));
      });
      context.lineTo(this.x(this.data.drawn.end), y(0));
      context.closePath();
      context.fillStyle = colors.accent;
      context.globalAlpha = 0.22;
      context.fill();
      context.globalAlpha = 1;
      context.strokeStyle = colors.accent;
      context.lineWidth = 1.5;
      context.stroke();
    });
    context.strokeStyle = colors.line;
    context.lineWidth = 1;
    this.line(GUTTER - 0.5, 0, GUTTER - 0.5, this.plotHeight());
    this.line(GUTTER, this.plotHeight() - 0.5, GUTTER + this.plotWidth(), this.plotHeight() - 0.5);
    context.textAlign = "right";
    context.fillStyle = colors.muted;
    context.fillText(bytesText(pool.live_set), GUTTER - 8, Math.max(y(pool.live_set), 7));
    context.fillText("alive", GUTTER - 8, this.plotHeight() / 2 + 6);
    context.fillText("0", GUTTER - 8, this.plotHeight() - 5);
  }

  private aliveAt(time: number): number {
    const pool = this.data.pools[this.arena.pool];
    let low = 0;
    let high = pool.curve_time.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (pool.curve_time[middle] <= time) low = middle;
      else high = middle - 1;
    }
    return pool.curve_bytes[low] ?? 0;
  }
  protected about(x: number, _y: number): string[] {
    if (x < GUTTER) return [];
    const time = this.timeAt(x);
    if (time < 0 || time > this.data.drawn.end) return [];
    return [bytesText(this.aliveAt(time)) + " alive", `at ${this.data.drawn.time} ${countText(Math.floor(time))}`];
  }
  protected pick(): void {}
}
