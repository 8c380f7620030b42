// The two charts: what the positions of the game so far are worth, and all positions of the database.

import { COLOURS, INK, svgElement as element } from "./marks.js";
import { agreed, SIGNS, worth } from "./words.js";

// Who wins on either side of the chart; they stay in view while it is scrolled.
export function historyHeads(game) {
  const heads = document.createElement("div");
  heads.className = "heads";
  for (const side of game.hints && game.now.seats === "two" ? [0, 1] : []) {
    const head = document.createElement("span");
    head.textContent = `${game.name(side)} ${agreed(game.name(side), ["expectation", "score"].includes(game.now.metric) ? "leads" : "wins")}`;
    heads.append(head);
  }
  return heads;
}

// Best for who began on the left, for the other on the right; the nearer the end, or the more is expected, the further
// from the middle. Without hints, and where there are not two players, all points are in the middle. A click on a point,
// or Enter, calls *onPick* with its number of plies.
export function historyChart(game, onPick) {
  const { steps, hints } = game;
  const width = 300, row = 26, middle = width / 2, reach = middle - 45;
  const most = Math.max(1, ...steps.map((step) => step.remoteness ?? 0));
  const greatest = Math.max(1e-9, ...steps.map((step) => Math.abs(step.expected ?? 0)));
  const points = steps.map((step, i) => {
    if (step.expected != null) return [middle - (hints ? (reach * step.expected * (step.side ? -1 : 1)) / greatest : 0), row * (i + 0.6)];
    const sign = hints && step.value && game.now.seats === "two" ? { win: -1, lose: 1, tie: 0, draw: 0 }[step.value] * (step.side ? -1 : 1) : 0;
    return [middle + sign * reach * (1 - (0.85 * (step.remoteness ?? 0)) / most), row * (i + 0.6)];
  });
  const height = row * (steps.length + 0.2);
  const svg = element("svg", { viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": "Positions of the game", "font-size": 11 });
  svg.append(
    element("line", { x1: middle, x2: middle, y1: 0, y2: height, stroke: "#999", "stroke-dasharray": "3 3" }),
    element("polyline", { points: points.map((point) => point.join()).join(" "), fill: "none", stroke: "#888", "stroke-width": 2 }),
  );
  points.forEach((point, i) => svg.append(historyPoint(game, i, point, middle, onPick)));
  return svg;
}

const short = (expected) => expected.toPrecision(3);

function historyPoint(game, i, [x, y], middle, onPick) {
  const { value, remoteness, name, expected } = game.steps[i];
  const last = i === game.plies, right = x > middle;
  const move = i ? `${i}. ${name}` : "start";
  const said = game.hints ? `, ${expected == null ? worth(value, remoteness) : `expectation ${short(expected)}`} for ${game.name(game.side(i))}` : "";
  const point = element("g", { class: "point", "data-ply": i, "aria-label": `${last ? "" : "Back to "}${move}${said}` });
  const [fill, ink, text] = game.hints && !value ? ["#fff", "#000", "?"] : game.hints ? [COLOURS[value], INK[value], `${SIGNS[value]}${remoteness || ""}`] : ["#fff", "#000", `${i}`];
  point.append(
    element("circle", { cx: x, cy: y, r: 11.5, fill, stroke: "#555" }),
    element("text", { x, y: y + 3.5, "text-anchor": "middle", style: `fill:${ink}`, "font-size": 10 }, text),
    element("text", { x: right ? x - 16 : x + 16, y: y + 4, "text-anchor": right ? "end" : "start", class: "move" }, game.hints && expected != null ? `${move} (${short(expected)})` : move),
  );
  point.setAttribute("role", last ? "img" : "button");
  if (last) return point;
  point.setAttribute("tabindex", "0");
  point.addEventListener("click", () => onPick(i));
  point.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    onPick(i);
  });
  return point;
}

// Of each value and remoteness the number of positions, on a logarithmic scale; *wide* are the pixels that there are.
export function countsChart(title, rows, wide) {
  const width = Math.max(280, wide), height = 240, left = 44, bottom = 30, top = 10;
  const ends = rows.filter((row) => row.remoteness != null);
  const most = Math.max(1, ...rows.map((row) => row.positions));
  const last = Math.max(0, ...ends.map((row) => row.remoteness)) + (ends.length && rows.length > ends.length ? 1 : 0);
  const step = (width - left) / (last + 1);
  const scale = (count) => (height - bottom - top) * (Math.log10(count + 1) / Math.log10(most + 1));
  const svg = element("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "font-size": 12 });
  const total = rows.reduce((sum, row) => sum + row.positions, 0);
  svg.append(element("title", {}, `${total.toLocaleString("en")} positions of ${title} by value and plies to the end, on a logarithmic scale`));
  for (let power = 1; power <= most; power *= 10) {
    const y = height - bottom - scale(power);
    svg.append(
      element("line", { x1: left, x2: width, y1: y, y2: y, stroke: "#8885" }),
      element("text", { x: left - 6, y: y + 4, "text-anchor": "end" }, power.toLocaleString("en", { notation: "compact" })),
    );
  }
  const sides = { win: 0, tie: 1, draw: 1, lose: 2 };
  for (const { value, remoteness, positions } of rows) {
    const broad = step * 0.28, x = left + step * ((remoteness ?? last) + 0.08 + sides[value] * 0.28);
    const tall = scale(positions), foot = height - bottom;
    const bar = element("rect", { x, y: foot - tall, width: broad, height: tall, fill: COLOURS[value], stroke: "#3338" });
    bar.append(element("title", {}, `${worth(value, remoteness)}: ${positions.toLocaleString("en")}`));
    svg.append(bar);
    if (broad > 7 && tall > 12)
      svg.append(element("text", { x: x + broad / 2, y: foot - 3, "text-anchor": "middle", style: `fill:${INK[value]}` }, SIGNS[value]));
  }
  const every = Math.ceil(26 / step); // pixels from number to number
  for (let count = 0; count <= last; count += every) {
    const text = !ends.length ? "" : rows.length > ends.length && count === last ? "∞" : count;
    svg.append(element("text", { x: left + step * (count + 0.5), y: height - 10, "text-anchor": "middle" }, text));
  }
  return svg;
}
