// What is said of a game: who has moved where, whose turn it is, what awaits them, how it has ended.

import { capital } from "./game.js";

export const SIGNS = { win: "+", tie: "=", draw: "=", lose: "−" };
export const plies = (count) => `${count} ${count === 1 ? "ply" : "plies"}`;
export const number = (count) => count.toLocaleString("en");

// A value in words: `win in 5`, `draw`; where it is not known, what is: `at least a draw`.
export const worth = (value, remoteness, known = "not known") => !value ? known : `${value}${remoteness == null ? "" : ` in ${remoteness}`}`;

// A verb as it goes with a name: a name in the plural, which ends in s, has another form of it.
const PLURAL = { wins: "win", loses: "lose", plays: "play", has: "have" };
export const agreed = (name, verb) => (name.endsWith("s") ? PLURAL[verb] : verb);

// A sign that tells a value without its colour.
export function badge(value, text = SIGNS[value] ?? "?") {
  const sign = document.createElement("span");
  sign.className = `badge ${value ?? "unknown"}`;
  sign.setAttribute("aria-hidden", "true");
  sign.textContent = text;
  return sign;
}

// The last moves, from one's own on: `You played 3. Yellow plays 4.`
export function made(game) {
  const alone = game.people.length === 1;
  const told = (ply) => {
    const side = game.side(ply), { name } = game.steps[ply + 1];
    const own = alone && game.players[side] === "human";
    const who = own ? "You" : game.name(side);
    return `${who} ${own || ply < game.plies - 1 ? "played" : agreed(who, "plays")} ${name}.`;
  };
  const last = game.plies - 1;
  if (last < 0) return "";
  const also = alone && last > 0 && game.players[game.side(last)] !== "human" ? `${told(last - 1)} ` : "";
  return also + told(last);
}

// Whose turn it is, and with hints what they may expect.
export function prospect(game) {
  if (game.over) return result(game);
  const { value, remoteness, turn, distance, known } = game.now;
  const mine = game.mine;
  const mover = capital(turn) || game.name(game.mover);
  const toMove = `${mover} to move`;
  if (!game.hints) return mine ? `${toMove}: your turn.` : `${toMove}.`;
  const far = distance ? ` (${distance})` : "";
  const you = mine ? "you" : agreed(mover, "wins") === "wins" ? "it" : "they";
  const verb = you === "it" ? "s" : "";
  if (!value) return `${toMove}: ${known}.`;
  const soon = remoteness == null ? "" : ` in ${plies(remoteness)}${far}`;
  return {
    win: `${toMove}: ${you} win${verb}${soon} with right play.`,
    lose: `${toMove}: ${you} lose${verb}${soon} unless the other side errs.`,
    tie: `${toMove}: a tie${soon} if both play right.`,
    draw: `${toMove}: a draw if both play right.`,
  }[value];
}

export function result(game) {
  const { value, ending } = game.now;
  if (!game.now.over) return game.repeated ? "A draw: this position has come up three times." : "A draw: the game has gone on too long.";
  const how = ending ? `: ${ending}` : "";
  if (game.winner === null) return `A ${value}${how}.`;
  const alone = game.people.length === 1;
  const you = !alone ? "" : game.players[game.winner] === "human" ? " You win." : " You lose.";
  const winner = game.name(game.winner);
  return `${winner} ${agreed(winner, "has")} won${how}.${you}`;
}

// Whose turn it is, or how it has ended, in few words for the title of the page.
export function title(game) {
  const state = game.over ? result(game).replace(/[.:].*/, "") : `${capital(game.now.turn) || game.name(game.mover)} to move`;
  return `${game.title}, ${game.plies ? `move ${game.plies}` : "start"}: ${state} – retrograde`;
}
