// What the two canvases share: size, colours, the time axis, keys and the pointer.

const GUTTER = 96;     // Left of the plot: names and addresses.
const RIGHT = 14;
const AXIS = 30;       // Below the plot: the time axis.
const FONT = "11px " + SANS;

interface Colors {
  text: string; muted: string; line: string; grid: string; panel: string; bad: string;
  accent: string; good: string; bar: string; barText: string; dark: boolean;
}

function colors(): Colors {
  const style = getComputedStyle(document.documentElement);
  const value = (name: string) => style.getPropertyValue(name).trim();
  return {
    text: value("--text"), muted: value("--muted"), line: value("--line"), grid: value("--grid"),
    panel: value("--panel"), bad: value("--bad"), accent: value("--accent"), good: value("--good"),
    bar: value("--bar"), barText: value("--bar-text"), dark: value("--dark") === "1",
  };
}

// Okabe and Ito's palette without vermilion, which is for clashes alone, and without black.
const FAMILIES = ["#56B4E9", "#009E73", "#F0E442", "#0072B2", "#CC79A7", "#E69F00"];
const LIGHT_TEXT = [false, true, false, true, false, false];

/** Ticks at 1, 2, 5 times a power of ten, at least `gap` apart. */
function timeStep(perPixel: number, gap: number): number {
  const least = Math.max(perPixel * gap, 1e-9);
  const power = Math.pow(10, Math.floor(Math.log10(least)));
  const step = [1, 2, 5, 10].map((k) => k * power).find((k) => k >= least) ?? 10 * power;
  return Math.max(step, 1);
}

abstract class Plot {
  readonly canvas = el("canvas", "plot");
  protected readonly context: CanvasRenderingContext2D;
  protected width = 800;
  protected colors = colors();
  private queued = false;

  constructor(protected readonly data: PlanData, protected readonly time: TimeWindow,
              private readonly tip: Tip, label: string) {
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", label);
    const context = this.canvas.getContext("2d");
    if (context === null) throw new Error("no canvas");
    this.context = context;
    this.listen();
    time.onChange(() => this.redraw());
  }

  abstract height(): number;
  protected abstract draw(): void;
  /** Lines about what lies at a point of the canvas. */
  protected abstract about(x: number, y: number): string[];
  protected abstract pick(x: number, y: number): void;
  /** Zooms and pans addresses; false: it has none. */
  protected zoomAddress(_factor: number, _y: number): boolean { return false; }
  protected panAddress(_pixels: number): void {}
  protected showAll(): void { this.time.all(); }

  redraw(): void {
    if (this.queued) return;
    this.queued = true;
    requestAnimationFrame(() => {
      this.queued = false;
      this.paint();
    });
  }

  /** Now; for printing too. */
  paint(): void {
    const width = this.canvas.parentElement?.clientWidth ?? 0;
    if (width === 0) return;
    this.width = width;
    this.colors = colors();
    const scale = window.devicePixelRatio || 1;
    const height = this.height();
    this.canvas.width = Math.round(width * scale);
    this.canvas.height = Math.round(height * scale);
    this.canvas.style.height = height + "px";
    this.context.setTransform(scale, 0, 0, scale, 0, 0);
    this.context.clearRect(0, 0, width, height);
    this.context.font = FONT;
    this.context.textBaseline = "middle";
    this.draw();
  }

  protected plotWidth(): number { return Math.max(this.width - GUTTER - RIGHT, 50); }
  protected plotHeight(): number { return this.height() - AXIS; }
  protected x(time: number): number {
    return GUTTER + (time - this.time.from) / (this.time.to - this.time.from) * this.plotWidth();
  }
  protected timeAt(x: number): number {
    return this.time.from + (x - GUTTER) / this.plotWidth() * (this.time.to - this.time.from);
  }
  protected measure = (text: string): number => this.context.measureText(text).width;

  protected clipToPlot(draw: () => void): void {
    this.context.save();
    this.context.beginPath();
    this.context.rect(GUTTER, 0, this.plotWidth() + 6, this.plotHeight());
    this.context.clip();
    draw();
    this.context.restore();
  }

  protected line(x0: number, y0: number, x1: number, y1: number): void {
    this.context.beginPath();
    this.context.moveTo(x0, y0);
    this.context.lineTo(x1, y1);
    this.context.stroke();
  }

  /** Ticks, labels, and the name of the unit at the right end. */
  protected drawTimeAxis(): void {
    const { context, colors } = this;
    const bottom = this.plotHeight();
    const unit = this.data.drawn.time === "level" ? "level" : "tick";
    context.strokeStyle = colors.line;
    context.lineWidth = 1;
    this.line(GUTTER, bottom + 0.5, GUTTER + this.plotWidth(), bottom + 0.5);
    const step = timeStep((this.time.to - this.time.from) / this.plotWidth(), 56);
    context.textAlign = "center";
    const title = `${unit} →`;
    const titleFrom = GUTTER + this.plotWidth() - this.measure(title) - 6;
    for (let t = Math.ceil(this.time.from / step) * step; t <= this.time.to + 1e-9; t += step) {
      const x = Math.round(this.x(t)) + 0.5;
      const text = countText(t);
      this.line(x, bottom, x, bottom + 4);
      context.fillStyle = colors.muted;
      if (x + this.measure(text) / 2 < titleFrom) context.fillText(text, x, bottom + 13);
    }
    context.textAlign = "right";
    context.fillText(title, GUTTER + this.plotWidth(), bottom + 13);
  }

  protected drawTimeGrid(): void {
    const step = timeStep((this.time.to - this.time.from) / this.plotWidth(), 56);
    this.context.strokeStyle = this.colors.grid;
    this.context.lineWidth = 1;
    for (let t = Math.ceil(this.time.from / step) * step; t <= this.time.to + 1e-9; t += step) {
      const x = Math.round(this.x(t)) + 0.5;
      this.line(x, 0, x, this.plotHeight());
    }
  }

  private listen(): void {
    const canvas = this.canvas;
    let dragged = false;
    let last: { x: number; y: number } | null = null;
    const at = (event: MouseEvent) => {
      const box = canvas.getBoundingClientRect();
      return { x: event.clientX - box.left, y: event.clientY - box.top };
    };
    canvas.addEventListener("pointerdown", (event) => {
      last = at(event);
      dragged = false;
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      const { x, y } = at(event);
      if (last !== null && (dragged || Math.hypot(x - last.x, y - last.y) > 3)) {
        dragged = true;
        this.tip.hide();
        this.time.pan((last.x - x) / this.plotWidth());
        this.panAddress(y - last.y);
        last = { x, y };
        return;
      }
      this.tip.show(event.clientX, event.clientY, this.about(x, y));
    });
    canvas.addEventListener("pointerup", (event) => {
      if (!dragged) this.pick(at(event).x, at(event).y);
      last = null;
    });
    canvas.addEventListener("pointercancel", () => { last = null; });
    canvas.addEventListener("pointerleave", () => this.tip.hide());
    canvas.addEventListener("dblclick", (event) => this.time.zoom(2, this.timeAt(at(event).x)));
    canvas.addEventListener("wheel", (event) => {
      // Without focus the wheel scrolls the page.
      if (document.activeElement !== canvas && !event.ctrlKey) return;
      event.preventDefault();
      const factor = Math.exp(-(event.deltaY || event.deltaX) / 300);
      if (!(event.shiftKey && this.zoomAddress(factor, at(event).y))) {
        this.time.zoom(factor, this.timeAt(at(event).x));
      }
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || !this.key(event.key)) return;
      event.preventDefault();
    });
  }

  protected key(key: string): boolean {
    const middle = (this.time.from + this.time.to) / 2;
    switch (key) {
      case "ArrowLeft": this.time.pan(-0.2); return true;
      case "ArrowRight": this.time.pan(0.2); return true;
      case "ArrowUp": this.panAddress(40); return true;
      case "ArrowDown": this.panAddress(-40); return true;
      case "+": case "=": this.time.zoom(1.5, middle); return true;
      case "-": this.time.zoom(1 / 1.5, middle); return true;
      case "]": return this.zoomAddress(1.5, this.plotHeight() / 2);
      case "[": return this.zoomAddress(1 / 1.5, this.plotHeight() / 2);
      case "0": this.showAll(); return true;
      default: return false;
    }
  }
}

/** The box that follows the pointer. */
class Tip {
  private readonly box = el("div", "tip");
  constructor() {
    this.box.hidden = true;
    this.box.setAttribute("role", "status");
    document.body.append(this.box);
  }
  show(x: number, y: number, lines: string[]): void {
    this.box.hidden = lines.length === 0;
    if (lines.length === 0) return;
    this.box.replaceChildren(...lines.map((line, k) => el("div", k === 0 ? "tip-title" : "", line)));
    const { width, height } = this.box.getBoundingClientRect();
    const left = x + 14 + width > window.innerWidth ? x - 14 - width : x + 14;
    const top = y + 14 + height > window.innerHeight ? y - 14 - height : y + 14;
    this.box.style.left = Math.max(left, 4) + "px";
    this.box.style.top = Math.max(top, 4) + "px";
  }
  hide(): void {
    this.box.hidden = true;
  }
}
