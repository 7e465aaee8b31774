// The pages of `memverify report` in headless Chromium: they load without an error and without a
// request, show what the plan says, step to the finding, and take hostile names for text.
// report_test.mjs MEMVERIFY GENERATE_PLAN SOURCE [SCREENSHOTS]; exits with 77 where it cannot run.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [memverify, generatePlan, source, screenshots = ""] = process.argv.slice(2);
const skip = (why) => {
  console.log(`report_test: skipped: ${why}`);
  process.exit(77);
};
const browserPath = process.env.MEMVERIFY_CHROMIUM ?? "/usr/bin/chromium";
if (!existsSync(browserPath)) skip(`no ${browserPath}; see docs/report.md`);
const playwright = join(source, "tools/report/node_modules/playwright-core/index.mjs");
if (!existsSync(playwright)) skip("no playwright-core; run tools/test-browser, or `npm ci` in tools/report");
const { chromium } = await import(pathToFileURL(playwright).href);

const folder = mkdtempSync(join(tmpdir(), "memverify-report-"));
let checks = 0;
let failures = 0;
function check(holds, what) {
  checks++;
  if (holds) return;
  failures++;
  console.log(`FAILED: ${what}`);
}
const equal = (found, expected, what) =>
  check(JSON.stringify(found) === JSON.stringify(expected), `${what}: ${JSON.stringify(found)} is not ${JSON.stringify(expected)}`);

/** Writes the report of a plan; the exit codes of verdicts are all right. */
function report(name, ...args) {
  const out = join(folder, name + ".html");
  const run = spawnSync(memverify, ["report", ...args, "-o", out], { encoding: "utf8" });
  check([0, 1, 3].includes(run.status), `report ${args.join(" ")} ends with ${run.status}: ${run.stderr}`);
  return out;
}
const corpus = (name) => join(source, "corpus", name);

const browser = await chromium.launch({
  executablePath: browserPath,
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});

/** Opens a report, and sees to it that nothing goes wrong or out. */
async function open(file, what, options = {}) {
  const page = await browser.newPage({ viewport: { width: 1360, height: 900 }, ...options });
  const problems = [];
  page.on("console", (message) => {
    // The advice about reading a canvas back is for hasColor below, not for the page.
    const own = message.text().includes("willReadFrequently");
    if (["error", "warning"].includes(message.type()) && !own) problems.push(message.text());
  });
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("dialog", (dialog) => { problems.push("a dialog: " + dialog.message()); dialog.dismiss(); });
  const requests = [];
  page.on("request", (request) => requests.push(request.url()));
  await page.goto(pathToFileURL(file).href);
  await page.waitForSelector("main .memory canvas");
  await page.waitForTimeout(150);
  page.finish = async () => {
    equal(problems, [], `${what}: problems`);
    equal(requests.filter((url) => !url.startsWith("file://" + folder)), [], `${what}: requests`);
    equal(requests.length, 1, `${what}: requests`);
    if (screenshots !== "") {
      mkdirSync(screenshots, { recursive: true });
      await page.screenshot({ path: join(screenshots, what.replace(/\W+/g, "-") + ".png"), fullPage: true });
    }
    await page.close();
  };
  return page;
}
const text = (page, selector) => page.locator(selector).first().innerText();
const plain = (words) => words.replaceAll("\u00a0", " ");
/** The value under a name in a list of figures. */
async function figure(page, name) {
  const entry = page.locator(".figures > div", { has: page.getByText(name, { exact: true }) });
  return plain(await entry.locator("dd").innerText());
}
/** Whether a canvas has a pixel of about that colour. */
const hasColor = (page, selector, rgb) => page.locator(selector).first().evaluate((canvas, [r, g, b]) => {
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  for (let k = 0; k < data.length; k += 4) {
    if (Math.abs(data[k] - r) < 12 && Math.abs(data[k + 1] - g) < 12 && Math.abs(data[k + 2] - b) < 12 && data[k + 3] > 200) return true;
  }
  return false;
}, rgb);
const CLASH = [0xc4, 0x46, 0x01];

async function unsafePlan() {
  const file = corpus("readme/two_branches.unsafe.json");
  const page = await open(report("unsafe", file), "unsafe");
  equal((await text(page, ".badge")).replace(/\W/g, ""), "unsafe", "the verdict");
  check(plain(await text(page, ".head .facts")).includes("10 ops · 11 tensors · 6 storages · 1 pool · 2 queues"), "counts of the plan");
  const finding = await text(page, ".finding.chosen");
  for (const word of ["MV101", "use_a", "make_b", "a_t", "a_head1", "a_heads", "[4,352, 4,608)",
                      "make_b waits for event a_ready, recorded by make_a"]) {
    check(finding.includes(word), `the finding names ${word}`);
  }
  equal(await figure(page, "Peak"), "24 KiB", "the peak");
  equal(await figure(page, "Capacity"), "64 KiB", "the capacity");
  equal(await figure(page, "Reuse ratio R"), "—", "no ratio of an unsafe plan");
  check(await hasColor(page, ".memory canvas", CLASH), "the clash is drawn");

  // The stepper starts at the finding; from the first step on it gets there again.
  const state = () => text(page, ".step-state");
  check((await state()).includes("MV101"), "the run ends at the finding");
  await page.getByLabel("First step").click();
  check((await state()).includes("nothing has happened"), "the run starts with nothing");
  const versions = [];
  for (let k = 0; k < 10 && !(await state()).includes("MV101"); k++) {
    equal(await page.locator(".versions .bad-text").count(), 0, `nothing is wrong yet at step ${k}`);
    await page.getByLabel("Step forward").click();
    versions.push(await text(page, ".versions td:nth-child(2)"));
  }
  check((await state()).includes("MV101"), "stepping reaches the finding");
  check(versions.includes("bytes of make_a"), `the bytes are make_a's on the way: ${versions}`);
  equal(versions.at(-1), "being written by make_b", "who writes in the end");
  check((await text(page, ".versions")).includes("use_a is reading a_t"), "who still reads");
  await page.getByLabel("Step back").focus();
  await page.keyboard.press("ArrowLeft");
  check(!(await state()).includes("MV101"), "the left arrow steps back");

  // Tensors by keyboard, each once around; the family shows readers and writers.
  await page.locator(".memory canvas").first().focus();
  const names = new Set();
  for (let k = 0; k < 6; k++) {
    await page.keyboard.press("n");
    names.add(await text(page, ".family h2 code"));
  }
  equal([...names].sort(), ["a", "b", "p", "q", "x", "y"], "the roots on the map");
  while ((await text(page, ".family h2 code")) !== "a") await page.keyboard.press("n");
  const family = await page.locator(".family svg").textContent();
  for (const word of ["s_a", "a_head1", "a_t", "use_a", "make_a", "reads", "writes"]) {
    check(family.includes(word), `the family names ${word}`);
  }

  const held = plain(await page.locator(".held").allInnerTexts().then((lines) => lines.join(" ")));
  check(held.includes("First touched by make_a, last by use_a (through a_t)"), `who holds the bytes: ${held}`);
  check(held.includes("has next: b"), `who has the bytes next: ${held}`);
  await page.getByRole("button", { name: "Select b", exact: true }).click();
  equal(await text(page, ".family h2 code"), "b", "the next holder is selected");

  // Hover says what lies there; zoom and pan leave no error.
  const box = await page.locator(".memory canvas").first().boundingBox();
  const tips = new Set();
  for (let k = 1; k < 12; k++) {
    await page.mouse.move(box.x + 150, box.y + box.height - 30 - k * 27);
    if (await page.locator(".tip").isVisible()) tips.add(await text(page, ".tip-title"));
  }
  check(tips.has("x") && tips.has("a"), `hover names tensors: ${[...tips]}`);
  for (const key of ["+", "+", "ArrowRight", "ArrowUp", "]", "[", "-", "0"]) await page.keyboard.press(key);
  await page.mouse.wheel(0, -200);
  await page.getByRole("button", { name: "Zoom to MV101" }).click();
  check(await hasColor(page, ".memory canvas", CLASH), "the clash is in view after zooming to it");
  await page.finish();
}

async function safePlan() {
  const page = await open(report("safe", corpus("readme/two_branches.safe.json")), "safe");
  equal((await text(page, ".badge")).replace(/\W/g, ""), "safe", "the verdict");
  check((await text(page, ".findings")).includes("None: the plan is safe"), "no findings");
  check(!(await page.locator(".stepper").isVisible()), "no run to step through");
  check((await figure(page, "Reuse ratio R")).endsWith(" %"), "a ratio of a safe plan");
  check(!(await hasColor(page, ".memory canvas", CLASH)), "no clash is drawn");
  await page.finish();
  const dark = await open(report("dark", corpus("readme/two_branches.unsafe.json")), "dark", { colorScheme: "dark" });
  equal(await dark.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(20, 21, 24)", "dark background");
  await dark.emulateMedia({ media: "print" });
  equal(await dark.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(255, 255, 255)", "print is light");
  check(!(await dark.locator(".stepper .controls").isVisible()), "no buttons in print");
  await dark.finish();
}

async function comparedPlans() {
  const page = await open(report("compare", corpus("readme/two_branches.safe.json"), "--compare",
                                 corpus("readme/two_branches.unsafe.json")), "compare");
  const table = plain(await text(page, ".compare table"));
  check(table.includes("no peak: unsafe"), "the peak of an unsafe plan is no baseline");
  check(!/Peak of hbm\s+\S+ KiB\s+\d/.test(table), "no second peak");
  check((await text(page, ".compare .note")).includes("Plan B is unsafe"), "why");
  equal(await page.locator(".maps canvas").count(), 2, "maps side by side");
  await page.getByRole("button", { name: "Show plan B" }).click();
  equal((await text(page, ".head .badge")).replace(/\W/g, ""), "unsafe", "the other plan");
  await page.finish();
}

/** Names that would run, close the block, or turn the line around, were they not text. */
async function hostileNames() {
  const names = ["</script><script>alert(1)</script>", "<img src=x onerror=alert(2)>", "a\u202etxt.exe",
                 "line\u2028sep", "&lt;b&gt;", "'\"`${alert(3)}", "{\"plans\":[]}", "<!--<script>", "@SCRIPT@", "שלום"];
  const plan = {
    memverify: 1, name: names[0], pools: [{ id: names[1] }], queues: [{ id: names[2] }, { id: names[3] }],
    storages: names.map((id, k) => ({ id, pool: names[1], offset: 0, bytes: 64 + k })),
    tensors: names.map((id) => ({ id, storage: id, bytes: 64 })),
    ops: names.map((id, k) => ({ id, queue: names[2 + k % 2], label: names[(k + 1) % names.length], writes: [id],
                                 loc: { file: names[1], line: 1 } })),
  };
  const file = join(folder, "hostile.json");
  writeFileSync(file, JSON.stringify(plan));
  const page = await open(report("hostile", file), "hostile");
  equal(await page.locator("img, iframe, object, embed, link").count(), 0, "elements made of names");
  equal(await page.locator("script").count(), 2, "scripts");
  equal(await text(page, "h1"), names[0], "the name of the plan is text");
  check((await page.locator(".findings").innerText()).includes("a\\u202etxt.exe"), "a character that turns the line is escaped");
  const chosen = () => text(page, ".finding.chosen .who");
  const first = await chosen();
  await page.keyboard.press("f");
  check((await chosen()) !== first, "f goes to the next finding");
  const data = await page.evaluate(() => JSON.parse(document.getElementById("data").textContent).plans[0]);
  equal(data.tensors.name, names, "names come through unchanged");
  await page.finish();
}

/** What the policy of the page forbids: scripts that are not its own, and going out. */
async function policy() {
  const page = await browser.newPage();
  await page.goto(pathToFileURL(report("policy", corpus("readme/two_branches.safe.json"))).href);
  const tried = await page.evaluate(async () => {
    const script = document.createElement("script");
    script.textContent = "window.injected = true";
    document.body.append(script);
    const box = document.createElement("div");
    box.innerHTML = "<img src=x onerror='window.injected = true'>";
    document.body.append(box);
    await new Promise((done) => setTimeout(done, 200));
    const fetched = await fetch("data:text/plain,x").then(() => true, () => false);
    return [window.injected === true, fetched];
  });
  equal(tried, [false, false], "the policy forbids scripts and requests");
  await page.close();
}

async function loopPlan() {
  const file = join(folder, "loop.json");
  writeFileSync(file, JSON.stringify({
    memverify: 1, name: "double buffer", iterations: "unbounded", pools: [{ id: "sram", bytes: 8192 }],
    queues: [{ id: "dma", order: "issue" }, { id: "npu" }],
    storages: [{ id: "ring", pool: "sram", offset: [0, 4096], bytes: 4096 }],
    tensors: [{ id: "tile", storage: "ring", bytes: 4096 }],
    ops: [{ id: "load", queue: "dma", writes: ["tile"], after: [{ op: "use", distance: 2 }], signals: [{ event: "loaded" }] },
          { id: "use", queue: "npu", reads: ["tile"], waits: [{ event: "loaded" }] }],
  }));
  const page = await open(report("loop", file), "loop");
  check(plain(await text(page, ".note")).includes("the first 3 iterations of any number"), "iterations that are drawn");
  equal(await figure(page, "Peak"), "8 KiB", "the peak of the ring");
  await page.locator(".memory canvas").first().focus();
  await page.keyboard.press("n");
  check((await text(page, ".family")).includes("tile"), "the ring's tensor");
  await page.finish();
}

/** Long runs open at their end, runs of other lengths are not compared, a ring follows itself. */
async function rings() {
  const banks = (kind) => corpus(`bugs/f04-eight-banks.${kind}.json`);
  const page = await open(report("rings", banks("unsafe"), "--compare", banks("safe")), "rings");
  check(await page.locator(".steps").evaluate((list) => {
    const now = list.querySelector(".now").getBoundingClientRect();
    const box = list.getBoundingClientRect();
    return list.scrollTop > 0 && now.top >= box.top && now.bottom <= box.bottom + 1;
  }), "the list of steps shows the last one");
  const table = plain(await text(page, ".compare table"));
  check(/levels\s+11 of 10 iterations\s+9 of 8 iterations\s+—/.test(table), `lengths of other runs: ${table}`);
  check((await text(page, ".family")).includes("has next: itself, of another iteration"), "a ring follows itself");
  await page.finish();
}

/** What never starts stands after the end of the run, and says what it waits for. */
async function deadlock() {
  const page = await open(report("deadlock", corpus("bugs/b92-slot-released-by-wrong-stage.unsafe.json")), "deadlock");
  check((await text(page, ".queues .legend")).includes("never starts"), "the legend of what never starts");
  check(await hasColor(page, ".queues canvas", CLASH), "what never starts is red");
  const canvas = page.locator(".queues canvas");
  await canvas.scrollIntoViewIfNeeded();
  const box = await canvas.boundingBox();
  await page.mouse.move(box.x + box.width - 60, box.y + 14);
  const tip = plain(await text(page, ".tip"));
  for (const word of ["blur_row_b", "never starts", "waits for 1 of semaphore slot1_free"]) {
    check(tip.includes(word), `the tip says ${word}: ${tip}`);
  }
  await page.finish();
}

async function largePlan() {
  const file = join(folder, "large.json");
  writeFileSync(file, execFileSync(generatePlan, ["--ops", "100000", "--queues", "8"],
                                   { maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "ignore"] }));
  const out = report("large", file);
  const megabytes = readFileSync(out).length / 1e6;
  check(megabytes < 20, `the report of 10^5 ops has ${megabytes} MB`);
  const page = await open(out, "large");
  const started = Date.now();
  await page.locator(".memory canvas").first().focus();
  for (const key of ["+", "+", "ArrowRight", "-", "-"]) await page.keyboard.press(key);
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  check(Date.now() - started < 8000, `five keys take ${Date.now() - started} ms`);
  const drawn = await page.evaluate(() => JSON.parse(document.getElementById("data").textContent).plans[0].counts);
  check(drawn.kept_commands <= 60000 && drawn.commands >= 99000, "commands are reduced");
  await page.finish();
}

for (const part of [unsafePlan, safePlan, comparedPlans, hostileNames, policy, loopPlan, rings, deadlock, largePlan]) {
  try {
    await part();
  } catch (error) {
    check(false, `${part.name}: ${error.message}`);
  }
}
await browser.close();
rmSync(folder, { recursive: true, force: true });
console.log(`report_test: ${checks - failures} of ${checks} checks passed`);
process.exit(failures === 0 ? 0 : 1);
