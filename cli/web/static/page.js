// The page: a board to play on. The server draws the board and knows all values; here are only the game as it goes and
// what is said of it. The address holds variant and position, so that a link can be shared.

import { ask } from "./ask.js";
import { Board } from "./board.js";
import { countsChart, historyChart } from "./charts.js";

const $ = (id) => document.getElementById(id);
const PLAYERS = { human: "you", computer: "perfect player" };
const PAUSE = 350; // milliseconds before the computer moves

let variants = [];
let steps = []; // the positions of the game as the server tells them, each with the name of the move that led there
let turnNumber = 0; // so that an answer that comes too late is known for one

const now = () => steps[steps.length - 1];
const mover = () => (steps.length + 1) % 2; // 0 where who began is to move
const seat = (side) => $(side ? "second" : "first");
const plies = (count) => `${count} ${count === 1 ? "ply" : "plies"}`;

const setUp = (position) => trying(() => begin(now().variant, position));
const board = new Board($("board"), (name) => trying(() => move(name)), showMoves, setUp);

async function trying(action) {
  $("error").textContent = "";
  try {
    await action();
  } catch (error) {
    $("error").textContent = error.message;
  }
}

// The game

async function begin(variant, position) {
  turnNumber += 1;
  const first = await ask("position", { variant, position, line: true });
  steps = [first];
  $("variant").value = variant;
  $("summary").textContent = first.summary;
  await show();
}

async function move(name) {
  const choice = now().moves.find((one) => one.name === name);
  if (!choice) return;
  const number = (turnNumber += 1);
  const next = await ask("position", {
    variant: now().variant, position: choice.position, last: choice.places.join(","), line: true,
  });
  if (number !== turnNumber) return;
  steps.push({ ...next, name, choice });
  await show();
}

async function letComputerMove() {
  if (now().over || seat(mover()).value !== "computer") return;
  const number = turnNumber;
  await new Promise((resolve) => setTimeout(resolve, PAUSE));
  if (number !== turnNumber) return;
  const reply = await ask("reply", {
    variant: now().variant, position: now().position, skill: $("skill").value,
  });
  if (number === turnNumber) await move(reply.name);
}

async function undo() {
  turnNumber += 1;
  if (steps.length > 1) steps.pop();
  while (steps.length > 1 && seat(mover()).value === "computer") steps.pop();
  if (seat(mover()).value === "computer") seat(mover()).value = "human";
  await show();
}

// What is shown

async function show() {
  const { variant, position } = now();
  history.replaceState(null, "", `/?${new URLSearchParams({ v: variant, p: position })}`);
  document.title = `${variant} – retrograde`;
  board.show(now(), seat(mover()).value === "human");
  $("position").value = position;
  $("status").textContent = sentence();
  $("undo").disabled = steps.length < 2;
  $("line").textContent = now().line.join(" ") || "The game is over.";
  showMoves();
  showHistory();
  await trying(letComputerMove);
}

function sentence() {
  const { value, remoteness, over, ending, turn, distance } = now();
  const who = turn ? `${turn[0].toUpperCase()}${turn.slice(1)}` : ["First", "Second"][mover()];
  const mine = seat(mover()).value === "human";
  const other = mover() ? "first" : "second";
  if (over) {
    const how = ending ? `: ${ending}` : "";
    if (value === "tie" || value === "draw") return `A ${value}${how}.`;
    const winner = value === "win" ? ["first", "second"][mover()] : other;
    return `The ${winner} player has won${how}.`;
  }
  const toMove = `${who} to move`;
  if (!$("hints").checked) return mine ? `${toMove}: your turn.` : `${toMove}.`;
  const far = distance ? ` (${distance})` : "";
  const you = mine ? "you" : "it";
  const verb = mine ? "" : "s";
  return {
    win: `${toMove}: ${you} win${verb} in ${plies(remoteness)}${far} with right play.`,
    lose: `${toMove}: ${you} lose${verb} in ${plies(remoteness)}${far} unless the other side errs.`,
    tie: `${toMove}: a tie in ${plies(remoteness)} if both play right.`,
    draw: `${toMove}: a draw if both play right.`,
  }[value];
}

function showMoves() {
  const list = $("moves");
  list.replaceChildren();
  const mine = seat(mover()).value === "human";
  const moves = board.fitting();
  const shown = $("hints").checked ? moves : [...moves].sort((a, b) => a.name.localeCompare(b.name, "en", { numeric: true }));
  for (const one of shown) {
    const button = document.createElement("button");
    button.className = one.value;
    button.textContent = one.name;
    button.disabled = !mine;
    const worth = document.createElement("small");
    worth.textContent = ` ${one.value}${one.remoteness == null ? "" : ` in ${one.remoteness}`}`;
    button.append(worth);
    button.addEventListener("click", () => trying(() => move(one.name)));
    const item = document.createElement("li");
    item.append(button);
    list.append(item);
  }
  $("picking").hidden = !board.picked.length;
  $("picking").querySelector("span").textContent = `${moves.length} ${moves.length === 1 ? "move" : "moves"} from what is picked.`;
}

function showHistory() {
  const box = $("history");
  if (!$("hints").checked) {
    box.textContent = "Switch hints on to see it.";
    return;
  }
  box.replaceChildren(historyChart(steps));
  box.scrollTop = box.scrollHeight;
}

async function showCounts(variant) {
  $("counts").replaceChildren(countsChart(variant, await ask("counts", { variant })));
}

// Controls

function wire() {
  const chosen = () => $("variant").value;
  const whole = (variant, position) => trying(async () => {
    await begin(variant, position);
    await showCounts(variant);
  });
  $("variant").addEventListener("change", () => whole(chosen(), null));
  $("new").addEventListener("click", () => trying(() => begin(chosen(), null)));
  $("undo").addEventListener("click", () => trying(undo));
  $("swap").addEventListener("click", () => {
    const [first, second] = [$("first").value, $("second").value];
    [$("first").value, $("second").value] = [second, first];
    turnNumber += 1;
    trying(show);
  });
  $("hints").addEventListener("change", () => {
    document.body.classList.toggle("hints", $("hints").checked);
    $("status").textContent = sentence();
    showMoves();
    showHistory();
  });
  for (const side of ["first", "second"]) {
    for (const [value, text] of Object.entries(PLAYERS)) $(side).append(new Option(text, value));
    $(side).addEventListener("change", () => { turnNumber += 1; trying(show); });
  }
  $("second").value = "computer";
  $("skill").addEventListener("input", () => { $("skill-shown").textContent = $("skill").value; });
  $("setup").addEventListener("submit", (event) => {
    event.preventDefault();
    trying(() => begin(chosen(), $("position").value.trim()));
  });
  $("random").addEventListener("click", () => trying(() => begin(chosen(), "random")));
  $("clear").addEventListener("click", () => board.clear());
  $("copy").addEventListener("click", () => trying(async () => {
    await navigator.clipboard.writeText(location.href);
    $("status").textContent = "The link to this position has been copied.";
  }));
  window.addEventListener("popstate", () => trying(fromAddress));
}

async function fromAddress() {
  const wanted = new URLSearchParams(location.search);
  const variant = wanted.get("v") ?? (await firstThatOpens());
  await begin(variant, wanted.get("p"));
  await showCounts(variant);
}

// The list has also variants whose rules are not at hand, or have changed since.
async function firstThatOpens() {
  for (const { variant } of variants) {
    try {
      await ask("counts", { variant });
      return variant;
    } catch { /* the next one may */ }
  }
  return variants[0].variant;
}

wire();
trying(async () => {
  variants = await ask("variants");
  if (!variants.length) throw new Error("No game has been solved yet: retrograde solve tictactoe");
  for (const one of variants) $("variant").append(new Option(one.variant, one.variant));
  await fromAddress();
});
