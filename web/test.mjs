// Uses the page in headless Chromium like a visitor. It must show what the program prints in a terminal.
//
//   node test.mjs JOBSET_SIM [PICTURES]
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

const [program, pictures] = process.argv.slice(2);
if (!program) {
  console.error("usage: node test.mjs JOBSET_SIM [PICTURES]");
  process.exit(2);
}
const url = new URL("dist/jobset-sim.html", import.meta.url).href;
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync"],
});
const DONE_MS = 120_000;

async function open(at, colorScheme = "light") {
  const page = await browser.newPage({ viewport: { width: 1280, height: 720 }, colorScheme });
  page.wrong = [];
  page.on("console", m => { if (["error", "warning"].includes(m.type())) page.wrong.push(m.text()); });
  page.on("pageerror", e => page.wrong.push(String(e)));
  page.on("request", r => { if (!/^(data|blob):/.test(r.url()) && r.url() !== at.split("#")[0]) page.wrong.push(`asks for ${r.url()}`); });
  await page.goto(at);
  await finished(page);
  return page;
}

/** Waits until the page shows the result of a run. */
const finished = page => page.waitForFunction(() =>
  document.querySelector("#text").dataset.code !== undefined && document.querySelector("#status").textContent.startsWith("took"),
null, { timeout: DONE_MS });

async function set(page, id, value) {
  await page.evaluate(() => { document.querySelector("#status").textContent = ""; });
  await page.$eval(`#${id}`, (input, to) => {
    input.value = to;
    for (const type of ["input", "change"]) input.dispatchEvent(new Event(type, { bubbles: true }));
  }, value);
  await finished(page);
}

const text = page => page.textContent("#text");
const code = page => page.getAttribute("#text", "data-code");

/** Runs the command that the page shows in a terminal, with the inputs of the page. */
async function inTerminal(page) {
  const dir = mkdtempSync(join(tmpdir(), "jobset-sim-web-"));
  for (const name of ["jobset", "scenario"]) writeFileSync(join(dir, `${name}.yaml`), await page.inputValue(`#${name}`));
  const command = (await page.textContent("#command")).replace(/^jobset-sim/, JSON.stringify(program));
  const printed = execFileSync("bash", ["-c", command], { cwd: dir, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  let chart = null;
  try { chart = readFileSync(join(dir, "out/waterfall.svg"), "utf8"); } catch { /* compare has none */ }
  rmSync(dir, { recursive: true });
  return { printed, chart };
}

const chart = page => page.$eval("#chart img", img => decodeURIComponent(img.src.slice(img.src.indexOf(",") + 1)));

const page = await open(url);
assert.equal(await code(page), "0", await text(page));
let native = await inTerminal(page);
assert.equal(await text(page), native.printed, "the text of a terminal");
assert.equal(await chart(page), native.chart, "the chart of a terminal");
if (pictures) await page.screenshot({ path: join(pictures, "browser-light.png") });
console.log("ok: the example, byte for byte what a terminal prints");

for (const [id, value] of [["grace", "90"], ["failures", "3"], ["spares", "1"], ["restarts", "1"], ["what", "evict"]]) {
  const before = await text(page);
  await set(page, id, value);
  assert.equal(await code(page), "0", await text(page));
  assert.notEqual(await text(page), before, `${id} has an effect`);
  native = await inTerminal(page);
  assert.equal(await text(page), native.printed);
  console.log(`ok: ${id} = ${value}`);
}

await page.evaluate(() => { document.querySelector("#status").textContent = ""; });
await page.click("#share");
await page.waitForFunction(() => location.hash.length > 1);
const link = page.url();
const shared = await open(link, "dark");
assert.equal(await text(shared), await text(page), "a link contains all inputs");
if (pictures) await shared.screenshot({ path: join(pictures, "browser-dark.png") });
console.log(`ok: a link of ${link.split("#")[1].length} characters shows the same result`);

await set(shared, "strategy", "all");
assert.equal(await code(shared), "0", await text(shared));
assert.match(await text(shared), /InPlaceRestart/);
if (pictures) await shared.screenshot({ path: join(pictures, "browser-compare.png") });
console.log("ok: three strategies");

await shared.fill("#jobset", "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: a}\nspec: {replicatedJob: []}\n");
await shared.evaluate(() => { document.querySelector("#status").textContent = ""; });
await shared.click("#run");
await finished(shared);
assert.equal(await code(shared), "2");
assert.match(await text(shared), /did you mean/i, await text(shared));
console.log("ok: an error suggests a correction");

for (const one of [page, shared]) assert.deepEqual(one.wrong, []);
console.log("ok: no console message and no network request");
await browser.close();
