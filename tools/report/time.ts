// The piece of time that the memory map and the queue lanes show, one for both.

class TimeWindow {
  from = 0;
  to = 1;
  private readonly listeners: (() => void)[] = [];

  constructor(readonly end: number) {
    this.to = Math.max(end, 1);
  }

  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }
  private tell(): void {
    for (const listener of this.listeners) listener();
  }

  all(): void {
    this.set(0, Math.max(this.end, 1));
  }
  isAll(): boolean {
    return this.from <= 0 && this.to >= this.end;
  }
  set(from: number, to: number): void {
    const most = Math.max(this.end, 1);
    const width = Math.min(Math.max(to - from, 0.5), most);
    this.from = Math.min(Math.max(from, 0), most - width);
    this.to = this.from + width;
    this.tell();
  }
  /** Zooms by a factor (> 1: in) around a time. */
  zoom(factor: number, around: number): void {
    const width = (this.to - this.from) / factor;
    const share = (around - this.from) / (this.to - this.from);
    this.set(around - share * width, around + (1 - share) * width);
  }
  /** Moves by a share of what is seen. */
  pan(share: number): void {
    const by = share * (this.to - this.from);
    this.set(this.from + by, this.to + by);
  }
  /** So that [from, to) is seen with room around it. */
  show(from: number, to: number): void {
    if (from >= this.from && to <= this.to) return;
    const width = Math.max(this.to - this.from, 1.5 * (to - from));
    const middle = (from + to) / 2;
    this.set(middle - width / 2, middle + width / 2);
  }
}
