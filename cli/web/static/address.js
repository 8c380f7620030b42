// The address of the page holds all of a game: its variant, where it began if not at the usual start, its moves, who
// plays, how well, and whether hints are shown. What is as usual is left out.
//
//     /?v=connect4:width=5,height=4&m=3,3,4&first=human&second=computer&skill=0.8&hints=0

import { GAME_PAGE } from "./backend.js";

export const PLAYERS = ["human", "computer"];
const USUAL = { first: "human", second: "computer", skill: 1, hints: true };
const LONGEST = 3500; // characters of moves: of a longer game the address has the position alone

// In the names of moves commas and percent signs are escaped, since commas stand between them.
export const joined = (names) => names.map((name) => name.replace(/[%,]/g, encodeURIComponent)).join();
const split = (text) => (text ? text.split(",").map(unescaped) : []);

function unescaped(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // no escape at all: the server will say that there is no such move
  }
}

export function readAddress(search) {
  const told = new URLSearchParams(search);
  const player = (side) => (PLAYERS.includes(told.get(side)) ? told.get(side) : USUAL[side]);
  const skill = Number(told.get("skill") ?? USUAL.skill);
  return {
    variant: told.get("v"),
    start: told.get("p"),
    moves: split(told.get("m")),
    players: [player("first"), player("second")],
    skill: skill >= 0 && skill <= 1 ? skill : USUAL.skill,
    hints: told.get("hints") !== "0",
  };
}

export function writeAddress({ variant, start, position, moves, players, skill, hints }) {
  const names = joined(moves);
  const [p, m] = names.length > LONGEST ? [position, ""] : [start, names];
  const parts = { v: variant, p, m, skill: skill === USUAL.skill ? "" : skill, hints: hints ? "" : "0" };
  ["first", "second"].forEach((side, i) => { parts[side] = players[i] === USUAL[side] ? "" : players[i]; });
  const text = ["v", "p", "m", "first", "second", "skill", "hints"]
    .filter((key) => parts[key])
    .map((key) => `${key}=${encodeURIComponent(parts[key]).replace(/%(?:3A|2C|3D|2F)/g, decodeURIComponent)}`);
  return `${GAME_PAGE}?${text.join("&")}`;
}

// Return the start and the moves of a game that is written as PGN or PDN; null for a text that is none.
export function readPgn(text) {
  const start = text.match(/\[FEN\s+"([^"]*)"/i)?.[1] ?? null;
  let bare = text.replace(/\{[^}]*\}/g, " ").replace(/\[[^\]]*\]/g, " ");
  while (/\([^()]*\)/.test(bare)) bare = bare.replace(/\([^()]*\)/g, " "); // variations
  if (!/\b\d+\./.test(bare)) return null;
  const words = bare.replace(/\b\d+\.+|\$\d+/g, " ").split(/\s+/);
  const moves = words.map((word) => word.replace(/[!?]+$/, "")).filter((word) => word && !/^(1-0|0-1|1\/2-1\/2|\*)$/.test(word));
  return { start, moves };
}
