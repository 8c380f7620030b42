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
absent.seal()
PublishedSite`;

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

const ready = (async () => {
  const zip = fetchAsIs(`${ROOT}python/rules.zip`).then((response) => response.arrayBuffer());
  const python = await loadPyodide({ indexURL: `${ROOT}python/` });
  python.unpackArchive(await zip, "zip", { extractDir: "/rules" });
  return python.runPython(START)(read);
})();

addEventListener("message", async ({ data: { id, path, asked } }) => {
  try {
    const [text, status] = (await ready).answer(path, asked).toJs();
    postMessage({ id, status, answer: JSON.parse(text) });
  } catch (error) {
    postMessage({ id, status: 500, answer: `Python failed in this browser: ${String(error).trim().split("\n").at(-1)}` });
  }
});
