// What .ci/pages does with each page, over Chromium's own debugging pipe: no packages.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [browser, out, ...pages] = process.argv.slice(2);
const OPEN_MS = 1000;
const [WIDTH, HEIGHT] = [1280, 720];
// Of a whole page, piece by piece: more would be too small to read.
const SLICE = 1400;
const profile = mkdtempSync(join(tmpdir(), "pages-"));
const flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars",
  "--remote-debugging-pipe", `--user-data-dir=${profile}`];
const chromium = spawn(browser, flags, { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });

let next = 1, rest = "";
const waiting = new Map(), listeners = new Set();
chromium.stdio[4].setEncoding("utf8").on("data", data => {
  const parts = (rest + data).split("\0");
  rest = parts.pop();
  for (const message of parts.map(p => JSON.parse(p))) {
    const answer = waiting.get(message.id);
    if (answer) {
      waiting.delete(message.id);
      message.error ? answer.reject(new Error(message.error.message)) : answer.resolve(message.result);
    } else {
      for (const listener of listeners) listener(message);
    }
  }
});
const send = (method, params = {}, sessionId) => new Promise((resolve, reject) => {
  waiting.set(next, { resolve, reject });
  chromium.stdio[3].write(JSON.stringify({ id: next++, method, params, sessionId }) + "\0");
});

async function look(page, theme) {
  const url = pathToFileURL(resolve(page)).href, wrong = [];
  const { targetId } = await send("Target.createTarget", { url: "about:blank" });
  const { sessionId } = await send("Target.attachToTarget", { targetId, flatten: true });
  const call = (method, params) => send(method, params, sessionId);
  const value = async expression => (await call("Runtime.evaluate", { expression, awaitPromise: true })).result.value;
  let loaded;
  const done = new Promise(resolve => { loaded = resolve; });
  const listener = ({ sessionId: of, method, params }) => {
    if (of !== sessionId) return;
    if (method === "Runtime.exceptionThrown") wrong.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
    if (method === "Runtime.consoleAPICalled" && ["error", "warning"].includes(params.type)) wrong.push(`console: ${params.args.map(a => a.value).join(" ")}`);
    if (method === "Log.entryAdded" && params.entry.level === "error") wrong.push(`log: ${params.entry.text}`);
    if (method === "Network.requestWillBeSent" && params.request.url !== url && !params.request.url.startsWith("data:")) wrong.push(`asks for ${params.request.url}`);
    if (method === "Page.loadEventFired") loaded();
  };
  listeners.add(listener);
  for (const domain of ["Page", "Runtime", "Log", "Network"]) await call(`${domain}.enable`);
  await call("Emulation.setDeviceMetricsOverride", { width: WIDTH, height: HEIGHT, deviceScaleFactor: 1, mobile: false });
  await call("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: theme }] });
  const begun = performance.now();
  await call("Page.navigate", { url });
  await done;
  await value("new Promise(r => requestAnimationFrame(() => requestAnimationFrame(() => r(1))))");
  const ms = Math.round(performance.now() - begun);
  if (ms > OPEN_MS) wrong.push(`took ${ms} ms to open`);
  const wide = await value("document.documentElement.scrollWidth");
  if (wide > WIDTH) wrong.push(`is ${wide} pixels wide`);
  const unnamed = await value("[...document.querySelectorAll('svg[role=img],button,a')].filter(e => !(e.getAttribute('aria-label') || e.textContent.trim())).length");
  if (unnamed) wrong.push(`${unnamed} charts, buttons or links without a name`);
  const name = join(out, `${basename(page, ".html")}-${theme}`);
  const shot = async (file, more) => {
    const { data } = await call("Page.captureScreenshot", { format: "png", ...more });
    writeFileSync(file, Buffer.from(data, "base64"));
  };
  await shot(`${name}.png`);
  const height = await value("document.documentElement.scrollHeight");
  for (let y = 0, i = 1; y < height; y += SLICE, i++) {
    const clip = { x: 0, y, width: WIDTH, height: Math.min(SLICE, height - y), scale: 1 };
    await shot(`${name}-${i}.png`, { captureBeyondViewport: true, clip });
  }
  if (theme === "light") {
    const { data } = await call("Page.printToPDF", { printBackground: true });
    writeFileSync(`${name}.pdf`, Buffer.from(data, "base64"));
  }
  listeners.delete(listener);
  await send("Target.closeTarget", { targetId });
  console.log(`${wrong.length ? "FAILED" : "ok"} ${page} ${theme}: ${ms} ms, ${height} pixels high`);
  for (const what of wrong) console.log(`  ${what}`);
  return wrong.length;
}

let failed = 0;
try {
  for (const page of pages) for (const theme of ["light", "dark"]) failed += await look(page, theme);
} finally {
  const gone = new Promise(resolve => chromium.once("exit", resolve));
  send("Browser.close").catch(() => {});
  await gone;
  rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
}
process.exit(failed ? 1 : 0);
