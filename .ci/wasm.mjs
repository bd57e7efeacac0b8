// Runs commands with the WebAssembly build in Node.js and with the native program, each in a directory of its own with the same inputs,
// and compares the exit code, standard output, standard error and all files.
//
//   node --no-warnings .ci/wasm.mjs JOBSET_SIM.wasm JOBSET_SIM
//
// The WebAssembly build has no PNG charts: PNG files, and lines of the output that name one, are not compared.
import { spawnSync } from "node:child_process";
import { closeSync, cpSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { WASI } from "node:wasi";

const [program, native] = process.argv.slice(2);
if (!native) {
  console.error("usage: node --no-warnings .ci/wasm.mjs JOBSET_SIM.wasm JOBSET_SIM");
  process.exit(2);
}
const module = await WebAssembly.compile(readFileSync(program));
const repository = new URL("..", import.meta.url).pathname;

/** Commands, and the exit code of each. */
const COMMANDS = [
  [0, "--version"],
  [0, "run scenarios/first-steps.yaml --out run"],
  [0, "run scenarios/node-drain.yaml --seeds 5 --out seeds"],
  [0, "run scenarios/first-steps.yaml --show-effective --format json --quiet"],
  [0, "compare scenarios/first-steps.yaml --strategies all --seeds 5 --out compare"],
  [0, "new -f scenarios/manifests/train-5000.yaml --out new"],
  [0, "report scenarios/first-steps.yaml --html run/index.html"],
  [0, "sweep sweeps/fleet.yaml --seeds 3 --out sweep"],
  [0, "lint scenarios/manifests/train-5000.yaml"],
  [0, "demo --out demo"],
  [2, "run scenarios/no-such-file.yaml"],
  [2, "run -f bad/manifest-enums.yaml"],
];

const STREAMS = ["stdout", "stderr"];
const INPUTS = new Map([["scenarios", "scenarios"], ["topologies", "topologies"], ["bad", "tests/it/bad"], ["sweeps", "tests/it/sweep"]]);

/** Keeps the WASI instances: Node.js aborts if one is garbage collected while its program writes. */
const kept = [];

/** Runs a command in a directory; its output goes to the files `stdout` and `stderr` beside it. Returns the exit code. */
function inNode(args, directory) {
  const files = STREAMS.map(name => openSync(join(base, name), "w"));
  const wasi = new WASI({
    version: "preview1", args: ["jobset-sim", ...args], env: {}, preopens: { ".": directory }, returnOnExit: true,
    stdin: openSync("/dev/null"), stdout: files[0], stderr: files[1],
  });
  kept.push(wasi);
  let code;
  try {
    code = wasi.start(new WebAssembly.Instance(module, wasi.getImportObject()));
  } catch (trap) {
    code = String(trap);
  }
  files.forEach(closeSync);
  return code;
}

function inTerminal(args, directory) {
  const files = STREAMS.map(name => openSync(join(base, name), "w"));
  const { status, error } = spawnSync(resolve(native), args, { cwd: directory, env: {}, stdio: ["ignore", ...files] });
  files.forEach(closeSync);
  return error ? String(error) : status;
}

/** The contents of all files below a directory except the inputs, by path. */
function contents(directory) {
  const entries = readdirSync(directory).filter(name => !INPUTS.has(name));
  const below = entries.flatMap(name => readdirSync(join(directory, name), { recursive: true }).map(file => join(name, file)));
  const files = below.filter(name => !name.endsWith(".png") && statSync(join(directory, name)).isFile()).sort();
  return new Map(files.map(name => [name, readFileSync(join(directory, name))]));
}

/** Text on the terminal without the names of PNG files, and without the numbers of system errors, which platforms define. */
function comparable(text) {
  const lines = text.replace(/ and \S+\.png\b/g, "").split("\n");
  return lines.filter(line => !/\.png\b/.test(line)).join("\n").replace(/ \(os error \d+\)/g, "");
}

const base = mkdtempSync(join(tmpdir(), "jobset-sim-wasm-"));
process.on("exit", () => rmSync(base, { recursive: true }));
const SIDES = { wasm: inNode, native: inTerminal };
for (const side of Object.keys(SIDES)) {
  for (const [name, from] of INPUTS) cpSync(join(repository, from), join(base, side, name), { recursive: true });
}
let failures = 0;
for (const [expected, command] of COMMANDS) {
  const begun = performance.now();
  const [wasm, native] = Object.entries(SIDES).map(([side, run]) => {
    const code = run(command.split(" "), join(base, side));
    const [stdout, stderr] = STREAMS.map(name => comparable(readFileSync(join(base, name), "utf8")));
    return { code, stdout, stderr, files: contents(join(base, side)) };
  });
  const different = ["code", ...STREAMS].filter(name => wasm[name] !== native[name]);
  const names = new Set([...wasm.files.keys(), ...native.files.keys()]);
  const isEqual = (left, right) => left !== undefined && right !== undefined && left.equals(right);
  different.push(...[...names].filter(name => !isEqual(wasm.files.get(name), native.files.get(name))));
  if (native.code === expected && different.length === 0) {
    console.log(`ok: ${command} (${((performance.now() - begun) / 1000).toFixed(1)} s)`);
  } else {
    failures++;
    console.log(`FAILED: ${command}: exit code ${wasm.code} (native ${native.code}, expected ${expected}); different: ${different.join(", ")}`);
    console.log(wasm.stderr.slice(0, 2000));
  }
}
console.log(`${contents(join(base, "wasm")).size} files are equal`);
console.log(`${COMMANDS.length - failures} passed, ${failures} failed`);
process.exit(failures ? 1 : 0);
