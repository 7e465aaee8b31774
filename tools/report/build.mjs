// Makes page.html: shell.html with report.css and the compiled *.ts in it, and their hashes in its
// policy. `node build.mjs --check` says whether the page that is there is the one it would make.
import { createHash } from "node:crypto";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
const compiler = here + "node_modules/typescript/bin/tsc";
if (!existsSync(compiler)) {
  console.error("build.mjs: no TypeScript compiler; run `npm ci` in tools/report first");
  process.exit(77);
}
rmSync(here + "build", { recursive: true, force: true });
execFileSync(process.execPath, [compiler, "-p", here + "tsconfig.json"], { stdio: "inherit" });

const read = (name) => readFileSync(here + name, "utf8");
const hash = (text) => createHash("sha256").update(text, "utf8").digest("base64");
const script = `(() => {\n${read("build/report.js")}})();\n`;
const style = read("report.css");
if (script.includes("</script") || style.includes("</style")) throw new Error("an end tag in the bundle");
const parts = { SCRIPT: script, STYLE: style, SCRIPT_HASH: hash(script), STYLE_HASH: hash(style) };
const page = read("shell.html").replace(/@([A-Z_]+)@/g, (_, name) => parts[name]);
if (page.split('{"plans":[]}').length !== 2) throw new Error("the place for the data must be there once");

if (process.argv.includes("--check")) {
  if (page === read("page.html")) process.exit(0);
  console.error("build.mjs: page.html is not what its sources give; run `npm run build` in tools/report");
  process.exit(1);
}
writeFileSync(here + "page.html", page);
console.log(`page.html: ${page.length} characters`);
