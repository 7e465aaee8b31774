// Plays the run of the selected finding: which commands are in flight, what the bytes hold.

const STEP = 26;         // Width of a step in the picture, at least.
const STEP_ROW = 26;

class Stepper {
  readonly element = el("section", "card stepper");
  step = 0;
  private finding: Finding | null = null;
  private timer = 0;
  private readonly picture = el("div", "step-picture");
  private readonly list = el("ol", "steps");
  private readonly bytes = el("div", "step-bytes");
  private readonly state = el("p", "step-state");
  private readonly slider = el("input", "");
  private readonly play = button("▶ Play", "Play the run", () => this.toggle());

  constructor(private readonly data: PlanData, private readonly selection: Chosen) {
    this.slider.type = "range";
    this.slider.min = "0";
    this.slider.setAttribute("aria-label", "Step of the run");
    this.slider.addEventListener("input", () => this.go(Number(this.slider.value)));
    this.state.setAttribute("aria-live", "polite");
    const controls = el("div", "controls",
      button("|◀", "First step", () => this.go(0)),
      button("◀", "Step back", () => this.go(this.step - 1)),
      this.play,
      button("▶", "Step forward", () => this.go(this.step + 1)),
      button("▶|", "Last step", () => this.go(this.length())),
      this.slider);
    this.element.append(el("h2", "", "The run"), controls, this.state, this.picture, this.bytes, this.list);
    this.element.addEventListener("keydown", (event) => {
      if (event.target === this.slider || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === "ArrowRight") this.go(this.step + 1);
      else if (event.key === "ArrowLeft") this.go(this.step - 1);
      else return;
      event.preventDefault();
    });
    selection.onChange(() => this.follow());
    this.follow();
  }

  private length(): number {
    return this.finding?.run.length ?? 0;
  }

  private follow(): void {
    const finding = this.data.findings[this.selection.finding] ?? null;
    if (finding === this.finding && finding !== null) return;
    this.stop();
    this.finding = finding;
    this.element.hidden = finding === null || finding.run.length === 0;
    if (this.element.hidden || finding === null) return;
    this.slider.max = String(finding.run.length);
    this.list.start = finding.omitted + 1;
    this.list.replaceChildren(...finding.run.map(([name, iteration, completes, lane], k) => {
      const what = button("", `Go to step ${finding.omitted + k + 1}`, () => this.go(k + 1));
      what.append(completes !== 0 ? "■ " : "▷ ", el("span", "verb", completes !== 0 ? "complete " : "start "),
        nameOf(instanceText(this.data, name, iteration)),
        el("span", "note", lane < 0 ? "" : " " + shown(this.data.lanes[lane].name)));
      return el("li", "", what);
    }));
    this.go(finding.run.length);
    requestAnimationFrame(() => this.scroll());  // Once the list has a height: it may not be on the page yet.
  }

  go(step: number): void {
    const finding = this.finding;
    if (finding === null) return;
    this.step = Math.min(Math.max(step, 0), finding.run.length);
    this.slider.value = String(this.step);
    [...this.list.children].forEach((item, k) => {
      item.classList.toggle("past", k < this.step);
      item.classList.toggle("now", k + 1 === this.step);
    });
    this.scroll();
    this.showState(finding);
    this.picture.replaceChildren(this.draw(finding));
    this.bytes.replaceChildren(this.versions(finding));
  }

  /** Brings the current step into the middle of the list. */
  private scroll(): void {
    const now = this.list.children[this.step - 1] as HTMLElement | undefined;
    if (now !== undefined) this.list.scrollTop = now.offsetTop - this.list.clientHeight / 2;
  }

  private toggle(): void {
    if (this.timer !== 0) {
      this.stop();
      return;
    }
    if (this.step === this.length()) this.go(0);
    this.play.replaceChildren("❚❚ Pause");
    this.timer = window.setInterval(() => {
      this.go(this.step + 1);
      if (this.step === this.length()) this.stop();
    }, 900);
  }
  private stop(): void {
    window.clearInterval(this.timer);
    this.timer = 0;
    this.play.replaceChildren("▶ Play");
  }

  private showState(finding: Finding): void {
    const total = finding.run.length + finding.omitted;
    const at = this.step + (this.step === 0 ? 0 : finding.omitted);
    const last = this.step === finding.run.length;
    this.state.classList.toggle("reached", last);
    const where = `Step ${countText(at)} of ${countText(total)}: `;
    if (last) {
      this.state.replaceChildren(el("strong", "", where + finding.rule + ", " + finding.title + "."));
    } else if (this.step === 0) {
      this.state.replaceChildren(where + "nothing has happened yet." +
        (finding.omitted > 0 ? ` The first ${countText(finding.omitted)} steps are left out.` : ""));
    } else {
      const [name, iteration, completes] = finding.run[this.step - 1];
      this.state.replaceChildren(where, nameOf(instanceText(this.data, name, iteration)),
                                 completes !== 0 ? " completes." : " starts.");
    }
  }

  /** A lane for each queue, a column for each step; what is still in flight has no right end. */
  private draw(finding: Finding): SVGElement {
    const total = finding.run.length;
    const left = 88;
    const room = Math.max(this.element.clientWidth, 420) - 42 - left;
    const most = Math.floor(room / STEP) - 2;
    const from = total <= most ? 0 : Math.min(Math.max(this.step - Math.floor(most / 2), 0), total - most);
    const to = Math.min(from + most, total);
    const lanes = [...new Set(finding.run.map((step) => step[3]))].sort((a, b) => a - b);
    const unit = Math.max(STEP, Math.min(Math.floor(room / (to - from + 1)), 92));
    const width = left + (to - from + 1) * unit + 8;
    const rows = this.bars(finding, lanes);
    const height = rows.count * STEP_ROW + 22;
    const out = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img",
                             "aria-label": "Commands in flight, a column for each step" });
    const x = (step: number) => left + (Math.min(Math.max(step, from), to + 1) - from) * unit;
    lanes.forEach((lane, k) => {
      const label = svg("text", { x: left - 8, y: rows.top[k] * STEP_ROW + 17, class: "lane-name" });
      label.textContent = fitted(lane < 0 ? "" : shown(this.data.lanes[lane].name), left - 12, widthIn("12px " + SANS));
      out.append(label, svg("rect", { x: left, y: rows.top[k] * STEP_ROW + 2, width: width - left - 8,
                                      height: rows.height[k] * STEP_ROW - 3, class: "lane" }));
    });
    for (const bar of rows.bars) {
      if (bar.start > this.step || bar.start > to || Math.min(bar.end, this.step) < from) continue;
      const until = bar.end <= this.step ? bar.end : this.step + 0.6;
      const x0 = x(bar.start - 0.5);
      const y = bar.row * STEP_ROW + 4;
      const w = Math.max(x(until) - x0, 6);
      const clash = this.step === total && bar.end > this.step && finding.ops.includes(bar.name);
      out.append(svg("rect", { x: x0, y, width: w, height: STEP_ROW - 7, rx: 2,
                               class: clash ? "step-bar clash" : bar.end <= this.step ? "step-bar done" : "step-bar" }));
      const text = fitted(instanceText(this.data, bar.name, bar.iteration), w - 8, widthIn("11px " + SANS));
      if (text.length > 1) {
        const label = svg("text", { x: x0 + 4, y: y + 14, class: clash ? "bar-text clash" : "bar-text" });
        label.textContent = text;
        out.append(label);
      }
    }
    const now = x(this.step + 0.6);
    out.append(svg("line", { x1: now, x2: now, y1: 0, y2: rows.count * STEP_ROW, class: "now-line" }));
    for (let k = from; k <= to; k++) {
      if (k !== 0 && k !== this.step && (to - from > 20 ? k % 5 !== 0 : false)) continue;
      const tick = svg("text", { x: x(k), y: rows.count * STEP_ROW + 15, class: k === this.step ? "tick now" : "tick" });
      tick.textContent = String(k + (k === 0 ? 0 : finding.omitted));
      out.append(tick);
    }
    return out;
  }

  /** Where each command of the run starts and completes, and its row. */
  private bars(finding: Finding, lanes: number[]) {
    const bars: { name: string; iteration: number; lane: number; start: number; end: number; row: number }[] = [];
    finding.run.forEach(([name, iteration, completes, lane], k) => {
      const open = bars.find((bar) => bar.name === name && bar.iteration === iteration && bar.end === Infinity);
      if (completes === 0) bars.push({ name, iteration, lane, start: k + 1, end: Infinity, row: 0 });
      else if (open !== undefined) open.end = k + 1;
    });
    const top: number[] = [];
    const height: number[] = [];
    let count = 0;
    for (const lane of lanes) {
      const ends: number[] = [];
      for (const bar of bars) {
        if (bar.lane !== lane) continue;
        let row = ends.findIndex((end) => end < bar.start);
        if (row < 0) row = ends.length;
        ends[row] = bar.end;
        bar.row = count + row;
      }
      top.push(count);
      height.push(Math.max(ends.length, 1));
      count += Math.max(ends.length, 1);
    }
    return { bars, top, height, count };
  }

  private versions(finding: Finding): HTMLElement {
    if (finding.problem !== undefined) return el("p", "note", shown(finding.problem));
    const rows = finding.rows ?? [];
    if (rows.length === 0) return el("p", "note", "");
    const body = el("tbody", "");
    rows.forEach((row, k) => body.append(this.versionRow(finding, row, k)));
    return el("table", "versions",
      el("thead", "", el("tr", "", el("th", "", "Bytes"), el("th", "", "hold"), el("th", "", "read"))), body);
  }

  private versionRow(finding: Finding, row: NonNullable<Finding["rows"]>[number], number: number): HTMLElement {
    let held = row.versions[0];
    for (const version of row.versions) if (version[0] <= this.step) held = version;
    const torn = held[1] === 3;
    const wrong = torn && this.step === finding.run.length;  // Until then a write harms nobody.
    const changed = held[0] === this.step && this.step > 0;
    const reads = el("td", "");
    for (const read of finding.reads ?? []) {
      if (read.row !== number || read.step > this.step) continue;
      const [name, iteration] = finding.run[read.step - 1];
      const going = !finding.run.slice(read.step, this.step).some((step) =>
        step[0] === name && step[1] === iteration && step[2] !== 0);
      reads.append(el("div", read.meets ? "" : "bad-text",
        nameOf(instanceText(this.data, name, iteration)), going ? " is reading " : " has read ", nameOf(read.tensor),
        read.meets ? (torn && going ? ", and they change under it" : "") : ": ",
        read.meets ? "" : message(read.expects)));
    }
    return el("tr", "", el("td", "mono", rangeText(row.bytes)),
      el("td", wrong ? "bad-text" : changed ? "changed" : "", message(held[2])), reads);
  }
}
