// The page: converts its inputs to command lines, runs them, and shows their output. It computes nothing itself.
import { example } from "./example.js";

const WORKER = "/*worker*/";
const byId = id => document.getElementById(id);
const FIELDS = ["cluster", "spares", "failures", "apart", "what", "grace", "restarts", "strategy", "seed"];
const KEEP = -1;
const UNITS = { apart: " s", grace: " s" };

const waiting = new Map();
let last = 0;
let worker;

async function load() {
  const text = byId("program").textContent;
  const packed = Uint8Array.from(atob(text), c => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const program = await new Response(stream).arrayBuffer();
  worker = new Worker(URL.createObjectURL(new Blob([WORKER], { type: "text/javascript" })));
  worker.onmessage = ({ data }) => { waiting.get(data.id)(data); waiting.delete(data.id); };
  await ask({ program });
  byId("program").textContent = "";
}

const ask = message => new Promise(answer => {
  waiting.set(++last, answer);
  worker.postMessage({ ...message, id: last });
});
const jobsetSim = (args, files) => ask({ args, files });

/** The inputs, as stored in a link. `scenario` is null unless it was edited. */
function state() {
  const set = Object.fromEntries(FIELDS.map(id => [id, byId(id).value]));
  return { jobset: byId("jobset").value, scenario: ownScenario ? byId("scenario").value : null, ...set };
}

let ownScenario = false;

function restore(from) {
  byId("jobset").value = from.jobset ?? example;
  for (const id of FIELDS) if (from[id] !== undefined) byId(id).value = from[id];
  ownScenario = typeof from.scenario === "string";
  if (ownScenario) byId("scenario").value = from.scenario;
  label();
}

/** Updates the value shown beside each slider. */
function label() {
  for (const output of document.querySelectorAll("output")) {
    const id = output.htmlFor[0], value = Number(byId(id).value);
    output.value = value === KEEP ? "from the JobSet" : `${value}${UNITS[id] ?? ""}`;
  }
  byId("whose").hidden = !ownScenario;
  byId("whose").textContent = "This scenario was edited, so the setting Cluster has no effect. Clear the scenario to generate it again.";
}

/** Returns the edited scenario, or generates one with `jobset-sim new`. */
async function made() {
  if (ownScenario) return { text: byId("scenario").value, files: {} };
  const cluster = byId("cluster").value;
  const args = ["new", "-f", "jobset.yaml", "--out", "made", ...(cluster ? ["-t", cluster] : [])];
  const done = await jobsetSim(args, { "jobset.yaml": byId("jobset").value });
  if (done.code !== 0) throw done;
  const inside = Object.entries(done.files).filter(([name]) => name.startsWith("made/"));
  const files = Object.fromEntries(inside.map(([name, text]) => [name.slice("made/".length), text]));
  return { text: files["scenario.yaml"], files };
}

/** The first pod of each Job; failures hit them in turn. */
async function firstPods(files) {
  const done = await jobsetSim(["run", "scenario.yaml", "--show-effective", "--format", "json", "--quiet"], files);
  if (done.code !== 0) throw done;
  const jobs = jobset => jobset.spec.replicatedJobs.flatMap(group =>
    Array.from({ length: Math.min(group.replicas, 6) }, (_, job) => `${jobset.metadata.name}-${group.name}-${job}-0`));
  return JSON.parse(done.stdout).flatMap(jobs);
}

/** Converts the settings to options of the program. */
async function options(files) {
  const value = id => byId(id).value, number = id => Number(value(id));
  const args = [];
  const set = (path, to) => args.push("--set", `${path}=${to}`);
  const islands = /^ *islands: (\d+)$/m.exec(files["scenario.yaml"]);
  if (number("spares") > 0) set("topology.pools.0.islands", number("spares") + Number(islands?.[1] ?? 1));
  if (number("grace") !== KEEP) {
    set("spec.replicatedJobs.*.template.spec.template.spec.terminationGracePeriodSeconds", value("grace"));
    set("timing.containerStop", `${value("grace")}s`);
  }
  if (number("restarts") !== KEEP) set("spec.failurePolicy.maxRestarts", value("restarts"));
  const pods = number("failures") ? await firstPods(files) : [];
  for (let n = 0; n < number("failures"); n++) {
    args.push("--fail", `${pods[n % pods.length]}:${value("what")}@ready+${(n + 1) * number("apart")}s`);
  }
  return [...args, "--seed", value("seed")];
}

async function play() {
  const { text, files } = await made();
  byId("scenario").value = text;
  const all = { ...files, "jobset.yaml": byId("jobset").value, "scenario.yaml": text };
  const set = await options(all);
  const compares = byId("strategy").value === "all";
  const args = compares
    ? ["compare", "scenario.yaml", "--strategies", "all", ...set, "--seeds", "5"]
    : ["run", "scenario.yaml", ...set, "--out", "out"];
  byId("command").textContent = ["jobset-sim", ...args].map(quoted).join(" ");
  return jobsetSim(args, all);
}

const quoted = word => /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;

function show({ code, stdout, stderr, files }) {
  const text = byId("text");
  text.textContent = code === 0 ? stdout : stderr + stdout;
  text.classList.toggle("wrong", code !== 0);
  text.dataset.code = code;
  const svg = files?.["out/waterfall.svg"], figure = byId("chart");
  figure.hidden = !svg;
  if (svg) {
    const picture = new Image();
    picture.alt = "Waterfall of the restart: its steps over time, and what each waited for";
    picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
    figure.replaceChildren(picture);
  }
}

let busy = false, again = false;
async function run() {
  if (busy) { again = true; return; }
  busy = true;
  byId("status").textContent = "running …";
  const begun = performance.now();
  try { show(await play()); } catch (failed) {
    show(failed.stderr === undefined ? { code: 1, stdout: "", stderr: String(failed) } : failed);
  }
  byId("status").textContent = `took ${((performance.now() - begun) / 1000).toFixed(1)} s`;
  busy = false;
  if (again) { again = false; run(); }
}

/** base64url of the deflated state: it is part of the link after #, which browsers do not send to a server. */
async function packed(text) {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  return btoa(Array.from(bytes, b => String.fromCharCode(b)).join("")).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), c => c.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"))).text();
}

async function share() {
  location.hash = await packed(JSON.stringify(state()));
  try {
    await navigator.clipboard.writeText(location.href);
    byId("status").textContent = "link copied to the clipboard";
  } catch {
    byId("status").textContent = "the link is in the address bar";
  }
}

async function fromLink() {
  try { return location.hash.length > 1 ? JSON.parse(await unpacked(location.hash.slice(1))) : {}; } catch {
    byId("status").textContent = "the link is incomplete; showing the example";
    return {};
  }
}

function tabs() {
  const all = document.querySelectorAll("[role=tab]");
  for (const tab of all) {
    tab.onclick = () => {
      for (const one of all) {
        one.setAttribute("aria-selected", one === tab);
        byId(one.getAttribute("aria-controls")).hidden = one !== tab;
      }
    };
  }
}

async function begin() {
  tabs();
  restore(await fromLink());
  await load();
  const { stdout: version } = await jobsetSim(["--version"], {});
  byId("foot").textContent = `${version.trim()}, compiled to WebAssembly. The same command gives the same bytes in a terminal.`;
  const { stdout: list } = await jobsetSim(["topology", "list", "--format", "json"], {});
  for (const { name, nodes } of JSON.parse(list)) byId("cluster").add(new Option(`${name}, ${nodes.toLocaleString("en")} nodes`, name));
  const kept = await fromLink();
  if (kept.cluster) byId("cluster").value = kept.cluster;
  byId("inputs").onsubmit = event => { event.preventDefault(); run(); };
  byId("inputs").oninput = event => {
    if (event.target.id === "scenario") ownScenario = event.target.value.trim() !== "";
    label();
  };
  byId("inputs").onchange = event => { if (event.target.type !== "textarea") run(); };
  byId("share").onclick = share;
  run();
}

begin();
