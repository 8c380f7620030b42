// What is said of a game: who has moved where, whose turn it is, what awaits them, how it has ended.

import { capital } from "./game.js";

export const SIGNS = { win: "+", tie: "=", draw: "=", lose: "−" };
export const plies = (count) => `${count} ${count === 1 ? "ply" : "plies"}`;
export const movesOf = (count) => `${count} ${count === 1 ? "move" : "moves"}`;
export const number = (count) => count.toLocaleString("en");
export const sizeOf = (bytes) => bytes < 1e6 ? `${(bytes / 1e3).toPrecision(3)} kB` : `${number(Math.round(bytes / 1e5) / 10)} MB`;

// A value in words: `win in 5`, `draw`; where it is not known, what is: `at least a draw`.
export const worth = (value, remoteness, known = "not known") => !value ? known : `${value}${remoteness == null ? "" : ` in ${remoteness}`}`;

// A verb as it goes with a name: a name in the plural, which ends in s, has another form of it.
const PLURAL = { wins: "win", loses: "lose", plays: "play", has: "have", expects: "expect", leads: "lead" };
export const agreed = (name, verb) => (name.endsWith("s") ? PLURAL[verb] : verb);

// How well the computer plays: the share of its moves that are perfect, the others being made at random.
export const skillName = (skill) => ({ 1: "perfect", 0: "at random" }[skill] ?? `${Math.round(100 * skill)} % perfect`);

// A sign that tells a value without its colour.
export function badge(value, text = SIGNS[value] ?? "?") {
  const sign = document.createElement("span");
  sign.className = `badge ${value ?? "unknown"}`;
  sign.setAttribute("aria-hidden", "true");
  sign.textContent = text;
  return sign;
}

// What a move brings, in words: `win in 5`; of a puzzle `solved in 5`; of expectations the number.
const OF_PUZZLES = { win: "solved", lose: "dead end", tie: "tie", draw: "never" };
const OF_SEVERAL = { win: "most", lose: "less", tie: "shared", draw: "draw" };
export function brings({ seats, metric }, { value, remoteness, known, worth: measured }) {
  if (metric === "expectation") return measured;
  const called = { one: OF_PUZZLES, several: OF_SEVERAL }[seats]?.[value] ?? value;
  const far = worth(value && called, remoteness, known || undefined);
  return measured ? `${measured}, ${far}` : far;
}

// The last moves, from one's own on: `You played 3. Yellow plays 4.`
const MOST_TOLD = 4;
export function made(game) {
  const alone = game.people.length === 1;
  const own = (ply) => alone && !game.steps[ply].chance && game.players[game.side(ply)] === "human";
  const told = (ply) => {
    const { name } = game.steps[ply + 1];
    if (game.steps[ply].chance) return `Chance: ${name}.`;
    const who = own(ply) ? "You" : game.who(ply);
    return `${who} ${own(ply) || ply < game.plies - 1 ? "played" : agreed(who, "plays")} ${name}.`;
  };
  const last = game.plies - 1;
  let first = last;
  while (alone && first > 0 && last - first < MOST_TOLD && !own(first)) first -= 1;
  if (alone && first >= 0 && !own(first) && !game.steps[first].chance) first = last;
  return game.steps.slice(1).map((_, ply) => ply).slice(Math.max(0, first)).map(told).join(" ");
}

// Whose turn it is, and with hints what they may expect.
export function prospect(game) {
  if (game.over) return result(game);
  const { value, remoteness, turn, distance, known, measure, chance, seats, without } = game.now;
  const mine = game.mine;
  const mover = capital(turn) || game.who(game.plies);
  const toMove = chance ? "Chance decides" : seats === "one" ? "" : `${mover} to move`;
  const so = [toMove, points(game)].filter(Boolean).join(", ");
  if (!game.hints) return mine ? `${so ? `${so}: your` : "Your"} turn.` : `${so || "The computer is to move"}.`;
  const said = (what, more = "") => `${so ? `${so}: ${what}` : capital(what)}${more && ` ${more}`}`;
  if (game.expected) return said(`${expects(chance ? game.name(game.mover) : mine ? "You" : mover, measure)}.`);
  if (!value) return said(`${known}.`);
  const soon = remoteness == null ? "" : ` in ${seats === "one" ? movesOf(remoteness) : plies(remoteness)}`;
  const more = [measure && `${measured(game.now)}.`, without && `Without the fifty-move rule: ${without}.`];
  return said(outlook(game, mine, mover, soon, distance), more.filter(Boolean).join(" "));
}

// What a metric says, with its name: `Score: +3`.
export const measured = ({ metric, measure }) => `${{ drawlevel: "As a draw" }[metric] ?? capital(metric)}: ${measure}`;

// What a player expects, as a sum or as games: `Red expects 2.5`, `you win 61.6 % of games`.
export function expects(who, measure) {
  const verb = measure.startsWith("wins ") ? "wins" : "expects";
  const what = measure.replace(/^wins /, "");
  return who === "You" ? `you ${verb.slice(0, -1)} ${what}` : `${who} ${agreed(who, verb)} ${what}`;
}

// What a value says to who is to move, or of whom.
function outlook({ now: { value, seats, metric, moves } }, mine, mover, soon, distance) {
  const who = mine ? "you" : agreed(mover, "wins") === "wins" ? "it" : "they";
  const s = who === "it" ? "s" : "";
  if (seats === "one") {
    return { win: `${mine ? "you solve" : "it solves"} it${soon} with right play.`, lose: "it can no longer be solved.",
             tie: `a tie${soon} with right play.`, draw: "it goes on for ever." }[value];
  }
  if (seats === "several") {
    const whom = { you: "you", it: "it", they: "them" }[who];
    return { win: `${who} get${s} the most${soon}.`, lose: `another gets more than ${whom}${soon}.`,
             tie: `nobody gets more than ${whom}${soon}.`, draw: "a draw." }[value];
  }
  if (metric === "score" && moves.some((move) => move.paid.length)) {
    return { win: `from here on ${who} get${s} more.`, lose: `from here on the other gets more than ${who}.`,
             tie: "from here on both get as much.", draw: "it goes on for ever." }[value];
  }
  const far = distance ? ` (${distance})` : "";
  return {
    win: `${who} win${s}${soon}${far} with right play.`,
    lose: `${who} lose${s}${soon}${far} unless the other side errs.`,
    tie: `a tie${soon}${far} if both play right.`,
    draw: "a draw if both play right.",
  }[value];
}

// What moves have paid so far: `12 to 7`; nothing where they pay nothing.
function points(game) {
  const { points: paid } = game;
  if (!paid || !game.plies) return "";
  if (paid.length === 1) return `${paid[0]} so far`;
  return paid.map((amount, i) => `${paid.length > 2 ? game.called(i) : game.name(i)} ${amount}`).join(", ");
}

export function result(game) {
  const { value, ending, seats } = game.now;
  if (game.tooLong) return "A draw by the fifty-move rule.";
  if (!game.now.over) return game.repeated ? "A draw: this position has come up three times." : "A draw: the game has gone on too long.";
  const { points: paid, winner } = game;
  const how = ending ? `: ${ending}` : "";
  const score = paid ? ` ${paid.join(" to ")}.` : "";
  if (seats === "one") {
    if (game.expected || paid) return `The game is over${how}.${score}`;
    return `${{ win: "Solved", lose: "A dead end" }[value] ?? `A ${value}`} after ${movesOf(game.plies)}${how}.`;
  }
  if (seats === "several") return resultOfSeveral(game, how);
  if (winner === null) return `A ${paid ? "tie" : value}${how}.${score}`;
  const alone = game.people.length === 1;
  const you = !alone ? "" : game.players[winner] === "human" ? " You win." : " You lose.";
  return `${game.name(winner)} ${agreed(game.name(winner), "has")} won${how}.${score}${you}`;
}

// Which of several players have got the most, and what each has got.
function resultOfSeveral(game, how) {
  const { points: paid, leaders } = game;
  const score = ` ${paid.join(" : ")}.`;
  if (leaders.length === paid.length) return `A tie${how}.${score}`;
  const names = leaders.map((seat) => game.called(seat)).join(" and ");
  const [person] = game.people;
  const wins = leaders.some((seat) => Number(seat !== game.steps[0].seat) === person);
  const you = game.people.length !== 1 ? "" : wins ? " You win." : " You lose.";
  return `${names} ${leaders.length > 1 ? "get the most" : `${agreed(names, "has")} won`}${how}.${score}${you}`;
}

// Whose turn it is, or how it has ended, in few words for the title of the page.
export function title(game) {
  const state = game.over ? result(game).replace(/[.:].*/, "") : game.now.chance ? "chance decides" : `${capital(game.now.turn) || game.who(game.plies)} to move`;
  return `${game.title}, ${game.plies ? `move ${game.plies}` : "start"}: ${state} – retrograde`;
}
