// The list of findings, the selected one open.

class Findings {
  readonly element = el("section", "card findings");
  private readonly cards: HTMLElement[] = [];

  constructor(private readonly data: PlanData, private readonly selection: Chosen,
              private readonly showOnMap: (finding: number) => void) {
    const { findings } = data;
    this.element.append(el("h2", "", findings.length === 0 ? "Findings"
      : plural(findings.length, "finding") + (data.stopped ? " (the search stopped there)" : "")));
    if (findings.length === 0) this.element.append(this.none());
    if (data.one_wait !== "") this.element.append(el("p", "note advice", message(data.one_wait.replace(/^o/, "O") + ".")));
    findings.forEach((finding, k) => {
      const card = this.card(finding, k);
      this.cards.push(card);
      this.element.append(card);
    });
    selection.onChange(() => this.mark());
    this.mark();
  }

  private none(): HTMLElement {
    const out = el("p", "", this.data.verdict === "safe" ? "None: the plan is safe, in every run that it allows." : "None.");
    for (const one of this.data.assumes) out.append(el("span", "note block", "Assumed: " + shown(one).replace(/\.$/, "") + "."));
    return out;
  }

  private card(finding: Finding, k: number): HTMLElement {
    const open = el("button", "finding-title",
      el("span", "rule " + finding.severity.replace(" ", "-"), finding.rule),
      el("span", "", finding.title),
      el("span", "who", finding.ops.map(shown).join(" · ")));
    open.type = "button";
    open.addEventListener("click", () => this.select(k));
    const body = el("div", "finding-body", el("p", "message", message(finding.message)));
    const facts = el("dl", "facts-list");
    const add = (term: string, value: Child) =>
      facts.append(el("div", "", el("dt", "", term), el("dd", "", value)));
    if (finding.bytes !== undefined && finding.pool !== undefined) {
      add("Bytes", el("span", "", `${rangeText(finding.bytes)} of `, nameOf(this.data.pools[finding.pool].name),
                      `, ${bytesText(finding.bytes[1] - finding.bytes[0])}`));
    }
    if (finding.alias_chain.length > 1) add("Through", this.chain(finding.alias_chain));
    const iterations = [...new Set(finding.iteration)];
    if (repeats(this.data) && iterations.length > 0) add(iterations.length > 1 ? "Iterations" : "Iteration", iterations.join(" and "));
    if (finding.also.length > 0) add("Also", finding.also.join(", "));
    if (finding.now !== "") add("Now", message(finding.now));
    if (finding.help !== "") add("Fix", message(finding.help));
    if (finding.accepted !== undefined) add("Accepted", shown(finding.accepted));
    body.append(facts);
    if (finding.bytes !== undefined) {
      body.append(el("div", "controls", button("Show on the map", `Zoom to ${finding.rule}`, () => this.showOnMap(k))));
    }
    return el("article", "finding", open, body);
  }

  /** The views from the accessed tensor to its root. */
  private chain(names: string[]): HTMLElement {
    const out = el("span", "chain");
    names.forEach((name, k) => {
      if (k > 0) out.append(" → ");
      out.append(nameOf(name));
    });
    return out;
  }

  select(k: number): void {
    const finding = this.data.findings[k];
    const tensor = finding.of.find((t) => t >= 0) ?? -1;
    this.selection.selectFinding(k, tensor < 0 ? -1 : rootOf(this.data, tensor));
  }

  private mark(): void {
    this.cards.forEach((card, k) => {
      const chosen = k === this.selection.finding;
      card.classList.toggle("chosen", chosen);
      card.querySelector("button")?.setAttribute("aria-expanded", String(chosen));
    });
  }
}
