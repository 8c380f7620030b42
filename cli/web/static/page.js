// The page of a game: it starts here, and here controls meet the game, the board and what is said of them.
// Every move is a step of the browser's history, and its address holds the whole game (address.js).

import { PLAYERS, readAddress, readPgn, writeAddress } from "./address.js";
import { ask } from "./ask.js";
import { downloadOf, request } from "./backend.js";
import { Board } from "./board.js";
import { countsChart, historyChart, historyHeads } from "./charts.js";
import { Game } from "./game.js";
import { BestPlay } from "./line.js";
import { showScorecard } from "./score.js";
import { sentence, showTrouble } from "./troubles.js";
import { badge, brings, made, number, prospect, sizeOf, skillName, title } from "./words.js";

const $ = (id) => document.getElementById(id);
const PLAYER_NAMES = { human: "you", computer: "computer" };
const WAITING = "A position is being set up. The game waits until the editor is closed.";
const PAUSE = 350; // milliseconds before the computer moves
const LINGER = 120; // milliseconds that a move is pointed at before its line is asked for
let pointed; // the move that is pointed at

const game = new Game();
const best = new BestPlay(game, showStep);
const board = new Board($("board"), (name) => trying(() => move(name)), showMoves, (position) => trying(() => fresh(position)), editing);

// Do something; where it fails, say so, and let it be tried again. What a person does ends what was wrong before.
async function trying(action, person = true) {
  if (person) $("error").replaceChildren();
  try {
    await action();
  } catch (error) {
    const again = document.createElement("button");
    again.textContent = "Try again";
    again.addEventListener("click", () => trying(action));
    $("error").replaceChildren(sentence(error.message), " ", ...(error.status ? [] : [again]));
  }
}

// What happens

// Begin a game, with moves made already, or show why it cannot be. A game that is there stays until another has begun.
async function begin({ variant, start, moves = [], paused = false }, step = pushed) {
  try {
    const problem = await game.begin(variant, start, moves);
    if (problem === null) return; // something else has happened meanwhile
    game.paused = paused;
    $("trouble").hidden = true;
    document.body.classList.remove("empty");
    show(step);
    if (problem) $("error").textContent = `${sentence(problem)} The game stands before it.`;
    trying(showCounts, false);
  } catch (error) {
    if (game.now) waitFor(error);
    document.body.classList.add("empty");
    const again = () => begin({ variant, start, moves, paused }, step);
    const fromStart = () => begin({ variant, start: null }, step);
    const name = await showTrouble($("trouble"), error, variant, { again, fresh: fromStart });
    $("title").textContent = name;
    document.title = `${name} cannot be shown – retrograde`;
  }
}

// The game goes on as it is: a line says what was wrong, and a machine whose reply has been dropped waits.
function waitFor(error) {
  if (!game.mine && !game.over) game.paused = true;
  showState();
  throw error;
}

async function move(name) {
  if (!game.chosen) game.paused = false;
  if (await game.play(name)) show(pushed);
}

// A machine moves, or chance does.
async function letComputerMove() {
  if (game.over || game.mine || game.paused || board.editing) return;
  const name = await game.reply(PAUSE);
  if (name && (await game.play(name))) show(pushed);
}

async function backTo(ply) {
  if (await game.backTo(ply)) show(pushed);
}

async function redo() {
  game.paused = false;
  await game.redo();
  show(pushed);
}

// The browser has gone back or forward. Who plays, and how, stays as it is now; machines wait.
async function wander() {
  const { variant, start, moves } = readAddress(location.search);
  if (variant) await begin({ variant, start, moves, paused: true }, replaced);
}

// A person begins to set up a position, and the game waits: a reply that is under way is asked for anew afterwards. Or
// the person has given it up, and the game goes on.
function editing(begun) {
  if (!begun) return show(replaced);
  game.turnOver();
  showState();
}

// How the address is told: as a step of the browser's history, or in the place of the one before.
const address = () => writeAddress({ ...game, position: game.now.position, moves: game.moves });
const pushed = () => {
  if (new URL(address(), location).href !== location.href) history.pushState(null, "", address());
};
const replaced = () => history.replaceState(null, "", address());

// What is shown

function show(step) {
  step();
  document.title = title(game);
  best.ahead = [];
  keepingFocus(() => {
    const { now } = game;
    showBoard();
    $("title").textContent = game.title;
    $("summary").textContent = now.summary.replaceAll("`", "");
    $("position").value = now.position;
    showState();
    showMoves();
    showHistory();
  });
  showLine();
  trying(showCard, false);
  trying(letComputerMove, false);
  trying(think, false);
}

function showBoard() {
  const { shown } = best;
  const own = shown === game.now;
  board.show({ ...shown, over: own ? game.over : shown.over }, own && (game.mine || game.chosen));
}

// Best play has come to another position.
function showStep() {
  showBoard();
  showState();
  showLine();
}

// The line of best play, what is on the board in bold; or the line after a move.
function showLine(after = null, line = game.now.line) {
  $("line-part").hidden = game.over || !game.hints;
  able($("line-back"), best.goesBack);
  able($("line-on"), best.goesOn);
  const { length } = best.ahead;
  const done = after ? [after] : line.slice(0, length);
  const words = [strong(done.join(" ")), ["", ...(after ? line : line.slice(length))].join(" ")];
  const why = game.expected ? "Chance decides some moves, so no single line is best." : best.exists ? "Step through best play, or point at a move to see its line." : "Best play is not known.";
  $("line").replaceChildren(...(after || length ? words : [why]));
}

// The move that is pointed at, in the list or by its place on the board.
function pointedAt(target) {
  const button = target.closest("#moves button");
  if (button) return game.now.moves.find((one) => one.name === button.dataset.name);
  const place = Number(target.dataset?.place ?? NaN);
  const [move, another] = new Set([...board.through(place), ...board.reaching(place)]);
  return another ? undefined : move;
}

async function point(target) {
  const move = game.hints && best.exists && !game.now.chance && !best.goesBack ? pointedAt(target) : undefined;
  pointed = move;
  if (!move) return showLine();
  await new Promise((resolve) => setTimeout(resolve, LINGER));
  if (pointed !== move) return;
  const line = await best.line(move, request).catch(() => null); // nobody is told of what is only pointed at
  if (line && pointed === move) showLine(move.name, line);
}

// Where a person is to move and no database knows what moves bring, the server searches; what it finds is shown when it
// comes, unless another position has come meanwhile.
async function think() {
  if (!game.hints || !game.mine || game.over || board.editing) return;
  if (await game.think() && !board.editing && !board.picked.length) show(replaced);
}

function showState() {
  const { editing } = board;
  const stepped = best.goesBack && `Best play, ply ${best.ahead.length} of ${game.now.line.length}. Nothing is played.`;
  $("status").replaceChildren(...(editing ? [WAITING] : stepped ? [strong(stepped)] : [`${made(game)} `.trimStart(), strong(prospect(game))]));
  $("moves-part").inert = best.goesBack;
  $("how").textContent = game.hints && !game.over && game.now.how ? `${game.now.how[0].toUpperCase()}${game.now.how.slice(1)}.` : "";
  $("side").inert = editing;
  $("over").hidden = !game.over || editing;
  $("moves-part").hidden = game.over || editing;
  able($("undo"), game.undone !== null && !editing);
  able($("redo"), game.later.length && !editing);
  $("best").hidden = !game.hints || game.over || game.now.chance;
  able($("best"), bestMove() && !editing);
  $("go").hidden = game.over || editing || (game.mine && game.people.length > 0);
  $("go").textContent = game.paused ? "Go on" : "Pause";
  const alone = game.now.seats === "one";
  $("swap").hidden = $("second").parentElement.hidden = alone;
  $("explained").textContent = game.expected
    ? `Numbers are what the player to move can expect${alone ? "" : `; where chance decides, what ${game.name(0)} can expect`}.`
    : alone ? "Numbers are moves to the end." : "Values are for the player to move. Numbers are plies to the end. A ply is one move of one player.";
  $("hints").checked = game.hints;
  document.body.classList.toggle("hints", game.hints);
  ["first", "second"].forEach((id, side) => {
    $(id).value = game.players[side];
    $(`${id}-name`).textContent = alone ? "Player" : game.name(side);
  });
  $("skill").value = game.skill;
  $("skill-shown").textContent = skillName(game.skill);
  able($("skill"), game.players.includes("computer"));
  $("copy-pgn").hidden = !game.now.pgn;
  $("position-name").textContent = game.now.pgn ? "Position or PGN" : "Position";
}

const bestMove = () => game.now.moves.find((one) => one.best);

const strong = (text) => Object.assign(document.createElement("strong"), { textContent: text });

// A control that cannot be used keeps the focus, if it has it.
function able(control, can) {
  control.setAttribute("aria-disabled", !can);
}
const isAble = (control) => control.getAttribute("aria-disabled") !== "true";

function showMoves() {
  const moves = board.fitting();
  const byName = (a, b) => a.name.localeCompare(b.name, "en", { numeric: true });
  const grouped = game.hints && !game.now.chance;
  const groups = new Map(); // equal moves by what they bring
  for (const one of game.over ? [] : grouped ? moves : [...moves].sort(byName)) {
    const worth = grouped ? brings(game.now, one) : "";
    groups.set(worth, [...(groups.get(worth) ?? []), one]);
  }
  $("moves").replaceChildren(...[...groups].map(([worth, equal]) => {
    const item = document.createElement("li");
    item.className = equal[0].value ?? "unknown";
    if (worth) item.append(badge(equal[0].value), small("worth", worth));
    item.append(...equal.map((one) => moveButton(one, worth)));
    return item;
  }));
  $("picking").hidden = !board.picked.length;
  $("picking").querySelector("span").textContent = `${moves.length} ${moves.length === 1 ? "move" : "moves"} from what is picked.`;
}

function moveButton(one, worth) {
  const button = document.createElement("button");
  button.append(one.name);
  if (worth) button.setAttribute("aria-label", `${one.name}, ${worth}`);
  else if (game.hints) button.append(small("worth", ` ${brings(game.now, one)}`));
  if (one.odds) button.append(small("odds", ` ${one.odds}`));
  button.dataset.name = one.name;
  able(button, (game.mine || game.chosen) && !game.over);
  button.addEventListener("click", () => isAble(button) && trying(() => move(one.name)));
  return button;
}

const small = (className, textContent) => Object.assign(document.createElement("small"), { className, textContent });

function showHistory() {
  const box = $("history");
  box.replaceChildren(historyHeads(game), historyChart(game, (ply) => trying(() => backTo(ply))));
  box.scrollTop = box.scrollHeight;
}

async function showCard() {
  $("card").replaceChildren();
  if (game.over && game.plies && !game.expected) await showScorecard($("card"), game, (ply) => trying(() => backTo(ply)));
}

async function showCounts() {
  const { variant } = game;
  if ($("counts").dataset.variant === variant) return;
  const { counts, positions, file, bytes, made_with: maker, digest } = await ask("database", { variant });
  $("database").hidden = !file;
  const draw = () => $("counts").replaceChildren(countsChart(game.title, counts, $("counts").clientWidth));
  if (file) draw();
  window.onresize = file ? draw : null;
  $("counted").textContent = game.expected ? "All positions, by who expects to gain" : "All positions by plies to the end";
  const link = Object.assign(document.createElement("a"), { href: downloadOf(variant, file), download: file, textContent: `Download ${file}` });
  $("facts").replaceChildren(link, `: ${number(positions)} positions in ${sizeOf(bytes)}, by ${maker}, digest ${digest}.`);
  $("counts").dataset.variant = variant;
}

// Show something anew; where what had the focus is gone, let what stands in its place have it.
function keepingFocus(showing) {
  const before = document.activeElement;
  const part = ["moves", "history"].find((id) => $(id).contains(before));
  const { ply } = before.dataset;
  showing();
  if (before !== document.body && !isThere(document.activeElement)) placeInstead(part, ply).focus();
}

const isThere = (element) => element !== document.body && (element.ownerSVGElement || element.getClientRects().length);

function placeInstead(part, ply) {
  if (part === "history") {
    const points = [...document.querySelectorAll("#history .point[tabindex]")];
    return points.find((point) => point.dataset.ply === ply) ?? points.at(-1) ?? $("history");
  }
  if (game.over) return $("again");
  if (part === "moves") return $("moves").querySelector("button") ?? $("moves");
  return $("board").querySelector("[tabindex='0']") ?? $("board");
}

// Controls

async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    $("copy-text").hidden = true;
    $("copied").textContent = `${what} copied.`;
  } catch { // not on a page that is not from this machine: then by hand
    Object.assign($("copy-text"), { hidden: false, value: text });
    $("copy-text").select();
    $("copied").textContent = "Copy it from here:";
  }
}

function wire() {
  const on = (id, event, action) => $(id).addEventListener(event, (happened) => {
    happened.preventDefault?.();
    if (isAble($(id))) trying(() => action(happened));
  });
  const changed = (change) => {
    change();
    game.turnOver();
    game.paused = false;
    if (!board.editing) return show(replaced);
    replaced();
    showState();
    showHistory();
  };
  on("new", "click", () => fresh(null));
  on("again", "click", () => fresh(game.start));
  on("random", "click", () => fresh("random"));
  on("setup", "submit", () => setUp($("position").value.trim()));
  on("undo", "click", () => backTo(game.undone));
  on("redo", "click", redo);
  on("best", "click", () => move(bestMove().name));
  on("swap", "click", () => changed(() => game.swap()));
  on("go", "click", async () => {
    game.paused = !game.paused;
    game.turnOver();
    showState();
    await letComputerMove();
  });
  on("clear", "click", () => keepingFocus(() => board.clear()));
  $("hints").addEventListener("change", () => {
    game.hints = $("hints").checked;
    if (best.goesBack) return show(replaced);
    showLine();
    trying(think, false);
    replaced();
    showState();
    showMoves();
    showHistory();
  });
  ["first", "second"].forEach((id, side) => {
    for (const player of PLAYERS) $(id).append(new Option(PLAYER_NAMES[player], player));
    $(id).addEventListener("change", () => trying(() => changed(() => { game.players[side] = $(id).value; })));
  });
  on("line-on", "click", () => best.step(1));
  on("line-back", "click", () => best.step(-1));
  for (const id of ["moves", "board"])
    for (const event of ["pointerover", "pointerout", "focusin", "focusout"])
      $(id).addEventListener(event, (happened) => point(event.endsWith("out") ? document.body : happened.target));
  $("skill").addEventListener("input", () => { $("skill-shown").textContent = skillName($("skill").value); });
  $("skill").addEventListener("change", () => {
    game.skill = Number($("skill").value);
    replaced();
  });
  on("copy-link", "click", () => copy(location.href, "The link"));
  on("copy-position", "click", () => copy(game.now.position, "The position"));
  on("copy-moves", "click", () => copy(game.moves.join(" "), "The moves"));
  on("copy-pgn", "click", async () => copy(await game.pgn(), "The game as PGN"));
  window.addEventListener("popstate", () => trying(wander));
}

// Begin at a position, or with the moves of a game that is pasted as PGN or PDN.
function setUp(text) {
  const written = game.now.pgn && readPgn(text);
  return written ? begin({ variant: game.variant, paused: true, ...written }) : fresh(text);
}

function fresh(start) {
  return begin({ variant: game.variant, start });
}

// Begin as the address says. Where a person comes back to it, machines wait; a page that is loaded anew goes on.
async function start() {
  const { variant, start, moves, players, skill, hints } = readAddress(location.search);
  if (!variant) return location.replace("./"); // the address names no game: show all
  const [how] = performance.getEntriesByType("navigation");
  Object.assign(game, { players, skill, hints });
  await begin({ variant, start, moves, paused: how?.type === "back_forward" }, replaced);
}

wire();
trying(start);
