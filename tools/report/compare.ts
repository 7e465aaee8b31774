// Two plans side by side. The peak of an unsafe plan is never a baseline: a wrong reuse saves nothing.

const MOST_MOVES = 60;

function comparison(plans: PlanData[]): HTMLElement {
  const [a, b] = plans;
  const head = el("tr", "", el("th", "", ""), el("th", "number", "A"), el("th", "number", "B"),
                  el("th", "number", "B against A"));
  const body = el("tbody", "");
  const add = (name: Child, left: Child, right: Child, change: Child) =>
    body.append(el("tr", "", el("th", "", name), el("td", "number", left), el("td", "number", right), el("td", "number", change)));
  add("Plan", planName(a), planName(b), "");
  add("Verdict", badge(a.verdict), badge(b.verdict), "");
  add("Findings", countText(a.findings.length), countText(b.findings.length), "");
  add("Ops", countText(a.counts.ops), countText(b.counts.ops), change(a.counts.ops, b.counts.ops, countText));
  add("Tensors", countText(a.counts.tensors), countText(b.counts.tensors), change(a.counts.tensors, b.counts.tensors, countText));
  // Runs of other iterations or other symbol values are other work: no difference says anything.
  const alike = a.drawn.iterations === b.drawn.iterations && a.drawn.case.join() === b.drawn.case.join();
  const length = (data: PlanData) => countText(data.drawn.end) + (a.drawn.iterations === b.drawn.iterations ? ""
    : ` of ${plural(data.drawn.iterations, "iteration")}`);
  add(`Length of the drawn run, ${a.drawn.time}s`, length(a), length(b), alike ? change(a.drawn.end, b.drawn.end, countText) : "—");
  for (const name of new Set([...a.pools, ...b.pools].map((pool) => pool.name))) {
    const left = a.pools.find((pool) => pool.name === name);
    const right = b.pools.find((pool) => pool.name === name);
    addPool(add, name, a, left, b, right);
  }
  return el("section", "card compare", el("h2", "", "Comparison"),
    el("div", "scroll", el("table", "numbers", el("thead", "", head), body)), notes(plans), moved(a, b));
}

function addPool(add: (name: Child, a: Child, b: Child, change: Child) => void, name: string,
                 a: PlanData, left: Pool | undefined, b: PlanData, right: Pool | undefined): void {
  const title = (what: string) => el("span", "", what + " of ", nameOf(name));
  const peak = (data: PlanData, pool: Pool | undefined) => pool === undefined ? "—"
    : data.verdict === "unsafe" ? "no peak: unsafe" : bytesText(pool.peak);
  const both = left !== undefined && right !== undefined && a.verdict !== "unsafe" && b.verdict !== "unsafe";
  add(title("Peak"), peak(a, left), peak(b, right), both ? change(left.peak, right.peak, bytesText) : "—");
  add(title("Largest live set"), left === undefined ? "—" : bytesText(left.live_set),
      right === undefined ? "—" : bytesText(right.live_set),
      left !== undefined && right !== undefined ? change(left.live_set, right.live_set, bytesText) : "—");
  const reuse = (data: PlanData, pool: Pool | undefined) =>
    pool === undefined || data.verdict === "unsafe" || pool.total === 0 ? "—" : percent(Math.max(1 - pool.peak / pool.total, 0));
  add(title("Reuse ratio R"), reuse(a, left), reuse(b, right), "");
}

function change(a: number, b: number, text: (value: number) => string): string {
  if (a === b) return "the same";
  const sign = b > a ? "+" : "−";
  return `${sign}${text(Math.abs(b - a))}` + (a > 0 ? ` (${sign}${percent(Math.abs(b - a) / a)})` : "");
}

function notes(plans: PlanData[]): HTMLElement {
  const unsafe = plans.map((data, k) => ({ data, tag: "AB"[k] })).filter(({ data }) => data.verdict === "unsafe");
  if (unsafe.length === 0) return el("p", "note", "");
  return el("p", "note", `Plan ${unsafe.map(({ tag }) => tag).join(" and ")} is unsafe: its peak is no baseline, ` +
                         "for a wrong reuse saves nothing.");
}

/** Tensors of the same name in other places. */
function moved(a: PlanData, b: PlanData): HTMLElement {
  const places = (data: PlanData) => {
    const out = new Map<string, string>();
    data.ranges.root.forEach((root, k) => {
      const name = root < 0 ? "" : data.tensors.name[root];
      if (name === "" || out.has(name)) return;
      out.set(name, `${shown(data.pools[data.ranges.pool[k]].name)} ${rangeText([data.ranges.at[k], data.ranges.at[k] + data.ranges.bytes[k]])}`);
    });
    return out;
  };
  const left = places(a);
  const right = places(b);
  const moves = [...left].filter(([name, place]) => right.has(name) && right.get(name) !== place);
  const gone = [...left.keys()].filter((name) => !right.has(name)).length;
  const added = [...right.keys()].filter((name) => !left.has(name)).length;
  const summary = el("summary", "", `${plural(moves.length, "tensor")} in another place, ${countText(gone)} only in A, ${countText(added)} only in B`);
  const body = el("tbody", "");
  for (const [name, place] of moves.slice(0, MOST_MOVES)) {
    body.append(el("tr", "", el("th", "", nameOf(name)), el("td", "number", place), el("td", "number", right.get(name) ?? "")));
  }
  if (moves.length > MOST_MOVES) body.append(el("tr", "", el("td", "note", `and ${countText(moves.length - MOST_MOVES)} more`)));
  return el("details", "", summary, el("table", "numbers", el("thead", "", el("tr", "", el("th", "", "Tensor"), el("th", "number", "in A"), el("th", "number", "in B"))), body));
}
