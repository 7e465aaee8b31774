// Names, numbers and elements. Names come from files that nobody vouches for: they enter the page as
// text alone, and characters that would reorder or hide the text around them are shown as escapes.

function shown(name: string): string {
  const escaped = name.replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g,
    (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
  return escaped.length > 200 ? escaped.slice(0, 199) + "…" : escaped;
}

/** "1,536 B", "24 KiB", "1.25 GiB": three digits, exact where that is short. */
function bytesText(bytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let unit = 0;
  let value = bytes;
  while (Math.abs(value) >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  const digits = unit === 0 || Number.isInteger(value) || Math.abs(value) >= 100 ? 0
    : Math.abs(value) >= 10 ? 1 : 2;
  return countText(Number(value.toFixed(digits))) + "\u00a0" + units[unit];
}

/** With a comma between thousands. */
function countText(count: number): string {
  return count.toLocaleString("en-US", { maximumFractionDigits: 3 });
}

function plural(count: number, noun: string): string {
  const many = noun.endsWith("y") ? noun.slice(0, -1) + "ies" : noun + "s";
  return countText(count) + "\u00a0" + (count === 1 ? noun : many);
}

/** Never 100 % of less than all. */
function percent(part: number): string {
  const rounded = part < 1 ? Math.min(Number((100 * part).toFixed(1)), 99.9) : 100 * part;
  return rounded.toFixed(1) + "\u00a0%";
}

function rangeText(bytes: [number, number]): string {
  return `[${countText(bytes[0])}, ${countText(bytes[1])})`;
}

/** "a", and where it matters "a of iteration 2". */
function instanceText(data: PlanData, name: string, iteration: number): string {
  return shown(name) + (repeats(data) ? `@${iteration}` : "");
}

function commandText(data: PlanData, command: number): string {
  return instanceText(data, data.ops.name[data.commands.op[command]],
                      data.commands.iteration[command]);
}

/** "[2, 3)", or what is left of it. */
function spanText(data: PlanData, start: number, end: number): string {
  if (start < 0) return "never starts in this run";
  const unit = data.drawn.time === "level" ? "levels" : "ticks";
  return end < 0 ? `from ${unit} ${countText(start)}, never completes`
                 : `${unit} [${countText(start)}, ${countText(end)})`;
}

type Child = Node | string | null;

/** An element with a class, and children of which strings become text. */
function el<K extends keyof HTMLElementTagNameMap>(
    tag: K, className: string, ...children: Child[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  if (className !== "") element.className = className;
  for (const child of children) {
    if (child !== null) element.append(child);
  }
  return element;
}

/** A name from the plan. */
function nameOf(name: string, className = ""): HTMLElement {
  const element = el("code", className, shown(name));
  element.dir = "ltr";
  return element;
}

/** A message in which names stand between backquotes. */
function message(text: string): DocumentFragment {
  const out = document.createDocumentFragment();
  text.split("`").forEach((part, k) => out.append(k % 2 === 1 ? nameOf(part) : shown(part)));
  return out;
}

function button(text: string, title: string, act: () => void): HTMLButtonElement {
  const element = el("button", "", text);
  element.type = "button";
  element.title = title;
  element.setAttribute("aria-label", title);
  element.addEventListener("click", act);
  return element;
}

const SVG = "http://www.w3.org/2000/svg";
function svg(tag: string, attributes: Record<string, string | number>, ...children: Node[]): SVGElement {
  const element = document.createElementNS(SVG, tag);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  element.append(...children);
  return element;
}

const measuring = document.createElement("canvas").getContext("2d");
/** Pixels that a text takes in a picture. */
function widthIn(font: string): (text: string) => number {
  return (text) => {
    if (measuring === null) return 7 * text.length;
    measuring.font = font;
    return measuring.measureText(text).width;
  };
}
const SANS = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif";
const MONO = "ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', 'Liberation Mono', monospace";

/** Cuts a text so that it fits, by `measure`. */
function fitted(text: string, width: number, measure: (text: string) => number): string {
  if (measure(text) <= width) return text;
  let low = 0;
  let high = text.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (measure(text.slice(0, middle) + "…") <= width) low = middle;
    else high = middle - 1;
  }
  return low === 0 ? "" : text.slice(0, low) + "…";
}
