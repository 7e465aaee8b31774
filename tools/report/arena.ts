// The memory map: addresses of one pool over the time of the drawn run.

class Arena extends Plot {
  pool = 0;
  arrows = true;
  private low = 0;          // Addresses shown.
  private high = 1;
  private inPool: number[] = [];
  private raster: HTMLCanvasElement | null = null;
  private readonly reuse: Map<number, number[]> = new Map();  // By range: indices into data.reuse.

  constructor(data: PlanData, time: TimeWindow, tip: Tip, private readonly selection: Chosen,
              private readonly tall = 380, private readonly atLeast = 0) {
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
    this.setPool(this.busiest());
  }

  /** The pool with the most ranges; the first of equals. */
  private busiest(): number {
    const counts = this.data.pools.map(() => 0);
    for (const pool of this.data.ranges.pool) counts[pool]++;
    return Math.max(counts.indexOf(Math.max(...counts, 0)), 0);
  }

  setPool(pool: number): void {
    this.pool = pool;
    this.inPool = [];
    this.data.ranges.pool.forEach((of, k) => { if (of === pool) this.inPool.push(k); });
    this.indexViews();
    this.raster = this.makeRaster();
    this.allAddresses();
    this.redraw();
  }

  /** The highest address that matters. */
  private top(): number {
    const pool = this.data.pools[this.pool];
    const peak = Math.max(pool.peak, this.atLeast, 1);
    const capacity = this.atLeast > 0 ? undefined : pool.capacity;
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

  height(): number { return this.tall; }

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
      const views = this.drawViews();
      this.drawClashes();
      this.frameChosen();
      this.drawReuse();
      this.taken = [];
      for (const k of this.labelled) this.labelRange(k);
      for (const k of views) this.labelView(k);
      this.labelClashes();
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
        context.fillText(step >= 1024 && step > a / 512 || a < 1024 ? bytesText(a) : countText(a) + "\u00a0B", GUTTER - 8, Math.min(y, this.plotHeight() - 5));
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
    return this.place(ranges.start[range], ranges.end[range], ranges.at[range], ranges.bytes[range]);
  }
  private place(start: number, end: number, at: number, bytes: number): { x: number; y: number; w: number; h: number } {
    const x = this.x(start);
    const y = this.y(at + bytes);
    return { x, y, w: this.x(end) - x, h: this.y(at) - y };
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
    this.labelled = labels;
  }

  private labelled: number[] = [];
  private views = new Map<number, number[]>();   // By range of this pool.

  private indexViews(): void {
    this.views = new Map();
    this.data.views.range.forEach((range, k) => {
      if (this.data.ranges.pool[range] !== this.pool) return;
      const list = this.views.get(range);
      if (list === undefined) this.views.set(range, [k]);
      else list.push(k);
    });
  }

  /** The colour of a view: its family's, but a family of many has many colours. */
  private viewColor(k: number): number {
    const range = this.data.views.range[k];
    const many = (this.views.get(range)?.length ?? 0) > 8;
    return (many ? this.data.views.tensor[k] : this.data.ranges.root[range]) % FAMILIES.length;
  }

  /** Parts of boxes that ops touch through views, where there is room; the box steps back behind them. */
  private drawViews(): number[] {
    const { context, colors } = this;
    const { views } = this.data;
    const seen: number[] = [];
    for (const [range, list] of this.views) {
      const whole = this.box(range);
      if (whole.h < 6 || whole.x > this.width || whole.x + whole.w < GUTTER || whole.y > this.plotHeight() || whole.y + whole.h < 0) continue;
      context.globalAlpha = 0.6;
      context.fillStyle = colors.panel;
      context.fillRect(whole.x + 1, whole.y + 1, whole.w - 2, whole.h - 2);
      seen.push(...list);
    }
    const labels: number[] = [];
    for (const k of seen) {
      const box = this.place(views.start[k], views.end[k], views.at[k], views.bytes[k]);
      if (box.w < 2 || box.h < 2 || box.y > this.plotHeight() || box.y + box.h < 0) continue;
      context.globalAlpha = 0.8;
      context.fillStyle = FAMILIES[this.viewColor(k)];
      context.fillRect(box.x, box.y, box.w, box.h);
      context.globalAlpha = 1;
      context.strokeStyle = colors.panel;
      context.lineWidth = 1;
      context.strokeRect(box.x + 0.5, box.y + 0.5, box.w - 1, box.h - 1);
      if (box.w > 26 && box.h > 12) labels.push(k);
    }
    context.globalAlpha = 1;
    return labels;
  }
  private labelView(k: number): void {
    const { views, tensors } = this.data;
    const box = this.place(views.start[k], views.end[k], views.at[k], views.bytes[k]);
    const left = Math.max(box.x, GUTTER) + 5;
    const room = Math.min(box.x + box.w, GUTTER + this.plotWidth()) - left - 3;
    const name = fitted(shown(tensors.name[views.tensor[k]]), room, this.measure);
    if (name.length < 3 && name.endsWith("…")) return;
    const middle = (Math.max(box.y, 0) + Math.min(box.y + box.h, this.plotHeight())) / 2;
    this.halo(name, left, middle, FAMILIES[this.viewColor(k)], LIGHT_TEXT[this.viewColor(k)] ? "#ffffff" : "#10151a");
  }
  private taken: [left: number, right: number, middle: number][] = [];
  /** Text that can be read on hatching, too; none where another text is. */
  private halo(text: string, x: number, y: number, around: string, color: string): void {
    const { context } = this;
    const right = x + this.measure(text);
    if (this.taken.length > 1000 || this.taken.some(([l, r, m]) => x < r + 3 && right > l - 3 && Math.abs(m - y) < 12)) return;
    this.taken.push([x, right, y]);
    context.textAlign = "left";
    context.lineJoin = "round";
    context.lineWidth = 3;
    context.strokeStyle = around;
    context.strokeText(text, x, y);
    context.fillStyle = color;
    context.fillText(text, x, y);
  }

  private paintRange(range: number, x: number, y: number, w: number, h: number): void {
    const { context, colors } = this;
    const root = this.data.ranges.root[range];
    const given = (this.data.ranges.role[range] & 1) !== 0;
    context.fillStyle = root < 0 ? colors.muted : FAMILIES[root % FAMILIES.length];
    context.globalAlpha = root < 0 ? 0.35 : given ? 0.45 : 0.85;
    context.fillRect(x, y, w, h);
    context.globalAlpha = 1;
    if (w > 3 && h > 3) {
      context.strokeStyle = colors.panel;
      context.lineWidth = 1;
      context.strokeRect(x + 0.5, y + 0.5, w - 1, h - 1);
    }
  }

  /** Frames the tensors of the selected finding and the selected one, over whatever else lies there. */
  private frameChosen(): void {
    const { context, colors } = this;
    const { ranges } = this.data;
    const finding = this.data.findings[this.selection.finding];
    const clashing = new Set((finding?.of ?? []).filter((t) => t >= 0).map((t) => rootOf(this.data, t)));
    for (const k of this.inPool) {
      const chosen = ranges.root[k] >= 0 && ranges.root[k] === this.selection.tensor;
      if (!chosen && !clashing.has(ranges.root[k])) continue;
      const { x, y, w, h } = this.box(k);
      context.strokeStyle = chosen ? colors.text : colors.bad;
      context.lineWidth = k === this.selection.range ? 3 : 2;
      context.setLineDash(chosen ? [] : [5, 3]);
      context.strokeRect(x + 1, y + 1, Math.max(w - 2, 1), Math.max(h - 2, 1));
    }
    context.setLineDash([]);
  }

  private rangeName(range: number): string {
    const { ranges, tensors, ops } = this.data;
    if (ranges.root[range] < 0) {
      return "workspace" + (ranges.op[range] < 0 ? "" : " of " + shown(ops.name[ranges.op[range]]));
    }
    return instanceText(this.data, tensors.name[ranges.root[range]], ranges.iteration[range]);
  }

  private labelRange(range: number): void {
    const { x, y, w, h } = this.box(range);
    const root = this.data.ranges.root[range];
    const left = Math.max(x, GUTTER) + 5;
    const room = Math.min(x + w, GUTTER + this.plotWidth()) - left - 4;
    const name = fitted(this.rangeName(range), room, this.measure);
    const top = Math.max(y, 0);
    const bottom = Math.min(y + h, this.plotHeight());
    if (name === "" || name === "…" || bottom - top < 11) return;
    const given = (this.data.ranges.role[range] & 1) !== 0;
    const inside = this.views.has(range);
    const pale = root < 0 || given || inside;
    const color = pale ? this.colors.text : LIGHT_TEXT[root % FAMILIES.length] ? "#ffffff" : "#10151a";
    const around = pale ? this.colors.panel : FAMILIES[root % FAMILIES.length];
    const middle = inside ? Math.min(top + 10, bottom - 6) : (top + bottom) / 2;
    const size = bytesText(this.data.ranges.bytes[range]);
    if (!inside && bottom - top > 30 && this.measure(size) < room) {
      this.halo(name, left, middle - 7, around, color);
      this.halo(size, left, middle + 7, around, color);
    } else {
      this.halo(name, left, middle, around, color);
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
    if (ranges.start[later] < ranges.end[earlier]) return;  // Both at once: in place, or a clash.
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
  /** From the first start to the last end of the commands that clash. */
  private clashTime(finding: Finding): [number, number] {
    const { commands, drawn } = this.data;
    const at = finding.at.filter((c) => c >= 0 && commands.start[c] >= 0);
    if (at.length === 0) return [0, drawn.end];
    return [Math.min(...at.map((c) => commands.start[c])),
            Math.max(...at.map((c) => commands.end[c] < 0 ? drawn.end : commands.end[c]))];
  }
  /** With room around it, in time and addresses. */
  zoomTo(finding: Finding): void {
    if (finding.pool === undefined || finding.bytes === undefined) return;
    if (finding.pool !== this.pool) this.setPool(finding.pool);
    const [from, to] = this.clashTime(finding);
    const roots = new Set(finding.of.filter((t) => t >= 0).map((t) => rootOf(this.data, t)));
    let [low, high] = finding.bytes;
    for (const k of this.inPool) {
      if (!roots.has(this.data.ranges.root[k])) continue;
      low = Math.min(low, this.data.ranges.at[k]);
      high = Math.max(high, this.data.ranges.at[k] + this.data.ranges.bytes[k]);
    }
    const size = Math.min(2 * (high - low), this.top() * 1.09);
    this.moveTo((low + high - size) / 2, size);
    const width = Math.max(4 * (to - from), 8);
    this.time.set((from + to - width) / 2, (from + to + width) / 2);
  }
  private drawClash(finding: Finding, number: number): void {
    if (finding.pool !== this.pool || finding.bytes === undefined) return;
    const { context, colors } = this;
    const [from, to] = this.clashTime(finding);
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
    context.globalAlpha = chosen ? 0.75 : 0.3;
    context.lineWidth = 1.5;
    const left = Math.max(x, GUTTER - h);
    const right = Math.min(x + w, GUTTER + this.plotWidth());
    for (let d = left - (left % 7) - h; d < right; d += 7) this.line(d, y + h, d + h, y);
    context.restore();
    context.strokeStyle = colors.bad;
    context.lineWidth = chosen ? 3 : 2;
    context.strokeRect(x, y, w, h);
  }
  /** The selected one first, in its place; the others beside what is there. */
  private labelClashes(): void {
    const chosen = this.selection.finding;
    const order = this.data.findings.map((_, k) => k).sort((a, b) => Number(b === chosen) - Number(a === chosen) || a - b);
    this.chips = [];
    order.forEach((k) => {
      const finding = this.data.findings[k];
      if (finding.pool !== this.pool || finding.bytes === undefined) return;
      if (k !== chosen && order.length > 8) return;
      const x = this.x(this.clashTime(finding)[0]);
      const y = this.y(finding.bytes[1]);
      const h = Math.max(this.y(finding.bytes[0]) - y, 4);
      if (x <= GUTTER + this.plotWidth() && y <= this.plotHeight() && y + h >= 0) this.labelClash(finding.rule, x, y, h);
    });
  }
  private chips: [left: number, right: number, top: number][] = [];
  private labelClash(text: string, x: number, y: number, h: number): void {
    const { context, colors } = this;
    context.font = "bold " + FONT;
    const width = this.measure(text) + 10;
    const top = y >= 18 ? y - 17 : Math.min(y + h, this.plotHeight() - 17);
    let left = Math.max(x - 1, GUTTER);
    const hidden = () => this.chips.find(([l, r, t]) => left < r && left + width > l && Math.abs(t - top) < 16);
    for (let other = hidden(); other !== undefined; other = hidden()) left = other[1] + 2;
    this.chips.push([left, left + width, top]);
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
    if (this.atLeast > 0 && this.data.verdict === "unsafe") return;  // Beside another, it would be a baseline.
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
    return range < 0 ? [] : this.describe(range, x, y);
  }
  /** The views of a box that are touched at a point. */
  private viewsAt(range: number, x: number, y: number): string[] {
    const { views, tensors } = this.data;
    const time = this.timeAt(x);
    const address = this.addressAt(y);
    const names: string[] = [];
    for (const k of this.views.get(range) ?? []) {
      if (time < views.start[k] || time >= views.end[k]) continue;
      if (address < views.at[k] || address >= views.at[k] + views.bytes[k]) continue;
      names.push(shown(tensors.name[views.tensor[k]]));
    }
    if (names.length === 0) return [];
    return ["through " + (names.length > 4 ? [...names.slice(0, 4), `${names.length - 4} more`] : names).join(", ")];
  }
  private describe(range: number, x: number, y: number): string[] {
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
    lines.push(...this.viewsAt(range, x, y));
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
    context.fillText(bytesText(pool.live_set), GUTTER - 8, Math.max(y(pool.live_set), 9));
    context.fillText("alive", GUTTER - 8, this.plotHeight() / 2 + 6);
    if (pool.live_set > 0) context.fillText("0", GUTTER - 8, this.plotHeight() - 5);
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
