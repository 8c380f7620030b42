// Solves that the server runs for the page: begun, followed and stopped.

import { ask } from "./ask.js";

const EVERY = 600; // milliseconds between questions how far a solve has come
const FORBIDDEN = 403;
const OVER = ["done", "refused", "failed", "stopped"];

export const isOver = (solve) => OVER.includes(solve.state);

export class Solver {
  // *onChange* is called with each solve whenever it has come further, *onTrouble* with an error.
  constructor(token, onChange, onTrouble) {
    Object.assign(this, { token, onChange, onTrouble, timer: null });
  }

  async begin(variant) {
    const solve = await this.request("solve", variant);
    this.onChange(solve);
    this.follow();
  }

  async cancel(variant) {
    await this.request("cancel", variant);
    await this.look();
  }

  // A server that was started anew has another token: then ask for it, and request once more.
  async request(what, variant) {
    try {
      return await ask(what, { variant }, this.token);
    } catch (error) {
      if (error.status !== FORBIDDEN) throw error;
      const { token } = await ask("about", { variant });
      if (!token || token === this.token) throw error;
      this.token = token;
      return ask(what, { variant }, token);
    }
  }

  follow() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.look().catch(this.onTrouble), EVERY);
  }

  async look() {
    const solves = await ask("solves");
    solves.forEach(this.onChange);
    if (solves.some((solve) => !isOver(solve))) this.follow();
  }
}

// Return what shows how far a solve has come, with a button that stops it.
export function progressOf(solve, onCancel) {
  const box = document.createElement("div");
  box.className = "solving";
  const bar = document.createElement("progress");
  if (solve.share != null) bar.value = solve.share;
  bar.setAttribute("aria-label", `Solving ${solve.title}`);
  const text = document.createElement("span");
  const share = solve.share == null ? "" : ` ${Math.floor(100 * solve.share)} %`;
  text.textContent = solve.state === "estimating" ? "estimating …" : `solving: ${solve.phase || "starting"}${share} …`;
  const cancel = document.createElement("button");
  cancel.textContent = "Cancel";
  cancel.setAttribute("aria-label", `Cancel solving ${solve.title}`);
  cancel.addEventListener("click", () => onCancel(solve.variant));
  box.append(bar, text, cancel);
  return box;
}

// Return what a solve that is over without a database has to say; nothing for others.
export function outcome(solve) {
  const command = `retrograde solve ${solve.variant}`;
  return {
    refused: `Too large for the page: ${solve.words}. In a terminal: ${command}`,
    failed: `It could not be solved: ${solve.words}`,
    stopped: `Stopped${solve.words ? `: ${solve.words}` : ""}.`,
  }[solve.state] ?? "";
}
