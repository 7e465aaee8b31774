// Puts the page together.

const KEYS: [string, string][] = [
  ["← →", "earlier, later"], ["↑ ↓", "higher, lower addresses"], ["+ −", "zoom time"],
  ["[ ]", "zoom addresses"], ["0", "show all"], ["n p", "next, previous tensor"],
  ["f", "next finding"], ["← → in the run", "step"], ["wheel", "zooms what was clicked; with Shift, addresses"],
];

function poolTabs(data: PlanData, choose: (pool: number) => void): { element: HTMLElement; mark: (pool: number) => void } {
  const tabs = data.pools.map((pool, k) => button(shown(pool.name), `Pool ${shown(pool.name)}`, () => choose(k)));
  const element = el("div", "tabs", ...tabs);
  element.hidden = tabs.length < 2;
  return {
    element,
    mark: (pool) => tabs.forEach((tab, k) => tab.setAttribute("aria-pressed", String(k === pool))),
  };
}

function zoomButtons(time: TimeWindow, all: () => void): HTMLElement {
  const middle = () => (time.from + time.to) / 2;
  return el("div", "controls",
    button("−", "Zoom out", () => time.zoom(1 / 1.5, middle())),
    button("+", "Zoom in", () => time.zoom(1.5, middle())),
    button("Show all", "Show all time and addresses", all));
}

/** Everything about one plan. Returns its canvases, which want to be painted. */
function showPlan(data: PlanData, tag: string | null, parent: HTMLElement, tip: Tip): { plots: Plot[]; nextFinding: () => void } {
  const selection = new Chosen();
  const time = new TimeWindow(data.drawn.end + stuckRoom(data));
  const stepper = new Stepper(data, selection);
  const arena = new Arena(data, time, tip, selection);
  const findings = new Findings(data, selection, (finding) => {
    arena.zoomTo(data.findings[finding]);
    arena.canvas.focus();
    arena.canvas.scrollIntoView({ block: "center" });
  });
  const curve = new LiveCurve(data, time, tip, arena);
  const lanes = new Lanes(data, time, tip, selection);
  const family = new Family(data, selection);
  const figuresBox = el("div", "figures-box");
  const tabs = poolTabs(data, (pool) => { arena.setPool(pool); showPool(); });
  const showPool = () => {
    if (data.pools.length > 0) figuresBox.replaceChildren(figures(data, data.pools[arena.pool]));
    tabs.mark(arena.pool);
    curve.redraw();
  };
  selection.onChange(showPool);

  const arrows = el("input", "");
  arrows.type = "checkbox";
  arrows.checked = true;
  arrows.addEventListener("change", () => { arena.arrows = arrows.checked; arena.redraw(); });
  const all = () => { arena.canvas.focus(); arena.canvas.dispatchEvent(new KeyboardEvent("keydown", { key: "0" })); };

  const memory = el("section", "card memory",
    el("div", "bar", el("h2", "", "Memory"), tabs.element, figuresBox),
    el("div", "bar",
      legend([["families", "tensors, a colour for each family"], ["given", "inputs and constants"],
              ["work", "workspace"], ["clash", "clash"]]),
      el("label", "check", arrows, "reuse arrows"), zoomButtons(time, all)),
    el("div", "canvas-box", arena.canvas), el("div", "canvas-box", curve.canvas));
  const queues = el("section", "card queues",
    el("div", "bar", el("h2", "", "Queues"),
      legend([["event", "event"], ["semaphore", "semaphore"], ["after", "after, or a count"], ["barrier", "barrier or host wait"],
              ["reads", "reads the selection"], ["writes", "writes it"],
              ...(data.drawn.stuck > 0 ? [["stuck", "never starts"] as [string, string]] : [])])),
    el("div", "canvas-box", lanes.canvas));
  parent.replaceChildren(head(data, tag), drawnNote(data),
    el("div", "two", findings.element, stepper.element), memory, queues, family.element);
  if (data.findings.length > 0) findings.select(0);
  showPool();
  const plots = [arena, curve, lanes];
  for (const plot of plots) plot.paint();
  return {
    plots,
    nextFinding: () => {
      if (data.findings.length > 0) findings.select((selection.finding + 1) % data.findings.length);
    },
  };
}

/** Both memory maps, on one scale of addresses; of pools those of the same name. */
function smallMaps(plans: PlanData[], parent: HTMLElement, tip: Tip): Plot[] {
  const [a, b] = plans;
  const most = Math.max(...plans.flatMap((data) => data.pools.map((pool) => pool.peak)), 1);
  const maps = plans.map((data) => new Arena(data, new TimeWindow(data.drawn.end), tip, new Chosen(), 240, most));
  const pool = maps[0].pool;
  const same = b.pools.findIndex((other) => other.name === a.pools[pool]?.name);
  if (same >= 0) maps[1].setPool(same);
  const boxes = maps.map((map, k) => el("div", "",
    el("p", "map-title", `${"AB"[k]}: `, badge(plans[k].verdict), " pool ", nameOf(plans[k].pools[map.pool]?.name ?? "")),
    el("div", "canvas-box", map.canvas)));
  parent.append(el("div", "two maps", ...boxes));
  return maps;
}

function start(): void {
  const source = document.getElementById("data")?.textContent ?? "";
  const plans = (JSON.parse(source) as { plans: PlanData[] }).plans;
  const page = document.getElementById("page");
  if (page === null || plans.length === 0) return;
  document.title = `${planName(plans[0])}: ${plans[0].verdict} · memverify`;
  const tip = new Tip();
  const body = el("main", "");
  let beside: Plot[] = [];
  let current = showPlan(plans[0], plans.length > 1 ? "A" : null, body, tip);
  if (plans.length > 1) {
    const tabs = plans.map((plan, k) => button(`${"AB"[k]}: ${planName(plan)}`, `Show plan ${"AB"[k]}`, () => choose(k)));
    const choose = (k: number) => {
      tip.hide();
      current = showPlan(plans[k], "AB"[k], body, tip);
      tabs.forEach((tab, j) => tab.setAttribute("aria-pressed", String(j === k)));
    };
    tabs[0].setAttribute("aria-pressed", "true");
    const both = comparison(plans);
    page.append(both, el("nav", "tabs plans", ...tabs), body);
    beside = smallMaps(plans, both, tip);
  } else {
    page.append(body);
  }
  page.append(el("footer", "", el("h2", "", "Keys"),
    el("dl", "keys", ...KEYS.map(([key, what]) => el("div", "", el("dt", "", el("kbd", "", key)), el("dd", "", what))))));

  const paint = () => [...current.plots, ...beside].forEach((plot) => plot.paint());
  paint();
  window.addEventListener("resize", paint);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paint);
  window.addEventListener("beforeprint", paint);
  window.addEventListener("afterprint", paint);
  window.matchMedia("print").addEventListener("change", paint);
  document.addEventListener("keydown", (event) => {
    if (event.key === "f" && !event.ctrlKey && !event.metaKey && !event.altKey) current.nextFinding();
  });
}

start();
