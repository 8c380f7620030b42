// The back end of a published site: it reads answers that were written beforehand (cli/web/published/written.py). A
// worker answers what was not: it runs the rules, where the site has Python.

import { refusal } from "./ask.js";

const ROOT = new URL("..", import.meta.url);
const LONGEST_LINE = 60; // plies of best play
const PATIENCE = 100; // plies without progress, after which a game of chess is drawn
const WIDTH = 79; // signs in a line of PGN
const MOST_BETTER = 3; // better moves that are named
const read = new Map(); // by path, what has been asked of the host

export const GAME_PAGE = "game.html";

const folderOf = (variant) => `games/${encodeURIComponent(variant.replace(/[:/\\]/g, ","))}`;

export const pictureOf = (variant) => `${folderOf(variant)}/picture.svg`;

export const downloadOf = (variant, file) => `databases/${encodeURIComponent(file)}`;

// Return the answer to a request of the page; for errors of the host and unknown positions, fail in words.
export async function request(path, parameters) {
  if (path === "gallery") return json("gallery.json");
  if (path === "about") return about(parameters);
  const facts = await factsOf(parameters.variant);
  if (facts.python) startPython();
  const answer = await ANSWERS[path]?.(facts, parameters);
  if (answer !== undefined) return answer;
  if (facts.python) return byPython(path, parameters);
  throw refusal(unknown(facts), 404);
}

function unknown({ whole }) {
  if (whole) return "no such position; write it as this page does, and one that play reaches from the start";
  return "only the first moves of this game are published here; its database has the rest";
}

// Python in a worker

let [worker, last] = [null, 0];
const waiting = new Map(); // by number of the request

function startPython() {
  if (worker) return;
  worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
  worker.addEventListener("message", ({ data }) => {
    waiting.get(data.id)(data);
    waiting.delete(data.id);
  });
  worker.addEventListener("error", () => {
    for (const settle of waiting.values()) settle({ status: 500, answer: "Python cannot be started in this browser" });
    waiting.clear();
    worker = null;
  });
}

async function byPython(path, parameters) {
  const id = (last += 1);
  const told = new Promise((resolve) => waiting.set(id, resolve));
  worker.postMessage({ id, path, asked: JSON.stringify(parameters) });
  const { status, answer } = await told;
  if (status === 200) return answer;
  throw refusal(answer, status);
}

// Files of the site

async function load(path) {
  const response = await fetch(new URL(path, ROOT)).catch(() => {
    throw new Error("The host of this page does not answer.");
  });
  if (!response.ok) throw refusal(`${path} is missing on this host`, response.status);
  const bytes = await response.arrayBuffer();
  const [first, second] = new Uint8Array(bytes);
  const packed = first === 0x1f && second === 0x8b; // else the host has told the browser to unpack it
  return new Response(packed ? new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")) : bytes).json();
}

function json(path) {
  if (!read.has(path)) {
    read.set(path, load(path));
    read.get(path).catch(() => read.delete(path)); // so that it can be tried again
  }
  return read.get(path);
}

async function factsOf(variant) {
  const { cards } = await json("gallery.json");
  if (!cards.some((card) => card.variant === variant)) throw refusal(`${variant} is not published here`, 404);
  return { ...(await json(`${folderOf(variant)}/facts.json`)), folder: folderOf(variant) };
}

const fileOf = ({ folder }, number) => json(`${folder}/${number}.json.gz`);

// Return the answer about a position by its text; undefined if none was written.
async function find(facts, text) {
  const number = facts.firsts.findLastIndex((first) => first <= text);
  return number < 0 ? undefined : (await fileOf(facts, number)).find((one) => one.position === text);
}

// A game of chess in the portable game notation, as games/chess/pgn.py writes it; undefined if a position is not here.
async function chessGame(facts, variant, start, names, players, finished, given) {
  const isWhite = ({ position }) => position.split(" ")[1] === "w";
  const fields = start.position.split(" ");
  const [white, black] = (isWhite(start) ? players : players.toReversed()).map((name) => name.replace(/["\\\p{C}]/gu, ""));
  const words = isWhite(start) || !names.length ? [] : ["1..."];
  let [at, number, count] = [start, 1, Math.max(given || 0, Number(fields.at(-2)))];
  const begin = [...fields.slice(0, -2), count, 1].join(" ");
  for (const name of names) {
    if (isWhite(at)) words.push(`${number}.`);
    else number += 1;
    words.push(name);
    count = /^[a-h]|x/.test(name) ? 0 : count + 1; // a pawn's move, or a capture
    const move = at.moves.find((one) => one.name === name);
    at = move && (await find(facts, move.position));
    if (!at) return undefined;
  }
  if (finished && count >= PATIENCE && !at.over) words.push("{draw by the fifty-move rule}");
  const won = isWhite(at) ? "0-1" : "1-0";
  const result = !finished ? "*" : at.over && at.value === "lose" ? won : "1/2-1/2";
  const today = new Date();
  const date = [today.getFullYear(), today.getMonth() + 1, today.getDate()].map((part) => String(part).padStart(2, "0"));
  const tags = {
    Event: `Chess endgame ${variant.replace(/^.*?:/, "").replace(/@.*/, "")}`, Site: "?", Date: date.join("."), Round: "-",
    White: white, Black: black, Result: result, SetUp: "1", FEN: begin,
  };
  const lines = [""];
  for (const word of [...words, result].join(" ").split(" ")) {
    const longer = lines.at(-1) ? `${lines.at(-1)} ${word}` : word;
    if (longer.length > WIDTH) lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  const head = Object.entries(tags).map(([name, value]) => `[${name} "${value}"]`);
  return `${head.join("\n")}\n\n${lines.join("\n")}\n`;
}

const anyOf = (list) => list[Math.floor(Math.random() * list.length)];

// Return a random position in which the game goes on, as the server does; another if there is none.
async function any(facts) {
  const numbers = [...facts.firsts.keys()];
  const first = anyOf(numbers);
  for (const number of [...numbers.slice(first), ...numbers.slice(0, first)]) {
    const going = (await fileOf(facts, number)).filter(({ over }) => !over);
    if (going.length) return anyOf(going);
  }
  return anyOf(await fileOf(facts, first));
}

// Answers, as those of the server (cli/web/view.py)

const ANSWERS = {
  database: ({ about }) => about,
  board: ({ board }) => board ?? undefined,

  async position(facts, { position, line }) {
    const found = await placeOf(facts, position);
    return found && line && facts.whole ? { ...found, line: await bestPlay(facts, found) } : found;
  },

  async game(facts, { position, moves }) {
    const start = await placeOf(facts, position);
    if (!start) return undefined;
    let [last, side, problem] = [start, 0, ""];
    const steps = [stepOf(start, { name: "", places: [], paid: [] }, side)];
    for (const name of namesOf(moves)) {
      const move = last.moves.find((one) => one.name === name);
      if (!move) {
        problem = `move ${steps.length}, '${name}', cannot be made: ${last.over ? "the game is over there" : "there is no such move"}`;
        break;
      }
      last = await find(facts, move.position);
      if (!last) return undefined;
      // Of several players, all but the first are the other side, as for the server.
      side = last.seats === "several" ? Number(last.seat !== start.seat) : move.again ? side : 1 - side;
      steps.push(stepOf(last, move, side));
    }
    const usual = facts.usual && start.position === facts.start;
    return { variant: last.variant, title: last.title, players: start.players, usual, start: start.position, steps, last, problem };
  },

  async reply(facts, { position, skill }) {
    const found = await find(facts, position);
    if (!found) return undefined;
    if (found.over) throw refusal("the game is over there, and nobody is to move", 404);
    const best = found.moves.find((move) => move.name === found.reply);
    const { name, position: next } = found.chance ? roll(found.moves) : Math.random() < skill ? best : anyOf(found.moves);
    return { name, position: next };
  },

  async scorecard(facts, { position, moves }) {
    const verdicts = [];
    let at = await find(facts, position);
    for (const name of namesOf(moves)) {
      const played = at?.moves.find((move) => move.name === name);
      if (!played) return undefined;
      verdicts.push(verdictOf(at, played));
      at = await find(facts, played.position);
    }
    return verdicts;
  },

  async pgn(facts, { variant, position, moves, first, second, finished, count }) {
    const start = /^chess[:@]/.test(variant) && (await placeOf(facts, position));
    return start ? chessGame(facts, variant, start, namesOf(moves), [first, second], finished, count) : undefined;
  },

  async setup(facts, { pieces, turn }) {
    for (const number of facts.firsts.keys()) {
      const found = (await fileOf(facts, number)).find((one) => one.pieces === pieces && one.sign === turn);
      if (found) return { position: found.position };
    }
    if (facts.whole) throw refusal("such a position cannot be reached from the start", 404);
    return undefined;
  },
};

function placeOf(facts, text) {
  return text === "random" ? any(facts) : find(facts, text || facts.start);
}

const namesOf = (text) => (text ? text.split(",").map(decodeURIComponent) : []);

// A position of a game, and the move that led to it.
function stepOf({ position, turn, seat, value, remoteness, over, expected, chance }, { name, places, paid }, side) {
  return { name, touched: places, position, turn, value, remoteness, over, side, seat, expected, chance, paid, count: null };
}

// A throw of the dice: `odds` are texts like `3 in 16`.
function roll(moves) {
  const weights = moves.map(({ odds }) => Number.parseInt(odds, 10));
  let left = Math.random() * weights.reduce((sum, weight) => sum + weight, 0);
  return moves.find((_, i) => (left -= weights[i]) < 0) ?? moves.at(-1);
}

// Best play, always by the first of the best moves; it ends at a position met before.
async function bestPlay(facts, position) {
  const [line, met] = [[], new Set()];
  for (let at = position; at.moves.length && at.metric !== "expectation" && line.length < LONGEST_LINE && !met.has(at.position);) {
    met.add(at.position);
    line.push(at.moves[0].name);
    at = await find(facts, at.moves[0].position);
  }
  return line;
}

// What a move was worth, and what would have been better.
function verdictOf({ value: had, moves, seats, seat }, { value, remoteness, worth }) {
  const [{ value: bestValue, remoteness: nearest, worth: bestWorth }] = moves;
  if (seats === "several" && worth) {
    const [got, most] = [worth, bestWorth].map((text) => Number(text.split(" : ")[seat]));
    const verdict = got < most ? "mistake" : "best";
    const better = got < most ? moves.filter((move) => move.best).map((move) => move.name).slice(0, MOST_BETTER) : [];
    return { verdict, value, remoteness, best_value: bestValue, best_remoteness: nearest, better, worth, best_worth: bestWorth };
  }
  const same = remoteness === null || nearest === null || remoteness === nearest;
  const verdict = bestValue !== had ? "unknown" : value !== had ? "mistake" : same ? "best" : "slower";
  const better = ["slower", "mistake"].includes(verdict) ? moves.filter((move) => move.best).map((move) => move.name) : [];
  return { verdict, value, remoteness, best_value: bestValue, best_remoteness: nearest, better: better.slice(0, MOST_BETTER), worth: "", best_worth: "" };
}

// Why a game does not open.
async function about({ variant }) {
  const card = (await json("gallery.json")).cards.find((one) => one.variant === variant);
  const [state, words] = card ? ["solved", ""] : ["unknown", `${variant} is not published here`];
  return { variant, title: card?.title ?? variant, state, words, command: "", may_solve: false, playable: Boolean(card), token: "" };
}
