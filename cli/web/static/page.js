// The page: a board to play on. The server draws the board and knows all values; here are only the game as it goes and
// the two charts. The address holds variant and position, so that a link can be shared.

const $ = (id) => document.getElementById(id);
const PLAYERS = { human: "you", computer: "perfect player" };
const COLOURS = { win: "#008000", tie: "#ffff00", draw: "#ffff00", lose: "#800000" };
const PAUSE = 350; // milliseconds before the computer moves

let variants = [];
let steps = []; // the positions of the game as the server tells them, each with the name of the move that led there
let picked = []; // places picked for a move that touches more than one
let turnNumber = 0; // so that an answer that comes too late is known for one

const now = () => steps[steps.length - 1];
const mover = () => (steps.length + 1) % 2; // 0 where who began is to move
const seat = (side) => $(side ? "second" : "first");
const plies = (count) => `${count} ${count === 1 ? "ply" : "plies"}`;

async function ask(path, parameters) {
  const query = new URLSearchParams(Object.entries(parameters ?? {}).filter(([, value]) => value != null));
  const response = await fetch(`/api/${path}?${query}`);
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error ?? response.statusText);
  return answer;
}

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
  picked = [];
  history.replaceState(null, "", `/?${new URLSearchParams({ v: variant, p: position })}`);
  document.title = `${variant} – retrograde`;
  $("board").innerHTML = now().svg;
  $("position").value = position;
  $("status").textContent = sentence();
  $("undo").disabled = steps.length < 2;
  $("line").textContent = now().line.join(" ") || "The game is over.";
  bringToLife();
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

function fitting() {
  return now().moves.filter((one) => picked.every((place) => one.places.includes(place)));
}

function bringToLife() {
  if (now().over || seat(mover()).value !== "human") return;
  const used = new Set(now().moves.flatMap((one) => one.places));
  for (const hit of $("board").querySelectorAll("[data-place]")) {
    const place = Number(hit.dataset.place);
    if (!used.has(place)) continue;
    hit.classList.add("can");
    hit.setAttribute("tabindex", "0");
    hit.setAttribute("role", "button");
    const { name, piece } = now().places[place];
    hit.setAttribute("aria-label", piece ? `${name}, ${piece}` : name);
    hit.addEventListener("click", () => pick(place));
    hit.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      pick(place);
    });
  }
}

function pick(place) {
  if (picked.includes(place)) picked = picked.filter((one) => one !== place);
  else if (now().moves.some((one) => [...picked, place].every((each) => one.places.includes(each)))) picked.push(place);
  else picked = now().moves.some((one) => one.places.includes(place)) ? [place] : [];
  const left = fitting();
  const whole = left.filter((one) => one.places.length === picked.length);
  if (picked.length && whole.length === 1 && left.length === 1) {
    trying(() => move(whole[0].name));
    return;
  }
  markPicked();
  showMoves();
}

function markPicked() {
  for (const hit of $("board").querySelectorAll("[data-place]"))
    hit.classList.toggle("picked", picked.includes(Number(hit.dataset.place)));
  const names = new Set(fitting().map((one) => one.name));
  for (const drawn of $("board").querySelectorAll("[data-move]"))
    drawn.classList.toggle("other", !names.has(drawn.dataset.move));
}

function showMoves() {
  const list = $("moves");
  list.replaceChildren();
  const mine = seat(mover()).value === "human";
  const moves = fitting();
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
  $("picking").hidden = !picked.length;
  $("picking").querySelector("span").textContent = `${moves.length} ${moves.length === 1 ? "move" : "moves"} from what is picked.`;
}

// Charts

function element(name, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

// Best for who began on the left, for the other on the right; the nearer the end, the further from the middle.
function showHistory() {
  const box = $("history");
  if (!$("hints").checked) {
    box.textContent = "Switch hints on to see it.";
    return;
  }
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
  box.replaceChildren(svg);
  box.scrollTop = box.scrollHeight;
}

async function showCounts(variant) {
  const rows = await ask("counts", { variant });
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
  $("counts").replaceChildren(svg);
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
  $("clear").addEventListener("click", () => { picked = []; markPicked(); showMoves(); });
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
