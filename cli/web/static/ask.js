// Questions and wishes to the server: each answer is JSON, and an error says in words what was wrong.

const SOON = 300; // milliseconds after which a person is told that something is under way

// The server does not answer at all.
export class Gone extends Error {}

// The server has answered that it cannot; *status* is that of HTTP.
export class Refused extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

let underWay = 0;

export async function ask(path, parameters) {
  return (await answer(path, parameters)).json();
}

export async function askText(path, parameters) {
  return (await answer(path, parameters)).text();
}

// Ask for something to be done; the token says that it is our page that asks.
export async function wish(path, parameters, token) {
  return (await answer(path, parameters, { method: "POST", headers: { "x-retrograde": token } })).json();
}

async function answer(path, parameters, options) {
  const query = new URLSearchParams(Object.entries(parameters ?? {}).filter(([, value]) => value != null));
  underWay += 1;
  const timer = setTimeout(showBusy, SOON);
  try {
    const response = await fetch(`/api/${path}?${query}`, options).catch(() => {
      throw new Gone("The server does not answer. Is “retrograde serve” still running?");
    });
    if (response.ok) return response;
    const { error } = await response.json().catch(() => ({}));
    throw new Refused(error ?? response.statusText, response.status);
  } finally {
    clearTimeout(timer);
    underWay -= 1;
    showBusy();
  }
}

function showBusy() {
  const box = document.getElementById("busy");
  if (box) box.textContent = underWay ? "thinking …" : "";
}
