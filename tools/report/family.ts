// The selected family: its storage, its views, and the real readers and writers behind them.

const NODE_HEIGHT = 24;
const MOST_NODES = 40;   // In a column.

interface FamilyNode { text: string; note: string; kind: string; y: number; title: string }

class Family {
  readonly element = el("section", "card family");
  private readonly picture = el("div", "family-picture");
  private readonly title = el("h2", "", "Storage, aliases, readers");
  private usesOfTensor: Map<number, number[]> | null = null;
  private views: Map<number, number[]> | null = null;

  constructor(private readonly data: PlanData, private readonly selection: Chosen) {
    this.element.append(this.title, this.picture);
    selection.onChange(() => this.show());
    this.show();
  }

  private index(): void {
    const { tensors, uses } = this.data;
    this.views = new Map();
    this.usesOfTensor = new Map();
    const push = (map: Map<number, number[]>, key: number, value: number) => {
      const list = map.get(key);
      if (list === undefined) map.set(key, [value]);
      else list.push(value);
    };
    tensors.base.forEach((base, tensor) => { if (base >= 0) push(this.views!, base, tensor); });
    uses.tensor.forEach((tensor, k) => push(this.usesOfTensor!, tensor, k));
  }

  private show(): void {
    const root = this.selection.tensor;
    if (root < 0) {
      this.title.textContent = "Storage, aliases, readers";
      this.picture.replaceChildren(el("p", "note", "Select a tensor on the map, or an op on a queue, to see its " +
        "storage, the views of it, and the ops that really read and write its bytes."));
      return;
    }
    if (this.views === null) this.index();
    this.title.replaceChildren("Storage, aliases, readers of ", nameOf(this.data.tensors.name[root]));
    this.picture.replaceChildren(this.draw(root), this.held(root), this.neighbours(root));
  }

  /** Which accesses begin and end the time that the bytes are held, in the drawn run. */
  private held(root: number): HTMLElement {
    const { tensors, commands, uses } = this.data;
    const through = new Map<number, number>();   // By op: a tensor of the family that it touches.
    for (const { tensor } of this.members(root)) {
      for (const k of this.usesOfTensor!.get(tensor) ?? []) through.set(uses.op[k], tensor);
    }
    let first = -1;
    let last = -1;
    commands.op.forEach((op, c) => {
      if (!through.has(op) || commands.start[c] < 0) return;
      if (first < 0 || commands.start[c] < commands.start[first]) first = c;
      const end = commands.end[c] < 0 ? Infinity : commands.end[c];
      if (last < 0 || end >= (commands.end[last] < 0 ? Infinity : commands.end[last])) last = c;
    });
    if (first < 0) return el("p", "note", "No op of the drawn run touches it.");
    const touch = (c: number) => {
      const tensor = through.get(commands.op[c])!;
      return el("span", "", nameOf(commandText(this.data, c)), tensor === root ? "" : " (through ",
                tensor === root ? "" : nameOf(tensors.name[tensor]), tensor === root ? "" : ")");
    };
    const role = tensors.role[root];
    const kept = (role & 4) !== 0 ? " It is an output, and kept." : (role & 3) !== 0 && (role & 8) === 0 ? " It is given, and kept." : "";
    return el("p", "held", "First touched by ", touch(first), ", last by ", touch(last),
              `: ${spanText(this.data, commands.start[first], commands.end[last])}.` + kept);
  }

  /** Who had the bytes before, and who has them next. */
  private neighbours(root: number): HTMLElement {
    const { ranges, reuse, tensors } = this.data;
    const before = new Set<number>();
    const after = new Set<number>();
    for (let k = 0; k < reuse.from.length; k++) {
      const from = ranges.root[reuse.from[k]];
      const to = ranges.root[reuse.to[k]];
      if (to === root && from >= 0) before.add(from);
      if (from === root && to >= 0) after.add(to);
    }
    const out = el("p", "held");
    const list = (words: string, roots: Set<number>) => {
      out.append(words, roots.size === 0 ? "nobody" : "");
      [...roots].slice(0, 8).forEach((other, k) => {
        const name = shown(tensors.name[other]);
        out.append(k > 0 ? ", " : "");
        if (other === root) out.append("itself, of another iteration");
        else out.append(button(name, `Select ${name}`, () => this.selection.selectTensor(other)));
      });
      if (roots.size > 8) out.append(` and ${roots.size - 8} more`);
    };
    list("Its bytes had before: ", before);
    list("; has next: ", after);
    out.append(".");
    return out;
  }

  /** The family as a tree in the order of the plan, with the depth of each member. */
  private members(root: number): { tensor: number; depth: number }[] {
    const out: { tensor: number; depth: number }[] = [];
    const visit = (tensor: number, depth: number) => {
      if (out.length >= MOST_NODES) return;
      out.push({ tensor, depth });
      for (const view of this.views!.get(tensor) ?? []) visit(view, depth + 1);
    };
    visit(root, 0);
    return out;
  }

  private draw(root: number): SVGElement {
    const { tensors, storages, uses, ops, pools } = this.data;
    const members = this.members(root);
    const row = new Map<number, number>();
    members.forEach(({ tensor }, k) => row.set(tensor, k));
    const users: { op: number; kind: number; tensor: number }[] = [];
    for (const { tensor } of members) {
      for (const k of this.usesOfTensor!.get(tensor) ?? []) {
        if (users.length < MOST_NODES) users.push({ op: uses.op[k], kind: uses.kind[k], tensor });
      }
    }
    users.sort((a, b) => a.op - b.op);
    const order = [...new Set(users.map((user) => user.op))];
    const width = Math.max(760, Math.min(this.picture.clientWidth || 900, 1300));
    const lines = Math.max(members.length, order.length, 1);
    const height = lines * (NODE_HEIGHT + 8) + 46;
    const out = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img" });
    out.setAttribute("aria-label", `Storage, ${members.length} tensors and ${order.length} ops`);
    const column = { storage: 0, alias: width * 0.29, op: width * 0.7 };
    const nodeWidth = { storage: width * 0.21, alias: width * 0.31, op: width * 0.29 };
    const y = (k: number, of: number) => 28 + (lines - of) * (NODE_HEIGHT + 8) / 2 + k * (NODE_HEIGHT + 8);
    for (const [text, x] of [["storage", column.storage], ["tensors and views", column.alias], ["ops that touch the bytes", column.op]] as const) {
      const label = svg("text", { x, y: 14, class: "column-title" });
      label.textContent = text;
      out.append(label);
    }
    const storage = tensors.storage[root];
    const middle = y(0, members.length) + NODE_HEIGHT / 2;
    const storageY = middle - NODE_HEIGHT / 2;
    const link = (x0: number, y0: number, x1: number, y1: number, kind: string) => {
      const bend = (x1 - x0) / 2;
      out.append(svg("path", { d: `M${x0},${y0} C${x0 + bend},${y0} ${x1 - bend},${y1} ${x1},${y1}`, class: "link " + kind }));
    };
    link(column.storage + nodeWidth.storage, middle, column.alias, middle, "plain");
    for (const user of users) {
      const from = y(row.get(user.tensor)!, members.length) + NODE_HEIGHT / 2;
      const to = y(order.indexOf(user.op), order.length) + NODE_HEIGHT / 2;
      link(column.alias + nodeWidth.alias, from, column.op, to, user.kind === 0 ? "read" : "write");
    }
    members.forEach(({ tensor, depth }, k) => {
      const indent = Math.min(depth, 6) * 16;
      const top = y(k, members.length);
      if (depth > 0) {
        const base = y(row.get(tensors.base[tensor])!, members.length) + NODE_HEIGHT;
        const x = column.alias + indent - 8;
        out.append(svg("path", { d: `M${x},${base} V${top + NODE_HEIGHT / 2} H${column.alias + indent}`, class: "link plain" }));
      }
      this.node(out, column.alias + indent, top, nodeWidth.alias - indent, shown(tensors.name[tensor]),
                tensors.types[tensors.type[tensor]] || bytesText(tensors.bytes[tensor]), depth === 0 ? "root" : "view");
    });
    if (storage >= 0) {
      this.node(out, column.storage, storageY, nodeWidth.storage, shown(storages.name[storage]),
                bytesText(storages.bytes[storage]), "storage");
      const place = svg("text", { x: column.storage, y: storageY + NODE_HEIGHT + 15, class: "column-title" });
      place.textContent = fitted(`at ${countText(storages.at[storage])} of ${shown(pools[storages.pool[storage]].name)}`,
                                 nodeWidth.storage + 40, widthIn("12px " + SANS));
      out.append(place);
    }
    order.forEach((op, k) => {
      const kinds = new Set(users.filter((user) => user.op === op).map((user) => user.kind));
      const clash = (this.data.findings[this.selection.finding]?.at ?? []).some((c) => this.data.commands.op[c] === op);
      const lane = ops.lane[op];
      this.node(out, column.op, y(k, order.length), nodeWidth.op, shown(ops.name[op]),
                [...kinds].map((kind) => USE_KINDS[kind]).join(", ") + (lane >= 0 ? " · " + shown(this.data.lanes[lane].name) : ""),
                clash ? "op clash" : "op");
    });
    if (members.length === MOST_NODES || users.length === MOST_NODES) {
      const more = svg("text", { x: column.alias, y: height - 2, class: "column-title" });
      more.textContent = `the first ${MOST_NODES} are shown`;
      out.append(more);
    }
    return out;
  }

  private node(out: SVGElement, x: number, y: number, width: number, name: string, note: string, kind: string): void {
    const group = svg("g", { class: "node " + kind });
    const inName = widthIn("12px " + MONO);
    const inNote = widthIn("11px " + SANS);
    const label = svg("text", { x: x + 8, y: y + 16, class: "node-name" });
    label.textContent = fitted(name, width - 16, inName);
    const left = width - 28 - inName(label.textContent);
    const aside = svg("text", { x: x + width - 8, y: y + 16, class: "node-note" });
    aside.textContent = left > 24 ? fitted(note, left, inNote) : "";
    const title = svg("title", {});
    title.textContent = `${name}: ${note}`;
    group.append(title, svg("rect", { x, y, width, height: NODE_HEIGHT, rx: 4 }), label, aside);
    out.append(group);
  }
}
