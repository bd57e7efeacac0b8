// Makes one self-contained page of the program (WebAssembly), the page's style and its scripts: dist/jobset-sim.html.
import { build } from "esbuild";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const [program] = process.argv.slice(2);
if (!program) {
  console.error("usage: node build.mjs jobset-sim.wasm");
  process.exit(2);
}
const here = new URL(".", import.meta.url).pathname;
const script = async file => {
  const made = await build({ entryPoints: [here + file], bundle: true, minify: true, write: false, format: "iife" });
  return made.outputFiles[0].text;
};
// A script ends with the first end tag, also in the middle of a text.
const inside = text => text.replaceAll("</", "<\\/");
const worker = JSON.stringify(await script("worker.js"));
const parts = {
  "/*css*/": readFileSync(`${here}page.css`, "utf8"),
  "/*js*/": inside((await script("page.js")).replace('"/*worker*/"', () => worker)),
  "<!--wasm-->": gzipSync(readFileSync(program), { level: 9 }).toString("base64"),
};
let page = readFileSync(`${here}page.html`, "utf8");
for (const [place, part] of Object.entries(parts)) page = page.replace(place, () => part);
mkdirSync(`${here}dist`, { recursive: true });
writeFileSync(`${here}dist/jobset-sim.html`, page);
console.log(`${here}dist/jobset-sim.html: ${(page.length / 1e6).toFixed(1)} MB`);
