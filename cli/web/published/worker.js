// Answers what was not written beforehand, in a thread of its own: Python, by Pyodide, with the rules of the games.

import { loadPyodide } from "../python/pyodide.mjs";

const ROOT = new URL("..", import.meta.url).href;
const whole = new Map(); // files that the host sends as a whole only
const START = `
import os, sys
os.environ["RETROGRADE_HOME"] = "/databases"
sys.dont_write_bytecode = True
sys.path.insert(0, "/rules")
import absent
absent.install()
from retrograde.cli.web.published.browser import PublishedSite
absent.seal()`;

// The largest file of Pyodide is packed, whatever the host does. Pyodide asks for it by its own name.
const fetchAsIs = fetch;
globalThis.fetch = async (url, ...options) => {
  if (!String(url).endsWith(".asm.wasm")) return fetchAsIs(url, ...options);
  const bytes = await (await fetchAsIs(`${url}.gz`)).arrayBuffer();
  const packed = new Uint8Array(bytes)[0] === 0x1f; // else the host has told the browser to unpack it
  const stream = new Blob([bytes]).stream();
  return new Response(packed ? stream.pipeThrough(new DecompressionStream("gzip")) : stream, { headers: { "Content-Type": "application/wasm" } });
};

function get(url, range) {
  const request = new XMLHttpRequest();
  request.open("GET", url, false);
  request.responseType = "arraybuffer";
  if (range) request.setRequestHeader("Range", range);
  try {
    request.send();
  } catch {
    return { status: 0 };
  }
  return { status: request.status, bytes: new Uint8Array(request.response ?? []), range: request.getResponseHeader("Content-Range") ?? "" };
}

// Return a file of the site, or its bytes from *begin* to *end*, by a range where the host knows ranges; else undefined.
function read(path, begin, end) {
  const url = ROOT + path.split("/").map(encodeURIComponent).join("/");
  if (begin !== undefined && !whole.has(url)) {
    const { status, bytes, range } = get(url, `bytes=${begin}-${end - 1}`);
    if (status === 206 && range.startsWith(`bytes ${begin}-${end - 1}/`) && bytes.length === end - begin) return bytes;
    if (status === 200) whole.set(url, bytes);
    else if (status !== 206) return undefined;
  }
  if (!whole.has(url)) {
    const { status, bytes } = get(url);
    if (status !== 200) return undefined;
    if (begin === undefined) return bytes;
    whole.set(url, bytes); // a host that packs ranges, or sends others than were asked for
  }
  return whole.get(url).subarray(begin, end);
}

// Start Python, or restore it from an image of its memory, in which all modules are loaded already.
async function load(zip, image) {
  const python = await loadPyodide({ indexURL: `${ROOT}python/`, ...(image ? { _loadSnapshot: image } : { _makeSnapshot: true }) });
  python.unpackArchive(zip, "zip", { extractDir: "/rules" }); // an image has no files
  if (!image) python.runPython(START);
  return python;
}

// An image for the next visit is kept under the digest of the modules. Browsers keep such things only for https and localhost.
let forgetImage = () => {};

async function start() {
  const zip = await (await fetchAsIs(`${ROOT}python/rules.zip`)).arrayBuffer();
  const cache = await globalThis.caches?.open(`${ROOT}python/`).catch(() => undefined);
  if (!cache) return load(zip);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", zip));
  const key = `${ROOT}python/image/${digest.join("-")}`;
  forgetImage = () => cache.delete(key);
  try {
    const kept = await cache.match(key);
    if (kept) return await load(zip, new Uint8Array(await kept.arrayBuffer()));
  } catch { /* the image is of no use: make another */ }
  const python = await load(zip);
  const image = new Response(python.makeMemorySnapshot());
  const others = (await cache.keys()).filter(({ url }) => url !== key);
  Promise.all(others.map((one) => cache.delete(one))).then(() => cache.put(key, image)).catch(() => {}); // the disk is full
  return python;
}

const ready = start().then((python) => python.globals.get("PublishedSite")(read));

addEventListener("message", async ({ data: { id, path, asked } }) => {
  try {
    const [text, status] = (await ready).answer(path, asked).toJs();
    postMessage({ id, status, answer: JSON.parse(text) });
  } catch (error) {
    forgetImage();
    postMessage({ id, status: 500, answer: `Python failed in this browser: ${String(error).trim().split("\n").at(-1)}` });
  }
});
