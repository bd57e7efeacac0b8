// Runs the program once per message: receives arguments and files, returns its text and files.
import { ConsoleStdout, Directory, File, OpenFile, PreopenDirectory, WASI } from "@bjorn3/browser_wasi_shim";

const encoder = new TextEncoder();
const INTERNAL = 1;
let module;

function run(args, files) {
  const said = { stdout: "", stderr: "" };
  const stream = name => {
    const decoder = new TextDecoder();
    return new ConsoleStdout(bytes => { said[name] += decoder.decode(bytes, { stream: true }); });
  };
  const tree = new Map(Object.entries(files).map(([name, text]) => [name, new File(encoder.encode(text))]));
  const root = new PreopenDirectory(".", tree);
  const fds = [new OpenFile(new File([])), stream("stdout"), stream("stderr"), root];
  const wasi = new WASI(["jobset-sim", ...args], ["NO_COLOR=1"], fds);
  const instance = new WebAssembly.Instance(module, { wasi_snapshot_preview1: wasi.wasiImport });
  let code;
  try {
    code = wasi.start(instance);
  } catch (trap) {
    code = INTERNAL;
    said.stderr += `\n${trap}`;
  }
  return { code, ...said, files: texts(root.dir, "") };
}

/** The contents of all files after a run, by path. */
function texts(directory, prefix) {
  const found = {};
  for (const [name, entry] of directory.contents) {
    if (entry instanceof Directory) Object.assign(found, texts(entry, `${prefix}${name}/`));
    else found[prefix + name] = new TextDecoder().decode(entry.data);
  }
  return found;
}

self.onmessage = async ({ data }) => {
  if (data.program) {
    module = await WebAssembly.compile(data.program);
    self.postMessage({ id: data.id });
  } else {
    self.postMessage({ id: data.id, ...run(data.args, data.files) });
  }
};
