// The two charts: what the positions of the game so far are worth, and all positions of the database.

export const COLOURS = { win: "#008000", tie: "#ffff00", draw: "#ffff00", lose: "#800000" };

function element(name, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

// Best for who began on the left, for the other on the right; the nearer the end, the further from the middle.
export function historyChart(steps) {
  const width = 300, row = 26, middle = width / 2, reach = middle - 45;
  const most = Math.max(1, ...steps.map((step) => step.remoteness ?? 0));
  const points = steps.map((step, i) => {
    const sign = { win: -1, lose: 1, tie: 0, draw: 0 }[step.value] * (i % 2 ? -1 : 1);
    return [middle + sign * reach * (1 - (0.85 * (step.remoteness ?? 0)) / most), row * (i + 1.6)];
  });
  const height = row * (steps.length + 1.5);
  const svg = element("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "font-size": 11 });
  svg.append(
    element("title", {}, steps.map((step) => `${step.name ?? "start"}: ${step.value} ${step.remoteness ?? ""}`).join("; ")),
    element("line", { x1: middle, x2: middle, y1: row, y2: height, stroke: "#999", "stroke-dasharray": "3 3" }),
    element("text", { x: 4, y: 13 }, "first wins"),
    element("text", { x: width - 4, y: 13, "text-anchor": "end" }, "second wins"),
    element("polyline", { points: points.map((point) => point.join()).join(" "), fill: "none", stroke: "#888", "stroke-width": 2 }),
  );
  points.forEach(([x, y], i) => {
    const { value, remoteness, name } = steps[i];
    const ink = value === "tie" || value === "draw" ? "#000" : "#fff";
    const label = element("text", { x, y: y + 4, "text-anchor": "middle", style: `fill:${ink}`, "font-size": 10 }, `${remoteness ?? "∞"}`);
    svg.append(
      element("circle", { cx: x, cy: y, r: 10, fill: COLOURS[value], stroke: "#333" }),
      label,
      element("text", { x: x > middle ? x - 15 : x + 15, y: y + 4, "text-anchor": x > middle ? "end" : "start" }, i ? `${i}. ${name}` : "start"),
    );
  });
  return svg;
}

// Of each value and remoteness the number of positions, on a logarithmic scale.
export function countsChart(variant, rows) {
  const width = 900, height = 240, left = 60, bottom = 30, top = 10;
  const ends = rows.filter((row) => row.remoteness != null);
  const most = Math.max(1, ...rows.map((row) => row.positions));
  const last = Math.max(0, ...ends.map((row) => row.remoteness)) + (rows.length > ends.length ? 1 : 0);
  const step = (width - left) / (last + 1);
  const scale = (count) => (height - bottom - top) * (Math.log10(count + 1) / Math.log10(most + 1));
  const svg = element("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "font-size": 12 });
  const total = rows.reduce((sum, row) => sum + row.positions, 0);
  svg.append(element("title", {}, `${total.toLocaleString("en")} positions of ${variant} by value and plies to the end, on a logarithmic scale`));
  for (let power = 1; power <= most; power *= 10) {
    const y = height - bottom - scale(power);
    svg.append(
      element("line", { x1: left, x2: width, y1: y, y2: y, stroke: "#8885" }),
      element("text", { x: left - 6, y: y + 4, "text-anchor": "end" }, power.toLocaleString("en", { notation: "compact" })),
    );
  }
  const sides = { win: 0, tie: 1, draw: 1, lose: 2 };
  for (const { value, remoteness, positions } of rows) {
    const x = left + step * ((remoteness ?? last) + 0.08 + sides[value] * 0.28);
    const tall = scale(positions);
    const bar = element("rect", { x, y: height - bottom - tall, width: step * 0.28, height: tall, fill: COLOURS[value], stroke: "#3338" });
    bar.append(element("title", {}, `${value}${remoteness == null ? "" : ` in ${remoteness}`}: ${positions.toLocaleString("en")}`));
    svg.append(bar);
  }
  const every = Math.ceil((last + 1) / 24);
  for (let plies = 0; plies <= last; plies += every) {
    const text = rows.length > ends.length && plies === last ? "∞" : plies;
    svg.append(element("text", { x: left + step * (plies + 0.5), y: height - 10, "text-anchor": "middle" }, text));
  }
  return svg;
}
