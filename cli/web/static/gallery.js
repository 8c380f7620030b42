// The front: every game that is installed and every database, what is known of them, and what is small can be solved.

import { ask } from "./ask.js";
import { pictureOf } from "./backend.js";
import { writeAddress } from "./address.js";
import { isOver, outcome, progressOf, Solver } from "./solves.js";
import { sentence } from "./troubles.js";
import { agreed, badge, expects, measured, movesOf, number, plies } from "./words.js";
import { capital } from "./game.js";

const $ = (id) => document.getElementById(id);
const MANY = 12; // more cards than this can be filtered

let shown = null;
let solver = null;
const solves = new Map(); // by variant

function make(name, properties, ...content) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...content);
  return made;
}

async function trying(action) {
  $("trouble").hidden = true;
  const before = document.activeElement;
  try {
    await action();
  } catch (error) {
    const way = make("button", { textContent: error.status ? "Close" : "Try again" });
    way.addEventListener("click", () => {
      before.focus();
      trying(error.status ? load : action);
    });
    $("trouble").replaceChildren(make("p", {}, sentence(error.message)), way);
    $("trouble").hidden = false;
  }
}

async function load() {
  shown = await ask("gallery");
  solver ??= new Solver(shown.token, changed, (error) => trying(() => { throw error; }));
  solver.token = shown.token;
  solves.clear();
  for (const solve of shown.solves) solves.set(solve.variant, solve);
  show();
  if (shown.solves.some((solve) => !isOver(solve))) solver.follow();
}

// A solve has come further.
function changed(solve) {
  const before = solves.get(solve.variant);
  solves.set(solve.variant, solve);
  if (before?.state !== solve.state) $("said").textContent = `${solve.title}: ${outcome(solve) || solve.state}`;
  if (solve.state === "done" ? before?.state !== "done" : !shown.cards.some((card) => card.variant === solve.variant)) trying(load);
  else showSolve(solve.variant);
}

// What is shown

function show() {
  const focused = document.activeElement?.closest("[data-variant]")?.dataset.variant;
  for (const solved of [true, false]) {
    const cards = shown.cards.filter((card) => card.solved === solved);
    $(solved ? "solved" : "unsolved").replaceChildren(...cards.map(cardOf));
  }
  $("none").hidden = shown.cards.some((card) => card.solved);
  $("filters").hidden = shown.cards.length <= MANY;
  $("another").hidden = !shown.may_solve;
  showKinds();
  filter();
  for (const variant of solves.keys()) showSolve(variant);
  if (focused) cardNamed(focused)?.querySelector("a, button")?.focus();
}

const cardNamed = (variant) => [...document.querySelectorAll("[data-variant]")].find((card) => card.dataset.variant === variant);

function cardOf(card) {
  const picture = make("img", { src: pictureOf(card.variant), alt: "", loading: "lazy", width: 160, height: 160 });
  picture.addEventListener("error", () => picture.classList.add("none"));
  const name = card.solved || card.playable ? linkTo(card) : card.title;
  const made = make("li", { className: "card panel" }, picture, make("h3", {}, name), card.solved ? known(card) : unknown(card));
  if (card.summary) made.append(make("p", { className: "note" }, card.summary));
  made.dataset.variant = card.variant;
  return made;
}

function linkTo({ variant, title }) {
  const settings = { players: ["human", "computer"], skill: 1, hints: true };
  return make("a", { href: writeAddress({ variant, start: null, moves: [], ...settings }) }, title);
}

// What is known of a solved variant: what its start is worth, how many positions it has, the longest win.
function known(card) {
  const facts = make("ul", { className: "facts" });
  if (card.start) {
    const { value, remoteness, metric, measure } = card.start;
    const soon = !remoteness ? "" : ` in ${(card.seats === "one" ? movesOf : plies)(remoteness)}`;
    facts.append(make("li", {}, badge(value), metric === "expectation" ? capital(expects(card.seats === "one" ? "You" : firstOf(card), measure)) : `${startOf(card, value, remoteness)}${soon}`));
    if (measure && metric !== "expectation") facts.append(make("li", {}, measured({ metric, measure })));
  }
  facts.append(make("li", {}, `${number(card.positions)} positions`));
  if (card.longest_win != null) facts.append(make("li", {}, card.seats === "one" ? `Farthest: ${movesOf(card.longest_win)}` : `Longest win: ${plies(card.longest_win)}`));
  return facts;
}

const firstOf = ({ first }) => capital(first) || "The first player";

// What the start of a variant is worth, in words.
function startOf(card, value, remoteness) {
  const { seats, first } = card;
  const who = firstOf(card);
  if (value === "tie" && remoteness === 0) return "Over at the start";
  if (seats === "one") return { win: "Solved", lose: "Cannot be solved", tie: "A tie", draw: "Goes on for ever" }[value];
  if (seats === "several") return { win: `${who} gets the most`, lose: `Another gets more than ${first || "the first player"}`, tie: "A tie", draw: "A draw" }[value];
  return { win: `${who} ${agreed(who, "wins")}`, lose: `${who} ${agreed(who, "loses")}`, tie: "A tie", draw: "A draw" }[value];
}

// A button that solves, or where this server does not, the command.
function unknown(card) {
  const box = make("div", { className: "unknown" });
  if (shown.may_solve) {
    const button = make("button", { textContent: "Solve" });
    button.setAttribute("aria-label", `Solve ${card.title}`);
    button.addEventListener("click", () => trying(() => solver.begin(card.variant)));
    box.append(button, make("div", { className: "progress" }));
  } else box.append("In a terminal: ", make("code", { textContent: `retrograde solve ${card.variant}` }));
  if (card.playable) box.append(make("p", { className: "note" }, "Not solved yet. You can play it against a search."));
  return box;
}

function showSolve(variant) {
  const solve = solves.get(variant);
  const card = cardNamed(variant);
  const box = card?.querySelector(".progress");
  if (!box) return;
  const inside = card.contains(document.activeElement);
  const words = outcome(solve);
  card.querySelector(".unknown > button").hidden = !isOver(solve);
  box.replaceChildren(...(isOver(solve) ? (words ? [make("p", {}, words)] : []) : [progressOf(solve, (one) => trying(() => solver.cancel(one)))]));
  if (inside) card.querySelector("button:not([hidden])")?.focus();
}

function showKinds() {
  const chosen = $("game").value;
  $("game").replaceChildren(...shown.games.map((kind) => new Option(kind.title, kind.name)));
  if (chosen) $("game").value = chosen;
  showHelp();
}

function showHelp() {
  const kind = shown.games.find((one) => one.name === $("game").value);
  const [, example] = kind?.example.split(/:(.*)/) ?? [];
  $("options-help").textContent = kind ? `${example ? `For example ${example}; ${kind.options}` : capital(kind.options)}.` : "";
}

// Solve what the form names, or play it without: the options of the game that is chosen, or a whole variant. One that is solved is linked to.
async function solveAnother() {
  $("already").replaceChildren();
  const options = $("options").value.trim();
  const [name] = options.split(":");
  const whole = shown.games.some((kind) => kind.name === name);
  if (whole) $("game").value = name;
  showHelp();
  const about = await ask("about", { variant: whole ? options : [$("game").value, options].filter(Boolean).join(":") });
  if (about.state === "solved") $("already").append("Already solved: ", linkTo(about), ".");
  else {
    if (about.playable) $("already").append("You can play it now against a search: ", linkTo(about), ".");
    await solver.begin(about.variant);
  }
}

function filter() {
  const [text, kind, size] = ["filter", "kind", "size"].map((id) => $(id).value.trim().toLowerCase());
  const [least, most] = size.split("-").map(Number);
  const fits = (card) => `${card.title} ${card.variant}`.toLowerCase().includes(text) && (!kind || card.kind === kind) &&
    (!size || (card.solved && card.positions > least && card.positions <= most));
  const wanted = new Set(shown.cards.filter(fits).map((card) => card.variant));
  for (const card of document.querySelectorAll(".card")) card.hidden = !wanted.has(card.dataset.variant);
  $("unsolved-part").hidden = !document.querySelector("#unsolved .card:not([hidden])");
}

$("filters").addEventListener("input", filter);
$("filters").addEventListener("submit", (event) => event.preventDefault());
$("game").addEventListener("change", showHelp);
$("another").addEventListener("submit", (event) => {
  event.preventDefault();
  trying(solveAnother);
});
window.addEventListener("pageshow", (event) => event.persisted && trying(load));
trying(load);
