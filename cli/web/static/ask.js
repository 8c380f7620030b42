// Questions and requests of the page to its back end. An error says in words what was wrong.

import { request } from "./backend.js";

const SOON = 300; // milliseconds after which a person is told that something is under way

let underWay = 0;

// Return an answer, JSON or a text. The *token* of our page goes with requests that change something.
export async function ask(path, parameters = {}, token = null) {
  underWay += 1;
  const timer = setTimeout(showBusy, SOON);
  try {
    return await request(path, parameters, token);
  } finally {
    clearTimeout(timer);
    underWay -= 1;
    showBusy();
  }
}

// The error of a back end that has answered that it cannot; *status* is that of HTTP. Other errors have no status.
export function refusal(message, status) {
  return Object.assign(new Error(message), { status });
}

function showBusy() {
  const box = document.getElementById("busy");
  if (box) box.textContent = underWay ? "thinking …" : "";
}
