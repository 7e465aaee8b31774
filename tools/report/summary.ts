// The head of the page: what the plan is, the verdict, and what is drawn.

const VERDICTS = {
  safe: { sign: "✓", words: "no run that the plan allows goes wrong" },
  unsafe: { sign: "✕", words: "a run that the plan allows goes wrong" },
  unknown: { sign: "?", words: "not proven" },
};

function badge(verdict: PlanData["verdict"]): HTMLElement {
  const sign = el("span", "sign", VERDICTS[verdict].sign);
  sign.setAttribute("aria-hidden", "true");
  const element = el("span", "badge " + verdict, sign, verdict);
  element.title = VERDICTS[verdict].words;
  return element;
}

function planName(data: PlanData): string {
  return shown(data.plan !== "" ? data.plan : data.file);
}

function head(data: PlanData, tag: string | null): HTMLElement {
  const { counts } = data;
  const facts = [plural(counts.ops, "op"), plural(counts.tensors, "tensor"),
                 plural(counts.storages, "storage"), plural(data.pools.length, "pool"),
                 plural(data.lanes.filter((lane) => lane.order !== "thread").length, "queue")];
  const title = el("h1", "", planName(data));
  title.dir = "auto";
  return el("header", "head",
    el("div", "head-text",
      el("p", "over", "memverify report" + (tag === null ? "" : ` · plan ${tag}`)),
      title,
      el("p", "facts", nameOf(data.file, "file"), " · " + facts.join(" · "))),
    el("div", "head-verdict",
      badge(data.verdict),
      el("p", "facts", shown(data.line.replace(/^[a-z]+, /, "")))));
}

/** What of the many runs the pictures show, and what they leave out. */
function drawnNote(data: PlanData): HTMLElement {
  const { drawn, counts } = data;
  const parts: string[] = [];
  if (drawn.of !== 1) {
    parts.push(drawn.of === drawn.iterations ? `all ${plural(drawn.of, "iteration")}`
      : `the first ${plural(drawn.iterations, "iteration")} of ${drawn.of === 0 ? "any number" : countText(drawn.of)}`);
  }
  parts.push(...drawn.case.map(shown));
  const text = el("p", "note", "Drawn: the run in which everything happens as soon as it may" +
    (parts.length > 0 ? `, for ${parts.join("; ")}` : "") + ". " +
    (drawn.time === "level" ? "A level is the length of the longest chain of ops before it."
                            : "Ticks are the longest durations that the plan gives.") +
    (data.verdict === "unsafe" ? " Clashes that another run has are marked in it, too." : ""));
  if (drawn.stuck > 0) text.append(` ${plural(drawn.stuck, "command")} never ${drawn.stuck === 1 ? "completes" : "complete"} in it: see the open red boxes of the queues.`);
  if (counts.kept_commands < counts.commands || counts.kept_ranges < counts.ranges) {
    text.append(` Of ${plural(counts.commands, "command")} ${countText(counts.kept_commands)} and of ` +
      `${plural(counts.ranges, "live range")} ${countText(counts.kept_ranges)} are drawn one by one ` +
      "(around findings and peaks, and the largest); the rest is grey.");
  }
  return text;
}

/** Peak, live set, fragmentation, R. What a wrong reuse "saves" is no saving, so it is not shown. */
function figures(data: PlanData, pool: Pool): HTMLElement {
  const list = el("dl", "figures");
  const add = (term: string, value: string, title: string) => {
    const entry = el("div", "", el("dt", "", term), el("dd", "", value));
    entry.title = title;
    list.append(entry);
  };
  const unsafe = data.verdict === "unsafe";
  add("Capacity", pool.capacity === undefined ? "unlimited" : bytesText(pool.capacity),
      "What the pool holds");
  add("Peak", bytesText(pool.peak), `The highest end of a storage: ${countText(pool.peak)} bytes`);
  if (pool.claimed !== undefined) add("Claimed peak", bytesText(pool.claimed), "What the planner says");
  add("Largest live set", "≥ " + bytesText(pool.live_set),
      `${countText(pool.live_set)} bytes are alive at once in the drawn run: the run needs them, wherever they lie`);
  const why = "Only for plans that are not unsafe: a wrong reuse saves nothing";
  const fragments = Math.max(pool.peak - pool.live_set, 0);
  add("Fragmentation", unsafe || pool.peak === 0 ? "—"
        : fragments === 0 ? "none" : `≤ ${bytesText(fragments)} (${percent(fragments / pool.peak)})`,
      unsafe ? why : "Peak less largest live set");
  add("Reuse ratio R", unsafe || pool.total === 0 ? "—" : percent(Math.max(1 - pool.peak / pool.total, 0)),
      unsafe ? why : `1 − peak / ${countText(pool.total)}, the bytes of all tensors apart`);
  return list;
}

function legend(entries: [className: string, text: string][]): HTMLElement {
  return el("ul", "legend", ...entries.map(([className, text]) => {
    const swatch = el("span", "swatch " + className);
    swatch.setAttribute("aria-hidden", "true");
    return el("li", "", swatch, text);
  }));
}
