// How values look on the board, as games/contract/marks.py has it: the shapes are those in the picture that the server sent.

import { SIGNS } from "./words.js";

const SVG = "http://www.w3.org/2000/svg";
const KINDS = { win: "win", tie: "tie", draw: "tie", lose: "lose" };
export const INK = { win: "#fff", tie: "#000", draw: "#000", lose: "#fff" };
export const COLOURS = { win: "#008000", tie: "#ffff00", draw: "#ffff00", lose: "#800000" };
const DASHES = { win: "", tie: ".2 .1", draw: ".2 .1", lose: ".06 .1" };
const ORDER = ["win", "tie", "draw", "lose"];
const WORDS = { win: "win", tie: "tie or draw", lose: "lose" };
const CORNER = 0.3;
const [SMALL, APART] = [[1, 0.62, 0.5], [0, 0.36, 0.3]]; // where there are one, two and three
const MOST = 3;

export function svgElement(name, attributes, ...children) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

// A shape with a text on it, which is the larger in a small one; around 0, a cell being 1 wide.
export function shape(value, text, scale = 1) {
  const size = Object.values(SIGNS).includes(text) ? 0.36 : (text.length < 3 ? 0.25 : 0.19) * (scale === 1 ? 1 : 1.25);
  const about = { y: value === "lose" ? -0.06 : 0, "font-size": size, "font-weight": 600, fill: INK[value] };
  return [svgElement("use", { href: `#retrograde-${KINDS[value]}` }), svgElement("text", about, text)];
}

// What the moves of a mark sort by, the best first: a win or a tie soon, a loss late.
function preference({ value, remoteness }) {
  const plies = (remoteness ?? 0) / 1e6;
  return 4 - ORDER.indexOf(value) + (value === "lose" ? plies : -plies);
}

// The mark of a place that *moves* go through, at x and y; *crowded* where a man stands there, who is to be seen.
export function mark(moves, { x, y }, crowded) {
  const sorted = [...moves].sort((a, b) => preference(b) - preference(a));
  const firsts = (key) => [...new Map([...sorted].reverse().map((one) => [key(one), one])).values()].reverse();
  const each = firsts((one) => `${KINDS[one.value]} ${one.remoteness} ${one.mark}`);
  const ofKinds = each.length > MOST;
  const shown = ofKinds ? firsts((one) => KINDS[one.value]) : each;
  const many = Math.max(shown.length, crowded ? 2 : 1) - 1;
  const scale = SMALL[many];
  const [left, top] = crowded ? [x + CORNER, y - CORNER] : [x, y];
  const title = moves.length > 4 ? `${moves.length} moves` : moves.map((one) => `${one.name}: ${one.value}`).join(", ");
  const group = svgElement("g", { class: "move", "data-move": moves.map((one) => one.name).join(" ") },
    svgElement("title", {}, title));
  shown.forEach((one, number) => {
    const plies = one.remoteness == null ? SIGNS[one.value] : String(one.remoteness);
    const text = ofKinds && shown.length > 1 ? SIGNS[one.value] : one.mark || plies;
    const at = `translate(${left + (number - (shown.length - 1) / (crowded ? 1 : 2)) * APART[many]} ${top}) scale(${scale})`;
    group.append(svgElement("g", { transform: at, "data-value": one.value }, ...shape(one.value, text, scale)));
  });
  return group;
}

// The line of a move from a place to a place; it lies under the men.
export function line(move, from, to) {
  const ends = { x1: from.x, y1: from.y, x2: to.x, y2: to.y };
  return svgElement("g", { class: "move" },
    svgElement("line", { ...ends, stroke: "#111", "stroke-width": 0.11, opacity: 0.55 }),
    svgElement("line", { ...ends, stroke: COLOURS[move.value], "stroke-width": 0.07, "stroke-dasharray": DASHES[move.value] }));
}

// What the marks mean; the shapes are found in the board's own picture.
export function legend() {
  const list = document.createElement("ul");
  list.className = "board-legend";
  for (const value of Object.keys(WORDS)) {
    const item = document.createElement("li");
    const picture = svgElement("svg", { viewBox: "-.4 -.4 .8 .8", class: "retrograde", "aria-hidden": "true" });
    picture.append(...shape(value, SIGNS[value]));
    item.append(picture);
    list.append(item);
  }
  list.append(document.createElement("li"));
  return list;
}

// Say in a legend what the marks of a position mean.
export function explain(list, { metric, seats }) {
  const expected = metric === "expectation";
  const words = expected ? ["above 0", "0", "below 0"] : { one: ["solved", "tie or never", "dead end"], several: ["most", "tie", "less"] }[seats] ?? Object.values(WORDS);
  const notes = expected ? "expected by the player to move" : seats === "one" ? "numbers are moves to the end" : "for the player to move; numbers are plies to the end";
  [...words, notes].forEach((text, i) => {
    const item = list.children[i];
    item.replaceChildren(...item.querySelectorAll("svg"), ` ${text}`);
  });
}
