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
  const value = async expression => (await call("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true })).result.value;
  let loaded;
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
  // Other processes of the machine can delay one attempt.
  let ms = Infinity;
  for (let attempt = 0; attempt < 3 && ms > OPEN_MS; attempt++) {
    const done = new Promise(resolve => { loaded = resolve; });
    const begun = performance.now();
    await call("Page.navigate", { url });
    await done;
    await value("new Promise(r => requestAnimationFrame(() => requestAnimationFrame(() => r(1))))");
    ms = Math.round(performance.now() - begun);
  }
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
  await uses({ call, value, wrong, shot, name, theme });
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

// Uses the page as a reader does, with keyboard and mouse: themes, links, the zoom of a timeline, print.
async function uses({ call, value, wrong, shot, name, theme }) {
  const holds = async (what, expression) => { if (!await value(expression)) wrong.push(`does not hold: ${what}`); };
  const key = async (key, code = key, windowsVirtualKeyCode = 0, text = undefined) => {
    for (const type of ["keyDown", "keyUp"]) await call("Input.dispatchKeyEvent", { type, key, code, windowsVirtualKeyCode, text: type === "keyDown" ? text : undefined });
  };
  const enter = () => key("Enter", "Enter", 13, "\r"), tab = () => key("Tab", "Tab", 9);
  const mouse = (type, x, y, clickCount = 1) => call("Input.dispatchMouseEvent", { type, x, y, button: "left", buttons: type === "mouseReleased" ? 0 : 1, clickCount });

  // The first stop of the keyboard leads past the links, every other one is seen.
  await value("document.activeElement.blur(), scrollTo(0, 0)");
  await tab();
  await holds("the first stop skips to the report", "document.activeElement.classList.contains('skip') && document.activeElement.getBoundingClientRect().left >= 0");
  await tab();
  await holds("the second stop is the button of the theme", "document.activeElement.id === 'theme'");
  await holds("the stop of the keyboard is marked", "getComputedStyle(document.activeElement).outlineStyle !== 'none'");
  const paper = "getComputedStyle(document.body).backgroundColor", before = await value(paper);
  await enter();
  await holds("the button changes the theme", `${paper} !== ${JSON.stringify(before)} && document.getElementById("theme").textContent === ${JSON.stringify(theme === "dark" ? "Dark" : "Light")}`);
  await enter();
  await holds("and back", `${paper} === ${JSON.stringify(before)}`);
  const dead = await value("[...document.querySelectorAll('nav a')].filter(a => !document.querySelector(a.getAttribute('href'))).length");
  if (dead) wrong.push(`${dead} links lead nowhere`);
  for (const what of await value(CONTRAST)) wrong.push(what);
  if (await value("!!document.querySelector('.timeline')")) await zooms({ call, value, wrong, shot, name, holds, key, mouse });

  await call("Emulation.setEmulatedMedia", { media: "print" });
  await value("dispatchEvent(new Event('beforeprint'))");
  await holds("print shows all rows", "[...document.querySelectorAll('details')].every(d => d.open)");
  await holds("print has no buttons", "[...document.querySelectorAll('button, nav')].every(b => getComputedStyle(b).display === 'none' || !b.offsetParent)");
  await holds("print is black on white", "getComputedStyle(document.documentElement).getPropertyValue('--paper').trim() === '#fff'");
  await call("Emulation.setEmulatedMedia", { media: "", features: [{ name: "prefers-color-scheme", value: theme }] });
}

async function zooms({ call, value, wrong, shot, name, holds, key, mouse }) {
  const line = "document.querySelector('.timeline')";
  const box = () => value(`${line}.querySelector(".field svg").getAttribute("viewBox").split(" ").map(Number)`);
  const end = await value(`+${line}.dataset.end`);
  const wants = async (what, [from, span]) => {
    const [a, , w] = await box();
    if (Math.abs(a - from) > 2 || Math.abs(w - span) > 2) wrong.push(`${what}: sees ${a} + ${w} ms, not ${from} + ${span}`);
  };
  await value(`${line}.scrollIntoView({ block: "start", behavior: "instant" }), ${line}.focus()`);
  await key("0", "Digit0", 48, "0");
  await wants("0 shows the whole run", [0, end]);
  await key("+", "Equal", 187, "+");
  await wants("+ halves the window", [end / 4, end / 2]);
  await key("+", "Equal", 187, "+");
  await key("-", "Minus", 189, "-");
  await wants("- doubles it", [end / 4, end / 2]);
  await key("ArrowRight", "ArrowRight", 39);
  await wants("an arrow moves by a fifth", [end / 4 + end / 10, end / 2]);
  await key("ArrowLeft", "ArrowLeft", 37);
  await key("-", "Minus", 189, "-");
  await wants("- goes back to the whole run", [0, end]);
  for (let i = 0; i < 5; i++) await key("ArrowLeft", "ArrowLeft", 37);
  await wants("nothing is before the run", [0, end]);
  const field = await value(`(b => [b.left, b.top + b.height / 2, b.width])(${line}.querySelector(".field").getBoundingClientRect())`);
  const [left, y, width] = field, x = share => left + width * share;
  await mouse("mousePressed", x(0.25), y);
  await mouse("mouseMoved", x(0.4), y);
  await holds("what is dragged over is marked", `!!${line}.querySelector(".field b")`);
  await mouse("mouseMoved", x(0.5), y);
  await mouse("mouseReleased", x(0.5), y);
  await wants("dragging over a quarter shows that quarter", [end / 4, end / 4]);
  await holds("its mark is gone", `!${line}.querySelector(".field b")`);
  await holds("the axis has numbers with a unit", `[...${line}.querySelectorAll(".ticks span")].length > 1 && [...${line}.querySelectorAll(".ticks span")].every(t => / (ms|s|min|h|d)$/.test(t.textContent))`);
  await shot(`${name}-zoomed.png`);
  for (const n of [1, 2]) { await mouse("mousePressed", x(0.5), y, n); await mouse("mouseReleased", x(0.5), y, n); }
  await wants("a double click shows the whole run", [0, end]);
  const button = `${line}.querySelector("button[data-from]")`;
  await value(`${button}.click()`);
  await wants("a button shows its window", await value(`[+${button}.dataset.from, +${button}.dataset.to - +${button}.dataset.from]`));
  await holds("and is pressed", `${button}.getAttribute("aria-pressed") === "true"`);
  await value(`${line}.querySelector('button[data-zoom="0.5"]').click()`);
  await holds("and no longer, once it is left", `${button}.getAttribute("aria-pressed") === "false"`);
}

// Texts of a page against its paper, by WCAG's ratio: 4.5 at least, 3 for large ones.
const CONTRAST = `(() => {
  const lum = c => { const [r, g, b] = c.map(v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const rgb = text => (text.match(/[\\d.]+/g) ?? []).map(Number);
  const paper = e => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c.length === 3 || c[3] === 1) return c.slice(0, 3); } return [255, 255, 255]; };
  const found = new Map();
  for (const e of document.querySelectorAll("h1, h2, h3, p, li, td, th, a, button, summary, small, dt, dd, span, code, svg.chart text")) {
    if (!e.textContent.trim() || !e.getClientRects().length) continue;
    const style = getComputedStyle(e), own = e instanceof SVGElement ? style.fill : style.color;
    // On a colored piece of a chart, not on the paper: its color does not follow the theme.
    if (e instanceof SVGElement && !e.style.fill) continue;
    const [a, b] = [lum(rgb(own)), lum(paper(e))], ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const large = e instanceof SVGElement ? +e.getAttribute("font-size") >= 24 : parseFloat(style.fontSize) >= 24;
    if (ratio < (large ? 3 : 4.5)) found.set(own + paper(e), \`contrast \${ratio.toFixed(1)} of \${e.tagName} "\${e.textContent.trim().slice(0, 40)}" (\${own})\`);
  }
  return [...found.values()];
})()`;

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
