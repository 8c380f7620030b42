// Trouble in words, and a way on: try again, solve the game, type a command, play something else.

import { ask } from "./ask.js";
import { outcome, progressOf, isOver, Solver } from "./solves.js";

function button(text, action) {
  const made = document.createElement("button");
  made.textContent = text;
  made.addEventListener("click", action);
  return made;
}

function paragraph(...content) {
  const made = document.createElement("p");
  made.append(...content);
  return made;
}

// Fill a box with what was wrong with opening a variant; *again* tries once more, *fresh* goes to its start. Returns what
// people call the variant.
export async function showTrouble(box, error, variant, { again, fresh }) {
  const ways = document.createElement("div");
  ways.className = "bar";
  const home = Object.assign(document.createElement("a"), { href: "./", textContent: "All games", className: "button" });
  const about = error.status && await ask("about", { variant }).catch(() => null);
  const content = [paragraph(wordsOf(error, about))];
  if (about?.command) content.push(paragraph(Object.assign(document.createElement("code"), { textContent: about.command })));
  if (about?.may_solve) {
    const progress = document.createElement("div");
    ways.append(solveButton(about, progress, again));
    content.push(progress);
  } else if (about?.state === "solved") ways.append(button("From the start", fresh));
  ways.append(button("Try again", again), home);
  box.replaceChildren(...content, ways);
  box.hidden = false;
  ways.firstChild.focus();
  return about?.title ?? variant;
}

function wordsOf(error, about) {
  if (about?.state !== "unsolved") return sentence(about?.command ? `${about.words}:` : about?.words || error.message);
  const here = about.may_solve ? "Solve it here, or in a terminal:" : "Solve it in a terminal:";
  return `${about.title} is not solved yet. ${here}`;
}

function solveButton(about, progress, again) {
  const show = (solve) => {
    if (solve.variant !== about.variant) return;
    made.hidden = !isOver(solve);
    if (solve.state === "done") again();
    else progress.replaceChildren(isOver(solve) ? paragraph(outcome(solve)) : progressOf(solve, (one) => solver.cancel(one)));
    if (document.activeElement === made || document.activeElement === document.body) (made.hidden ? progress.querySelector("button") : made)?.focus();
  };
  const solver = new Solver(about.token, show, (error) => progress.replaceChildren(paragraph(sentence(error.message))));
  const made = button(`Solve ${about.title}`, () => solver.begin(about.variant).catch(solver.onTrouble));
  return made;
}

// An error's text as a sentence; the name of a variant at its beginning stays as it is.
export function sentence(text) {
  const begin = /^[a-z]+[ ,]/.test(text) ? text[0].toUpperCase() : text[0];
  return `${begin}${text.slice(1)}${/[.?!…:]$/.test(text) ? "" : "."}`;
}
