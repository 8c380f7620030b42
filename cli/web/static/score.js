// After a game: what each move of a person was worth, and what would have been better. The server judges.

import { ask } from "./ask.js";
import { joined } from "./address.js";
import { badge, worth } from "./words.js";

const AT_ONCE = 20; // moves that are asked about together: so that no answer takes long

async function marksOf(game) {
  const { steps, variant } = game;
  const marks = [];
  for (let ply = 0; ply < game.plies; ply += AT_ONCE) {
    const moves = joined(steps.slice(ply + 1, ply + 1 + AT_ONCE).map((step) => step.name));
    const { position, count } = steps[ply];
    marks.push(...(await ask("scorecard", { variant, position, moves, count })));
  }
  return marks;
}

// Fill a box with the scorecard of a game; a click on a move calls *onPick* with the plies before it. Tells whether
// the game was still the same then.
export async function showScorecard(box, game, onPick) {
  const { turn } = game;
  const marks = await marksOf(game);
  if (turn !== game.turn) return;
  const sides = game.people.length ? game.people : [0, 1];
  const plies = marks.map((_, ply) => ply).filter((ply) => sides.includes(game.side(ply)));
  const head = document.createElement("h2");
  head.textContent = sides.map((side) => summary(game, side, marks)).join(" ");
  const list = document.createElement("ol");
  list.className = "card-moves";
  list.append(...plies.map((ply) => row(game, ply, marks[ply], onPick)));
  box.replaceChildren(head, list);
}

function summary(game, side, marks) {
  const own = marks.filter((_, ply) => game.side(ply) === side);
  const count = (verdict) => own.filter((mark) => mark.verdict === verdict).length;
  const whose = game.people.length === 1 ? "Your moves" : game.name(side);
  const of = `of ${own.length} ${own.length === 1 ? "move" : "moves"}`;
  const rest = count("unknown") ? `, of ${count("unknown")} it is not known` : "";
  return `${whose}: ${count("best")} ${of} perfect, ${count("mistake")} threw something away${rest}.`;
}

function row(game, ply, mark, onPick) {
  const item = document.createElement("li");
  const move = document.createElement("button");
  const { name } = game.steps[ply + 1];
  move.textContent = `${ply + 1}. ${name}`;
  move.setAttribute("aria-label", `Back to before move ${ply + 1}, ${name}`);
  move.addEventListener("click", () => onPick(ply));
  const said = document.createElement("span");
  said.textContent = verdict(mark);
  item.append(move, badge(mark.value), said);
  item.className = mark.verdict;
  return item;
}

function verdict({ verdict, value, remoteness, best_value: could, best_remoteness: nearer, better, worth: got, best_worth: most }) {
  const how = worth(value, remoteness);
  if (verdict === "unknown") return value ? `brought a ${value}; whether there was more is not known` : "not known";
  if (most) return verdict === "best" ? `as good as any: ${got}` : `got less: ${got} rather than ${most}; better ${better.join(", ")}`;
  if (verdict === "best") return could === "lose" ? `the best of a lost game, ${how}` : `kept the ${how}`;
  const hint = `better ${better.join(", ")}`;
  if (verdict === "mistake") return `threw the ${could} away: ${how}; ${hint}`;
  const slower = { win: "won, but slower", lose: "lost sooner", tie: "tied, but later" }[value];
  return `${slower}: in ${remoteness} rather than ${nearer}; ${hint}`;
}
