// The board: the server's picture brought to life. A person points at places, in the order that the game wants or in any,
// until one move is left; drags men; or goes from place to place by the arrow keys. Marks tell what moves are worth: of
// all of them before anything is picked, and then of those alone that go on from there.

import { explain, legend, line, mark, svgElement } from "./marks.js";
import { brings } from "./words.js";
import { dragging, neighbour, slide } from "./motion.js";

const MOST_LINES = 80; // of more moves than this no lines are drawn
const MOST_NAMES = 6; // places that are told by name
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

// How far *picked* places lead into a move: the places that may be next, none where all have been picked; or null.
export function next(move, picked) {
  const left = [...picked];
  for (const group of move.steps.length ? move.steps : [move.places]) {
    const taken = left.splice(0, group.length);
    if (!taken.every((place) => group.includes(place))) return null;
    if (taken.length < new Set(group).size) return left.length ? null : group.filter((place) => !taken.includes(place));
  }
  return left.length ? null : [];
}

export class Board {
  // *onMove* is called with the name of the move that was made, *onPick* whenever other moves fit what is picked.
  // *onSetUp* is called with the position that a person has set up; without it, none can. *onEdit* is called with true
  // where a person begins to set one up, and with false where it is given up.
  constructor(box, onMove, onPick, onSetUp, onEdit) {
    Object.assign(this, { box, onMove, onPick, onSetUp, onEdit, step: null, picked: [], mine: false, here: 0 });
    Object.assign(this, { editing: false, editor: null });
    this.bar = document.createElement("div");
    this.bar.className = "board-bar";
    this.bar.innerHTML = `<p class="board-said" aria-live="polite"></p><span class="board-ways"></span>
      <button type="button" class="board-flip" title="See the board from the other side">Flip</button>
      <button type="button" class="board-edit">Edit board</button>`;
    [this.said, this.ways, this.flipButton, this.editButton] = this.bar.children;
    this.flipButton.addEventListener("click", () => this.flip());
    this.editButton.addEventListener("click", () => this.edit());
    this.legend = legend();
    box.after(this.bar, this.legend);
  }

  // Show a position as the server tells it; *mine* says whether the person may move. When a game is over, none goes on.
  show(told, mine) {
    const step = told.over ? { ...told, moves: [] } : told;
    const [before, focused] = [this.step, this.hasFocus()];
    this.stopEditing();
    explain(this.legend, step);
    if (before?.variant !== step.variant) this.here = null;
    Object.assign(this, { step, picked: [], mine: mine && !step.over, busy: false });
    this.flipped = remembered(this.flipKey());
    this.draw();
    if (before?.variant === step.variant && before.pieces !== step.pieces) {
      slide(this.svg, before.pieces, step.pieces, (place) => this.at(place), { falls: step.falls, still: this.dropped });
    }
    this.dropped = null;
    if (focused) this.focus(this.here);
  }

  // The moves that touch all that is picked, as far as the game's order goes.
  fitting() {
    return this.step.moves.filter((one) => next(one, this.picked) !== null);
  }

  clear() {
    this.picked = [];
    if (this.editor) return;
    this.mark();
    this.onPick();
  }

  // The picture

  draw() {
    this.box.innerHTML = this.step.svg;
    this.svg = this.box.querySelector("svg");
    this.hits = [...this.svg.querySelectorAll("[data-place]")];
    const playable = this.hits.length > 0;
    this.flipButton.hidden = !playable;
    this.editButton.hidden = !this.onSetUp || !this.step.editable;
    this.flipButton.setAttribute("aria-pressed", String(this.flipped));
    if (playable) {
      const corners = this.hits.map((hit) => ({ x: Number(hit.getAttribute("x")) + 0.5, y: Number(hit.getAttribute("y")) + 0.5 }));
      const [xs, ys] = [corners.map(({ x }) => x), corners.map(({ y }) => y)];
      this.span = { left: Math.min(...xs), right: Math.max(...xs), top: Math.min(...ys), bottom: Math.max(...ys) };
      this.points = corners.map((point) => this.seen(point));
      this.svg.querySelector("g.lasts").append(...(this.step.touched ?? []).map((place) => lastMark(corners[place])));
      if (this.flipped) this.turnRound();
      this.bringToLife();
    }
    this.mark();
  }

  // Where a point of the server's picture is seen.
  seen({ x, y }) {
    const { left, right, top, bottom } = this.span;
    return this.flipped ? { x: left + right - x, y: top + bottom - y } : { x, y };
  }

  at(place) {
    return this.points[place];
  }

  turnRound() {
    const { left, right, top, bottom } = this.span;
    const turn = `rotate(180 ${(left + right) / 2} ${(top + bottom) / 2})`;
    for (const name of ["ground", "lasts", "ends"]) this.svg.querySelector(`g.${name}`)?.setAttribute("transform", turn);
    for (const hit of this.hits) {
      const { x, y } = this.at(hit.dataset.place);
      hit.setAttribute("x", x - 0.5);
      hit.setAttribute("y", y - 0.5);
    }
    for (const label of this.svg.querySelectorAll(".labels text")) {
      const [x, y] = [Number(label.getAttribute("x")), Number(label.getAttribute("y"))];
      if (x >= left && x <= right) label.setAttribute("x", left + right - x);
      if (y >= top && y <= bottom) label.setAttribute("y", top + bottom - y);
    }
    for (const drawn of this.svg.querySelectorAll(".men [data-at]")) {
      const { x, y } = this.at(drawn.dataset.at);
      const turned = drawn.classList.contains("sign") ? " rotate(180)" : ""; // an arrow by which one leaves the board
      drawn.setAttribute("transform", `translate(${x} ${y})${turned}`);
    }
  }

  flip() {
    this.flipped = !this.flipped;
    remember(this.flipKey(), this.flipped);
    this.draw();
    this.editor?.draw();
  }

  flipKey() {
    return `retrograde-flip-${this.step.variant.split(":")[0]}`;
  }

  // Picking

  bringToLife() {
    this.svg.setAttribute("role", "application");
    this.svg.setAttribute("aria-roledescription", "board");
    this.svg.setAttribute("aria-label", "Board. Arrow keys go from place to place, Enter picks, Escape clears.");
    this.svg.addEventListener("keydown", (event) => this.press(event));
    for (const hit of this.hits) {
      const place = Number(hit.dataset.place);
      hit.setAttribute("role", "button");
      hit.addEventListener("click", () => this.pick(place));
      hit.addEventListener("focus", () => {
        this.arrive(place);
        this.markHit(hit); // hints may have been switched since
      });
    }
    dragging(this.svg, (place) => this.at(place), {
      canLift: (place) => (this.editor ? this.editor.canLift(place) : this.canLift(place)),
      lifted: (place) => (this.editor ? null : this.lift(place)),
      dropped: (place, from) => (this.editor ? this.editor.drop(place, from) : this.drop(place)),
    });
  }

  // The moves that a place goes on with: from what is picked, or else from the beginning.
  through(place, picked = this.picked) {
    return this.step.moves.filter((one) => next(one, picked)?.includes(place));
  }

  reaching(place) {
    return this.picked.length ? [] : this.step.moves.filter((one) => one.reach.includes(place));
  }

  pick(place) {
    if (this.editor) this.editor.put(place);
    if (!this.mine || this.busy || this.editor) return;
    const reached = this.reaching(place);
    if (this.picked.includes(place)) this.unpick(place);
    else if (this.through(place).length) this.picked.push(place);
    else if (reached.length) return this.make(reached[0]);
    else this.picked = this.through(place, []).length ? [place] : [];
    const { whole, more } = this.stand();
    if (this.picked.length && whole.length === 1 && !more.length) this.make(whole[0]);
    else {
      this.mark();
      this.say();
      this.onPick();
    }
  }

  unpick(place) {
    const others = this.picked.filter((one) => one !== place);
    const fits = this.step.moves.some((one) => next(one, others) !== null);
    this.picked = fits ? others : this.picked.slice(0, this.picked.indexOf(place));
  }

  // Of the moves that fit, those of which everything is picked, and those that go on.
  stand() {
    const fitting = this.fitting();
    return { fitting, whole: fitting.filter((one) => !next(one, this.picked).length), more: fitting.filter((one) => next(one, this.picked).length) };
  }

  async make(move) {
    const { step } = this;
    this.busy = true;
    this.svg.setAttribute("aria-busy", "true");
    this.said.textContent = "";
    await this.onMove(move.name);
    if (this.step !== step) return;
    Object.assign(this, { busy: false, picked: [], dropped: null }); // it has not been made
    this.draw();
    this.onPick();
  }

  // Dragging

  hasMan(place) {
    return this.svg.querySelector(`.man[data-at="${place}"]`) !== null;
  }

  canLift(place) {
    if (!this.mine || this.busy || !this.hasMan(place)) return false;
    return this.picked.at(-1) === place || this.through(place).length > 0 || this.through(place, []).length > 0;
  }

  lift(place) {
    if (this.picked.at(-1) !== place) this.pick(place);
  }

  drop(place) {
    if (place === null || !this.through(place).length) return false;
    this.dropped = place;
    this.pick(place);
    return true;
  }

  // By keyboard

  press(event) {
    const place = Number(event.target.dataset?.place ?? this.here);
    if (ARROWS[event.key]) this.focus(neighbour(this.hits.map((hit) => Number(hit.dataset.place)), (one) => this.at(one), place, ARROWS[event.key]));
    else if (event.key === "Home") this.focus(0);
    else if (event.key === "End") this.focus(this.hits.length - 1);
    else if (event.key === "Enter" || event.key === " ") this.pick(place);
    else if (event.key === "Escape") this.escape();
    else if (this.editor && (event.key === "Delete" || event.key === "Backspace")) this.editor.put(place, ".");
    else return;
    event.preventDefault();
  }

  escape() {
    if (this.editor) return this.edit();
    this.clear();
    this.said.textContent = "Nothing is picked.";
  }

  hasFocus() {
    return [this.box, this.ways, this.editor?.panel].some((part) => part?.contains(document.activeElement));
  }

  arrive(place) {
    this.here = place;
    for (const hit of this.hits) hit.setAttribute("tabindex", hit.dataset.place === String(place) ? "0" : "-1");
  }

  focus(place) {
    this.hits[place ?? 0]?.focus({ preventScroll: true });
  }

  // What is seen and said of the moves

  mark() {
    if (!this.hits.length) return;
    const { fitting } = this.stand();
    const byPlace = new Map();
    for (const one of this.editor ? [] : fitting.filter((move) => move.value)) {
      for (const place of this.markedBy(one)) byPlace.set(place, [...(byPlace.get(place) ?? []), one]);
    }
    const spots = [...byPlace].map(([place, moves]) => mark(moves, this.at(place), this.hasMan(place)));
    const rings = this.picked.length ? [...byPlace.keys()].map((place) => this.ring(place)) : [];
    this.svg.querySelector("g.spots").replaceChildren(...rings, ...spots);
    const lines = this.editor || fitting.length > MOST_LINES ? [] : fitting.filter((one) => one.value && one.places.length === 2 && one.steps.length !== 1);
    this.svg.querySelector("g.lines").replaceChildren(...lines.reverse().map((one) => line(one, ...one.places.map((place) => this.at(place)))));
    for (const hit of this.hits) this.markHit(hit);
    if (this.here === null) this.here = Number(this.hits.find((hit) => hit.classList.contains("can"))?.dataset.place ?? 0);
    this.arrive(this.here);
    this.offerWays();
  }

  // Before anything is picked a move is marked where it ends, and one of many steps where it may begin.
  markedBy(move) {
    const short = !this.picked.length && move.places.length <= 2;
    return short ? move.places.slice(-1) : next(move, this.picked);
  }

  ring(place) {
    const { x, y } = this.at(place);
    return svgElement("circle", { class: "next", cx: x, cy: y, r: 0.14 });
  }

  markHit(hit) {
    const place = Number(hit.dataset.place);
    const goesOn = this.through(place);
    const can = this.mine && (goesOn.length || this.reaching(place).length || this.through(place, []).length || this.picked.includes(place));
    hit.classList.toggle("can", Boolean(can) || this.editor !== null);
    hit.classList.toggle("goes", this.mine && !this.editor && goesOn.length + this.reaching(place).length > 0);
    hit.classList.toggle("picked", this.picked.includes(place));
    hit.classList.toggle("lift", this.editor ? this.editor.canLift(place) : this.canLift(place));
    hit.setAttribute("aria-disabled", String(!can && !this.editor));
    hit.setAttribute("aria-label", this.label(place, goesOn.length ? goesOn : this.reaching(place)));
  }

  label(place, moves) {
    const { name, piece } = this.step.places[place];
    const what = this.editor ? this.editor.nameAt(place) : piece;
    const about = [what ? `${name}, ${what}` : `${name}, empty`];
    if (this.picked.includes(place)) about.push("picked");
    else if (moves.length && this.mine && !this.editor) {
      const [one] = moves;
      const worth = document.body.classList.contains("hints") ? `, ${brings(this.step, one)}` : "";
      about.push(moves.length > 1 ? `${moves.length} moves` : `${one.name}${worth}`);
    }
    return about.join("; ");
  }

  // Buttons for what pointing alone does not tell: a move that could go on, some that look the same, one without places.
  offerWays() {
    const { whole, more } = this.stand();
    const buttons = (this.mine && !this.editor ? whole : []).map((one) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = this.picked.length && whole.length === 1 && more.length ? `Done: ${one.name}` : one.name;
      const worth = document.createElement("small");
      worth.className = "worth";
      worth.textContent = ` ${brings(this.step, one)}`;
      button.append(worth);
      button.addEventListener("click", () => this.make(one));
      return button;
    });
    this.ways.replaceChildren(...buttons);
  }

  say() {
    const { fitting, whole, more } = this.stand();
    const called = (place) => this.step.places[place].name;
    if (!this.picked.length) {
      this.said.textContent = "Nothing is picked.";
      return;
    }
    const places = [...new Set(more.flatMap((one) => next(one, this.picked)))].sort((a, b) => a - b);
    const named = places.length <= MOST_NAMES ? listed(places.map(called)) : `one of ${places.length} places`;
    const man = this.step.places[this.picked[0]].piece;
    const what = this.picked.length === 1 && man ? `${called(this.picked[0])}, ${man}` : this.picked.map(called).join(", ");
    const done = whole.length > 1 || !more.length ? " Choose one of the moves." : whole.length ? " Done makes the move as it is." : "";
    const goes = places.length ? ` Next: ${named}.` : "";
    this.said.textContent = `Picked ${what}; ${fitting.length} ${fitting.length === 1 ? "move" : "moves"}.${goes}${done}`;
  }

  // Setting up

  async edit() {
    if (this.editing) {
      this.editButton.focus();
      this.giveUp("");
    } else if (!this.busy) {
      this.clear();
      this.editing = true;
      this.onEdit(true);
      try {
        const { Editor } = await import("./editor.js");
        await Editor.open(this);
      } catch (error) {
        this.giveUp(error.message);
      }
    }
  }

  // Set up no position after all, and say why.
  giveUp(words) {
    if (!this.editing) return;
    this.stopEditing();
    this.draw();
    this.onEdit(false);
    this.said.textContent = words;
  }

  stopEditing() {
    this.editing = false;
    this.editor?.close();
  }
}

// The mark of a place that the last move touched.
function lastMark({ x, y }) {
  return svgElement("rect", { class: "last", x: x - 0.46, y: y - 0.46, width: 0.92, height: 0.92, rx: 0.08 });
}

function listed(names) {
  return names.length > 1 ? `${names.slice(0, -1).join(", ")} or ${names.at(-1)}` : names.join("");
}

// What a person wants remembered; a browser that keeps nothing forgets it.
function remembered(key) {
  try {
    return localStorage.getItem(key) === "yes";
  } catch {
    return false;
  }
}

function remember(key, yes) {
  try {
    localStorage.setItem(key, yes ? "yes" : "no");
  } catch { /* then it holds as long as the page */ }
}
