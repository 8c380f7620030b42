// Positions set up by hand: men from a palette onto the board, by drag and drop, by clicks, or by keyboard. What has been
// put there leads to a position, or the game says in a line why it is none.

import { ask } from "./ask.js";
import { nearest } from "./motion.js";
import { svgElement } from "./marks.js";

const NOBODY = ".";

export class Editor {
  // Begin to set up a position on a board, from what stands there.
  static async open(board) {
    const { step } = board;
    const parts = await ask("board", { variant: step.variant });
    if (!board.editing || board.editor || board.step !== step) return; // given up meanwhile
    const editor = new Editor(board, parts);
    board.editor = editor;
    board.editButton.textContent = "Stop editing";
    board.draw();
    editor.draw();
    editor.say("Choose a piece and click places, or drag it. To remove a piece, drag it off the board.");
    editor.palette.querySelector("[aria-checked=true]")?.focus();
  }

  constructor(board, parts) {
    Object.assign(this, { board, parts, signs: [...board.step.pieces], chosen: parts.men[0]?.sign ?? NOBODY });
    this.turn = board.step.sign || parts.first;
    this.panel = document.createElement("section");
    this.panel.className = "board-editor";
    this.panel.setAttribute("aria-label", "Set up a position");
    this.panel.innerHTML = `<div class="board-palette" role="radiogroup" aria-label="Men to put on the board"></div>
      <div class="board-editor-row"><fieldset class="board-turn"><legend>To move</legend></fieldset>
      <button type="button" class="board-clear">Clear</button><button type="button" class="board-start">Start position</button>
      <button type="button" class="board-set-up">Set up</button></div><p class="board-fault" role="alert"></p>`;
    const part = (name) => this.panel.querySelector(`.board-${name}`);
    [this.palette, this.turns, this.fault] = ["palette", "turn", "fault"].map(part);
    this.fill();
    part("clear").addEventListener("click", () => this.replace([...parts.empty], "The board is empty."));
    part("start").hidden = parts.start === null;
    part("start").addEventListener("click", () => {
      this.choosePlayer(parts.first);
      this.replace([...parts.start], "The start position.");
    });
    part("set-up").addEventListener("click", () => this.setUp());
    board.bar.after(this.panel);
  }

  fill() {
    for (const { sign, name, svg } of [...this.parts.men, { sign: NOBODY, name: "nobody: take men away", svg: "" }]) {
      const button = document.createElement("button");
      button.type = "button";
      button.setAttribute("role", "radio");
      button.dataset.sign = sign;
      Object.assign(button, { title: name, innerHTML: svg ? `<svg viewBox="-.5 -.5 1 1" class="retrograde" aria-hidden="true">${svg}</svg>` : "⌫" });
      button.setAttribute("aria-label", name);
      button.addEventListener("click", () => this.choose(sign));
      button.addEventListener("keydown", (event) => this.pressInPalette(event, button));
      if (svg) this.dragFrom(button, sign);
      this.palette.append(button);
    }
    for (const { sign, name } of this.parts.players) {
      const label = document.createElement("label");
      label.innerHTML = `<input type="radio" name="board-turn" value=""> `;
      label.append(name);
      label.firstChild.value = sign;
      label.firstChild.addEventListener("change", () => { this.turn = sign; });
      this.turns.append(label);
    }
    this.turns.hidden = !this.parts.players.length;
    this.choosePlayer(this.turn);
    this.choose(this.chosen);
  }

  choosePlayer(sign) {
    this.turn = sign;
    for (const input of this.turns.querySelectorAll("input")) input.checked = input.value === sign;
  }

  choose(sign) {
    this.chosen = sign;
    for (const button of this.palette.children) {
      const yes = button.dataset.sign === sign;
      button.setAttribute("aria-checked", String(yes));
      button.tabIndex = yes ? 0 : -1;
    }
  }

  // Left and right choose as among radio buttons; up, or Enter, goes to the board.
  pressInPalette(event, button) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step) {
      const buttons = [...this.palette.children];
      const other = buttons[(buttons.indexOf(button) + step + buttons.length) % buttons.length];
      this.choose(other.dataset.sign);
      other.focus();
    } else if (event.key === "Enter" || event.key === "ArrowUp") {
      this.choose(button.dataset.sign);
      this.board.focus(this.board.here);
    } else return;
    event.preventDefault();
  }

  // A man taken from the palette follows the pointer, and stands where it is let go.
  dragFrom(button, sign) {
    button.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      this.choose(sign);
      button.setPointerCapture(event.pointerId);
      const { svg } = this.board;
      const layer = svg.querySelector("g.men");
      let man = null;
      const spot = (at) => new DOMPoint(at.clientX, at.clientY).matrixTransform(svg.getScreenCTM().inverse());
      const move = (at) => {
        man ??= layer.appendChild(this.man(sign, "held"));
        const { x, y } = spot(at);
        man.setAttribute("transform", `translate(${x} ${y})`);
      };
      const end = (at) => {
        button.removeEventListener("pointermove", move);
        for (const name of ["pointerup", "pointercancel"]) button.removeEventListener(name, end);
        man?.remove();
        const place = man && at.type === "pointerup" ? nearest(svg, (one) => this.board.at(one), spot(at)) : null;
        if (place !== null) this.put(place, sign);
      };
      button.addEventListener("pointermove", move);
      for (const name of ["pointerup", "pointercancel"]) button.addEventListener(name, end);
    });
  }

  // The board, which asks what is to be done where

  isGround(place) {
    return this.parts.empty[place] !== NOBODY;
  }

  canLift(place) {
    return this.signs[place] !== NOBODY && !this.isGround(place);
  }

  // Put the man that is chosen on a place, or take it away where it stands already.
  put(place, sign = this.signs[place] === this.chosen ? NOBODY : this.chosen) {
    if (this.isGround(place)) return this.say("This place is the exit: nothing can stand there.");
    this.signs[place] = sign;
    this.draw();
    this.say(`${this.board.step.places[place].name}: ${this.nameAt(place) || "empty"}.`);
  }

  // A man has been dragged; beside the board it is gone.
  drop(place, from) {
    if (place !== null && this.isGround(place)) return false;
    const { places } = this.board.step;
    const [sign, man] = [this.signs[from], this.nameAt(from)];
    this.signs[from] = NOBODY;
    if (place !== null) this.signs[place] = sign;
    this.draw();
    this.say(`${places[from].name}: empty; ${place === null ? `${man} is gone` : `${places[place].name}: ${man}`}.`);
    return place !== null;
  }

  nameAt(place) {
    return this.parts.men.find(({ sign }) => sign === this.signs[place])?.name ?? "";
  }

  replace(signs, words) {
    this.signs = signs;
    this.draw();
    this.say(words);
  }

  man(sign, kind, place) {
    const made = svgElement("g", { class: `man ${kind}` });
    if (place !== undefined) made.setAttribute("data-at", place);
    made.innerHTML = this.parts.men.find((one) => one.sign === sign)?.svg ?? "";
    return made;
  }

  // Draw the men as they stand now in place of those of the position.
  draw() {
    const { board } = this;
    for (const name of ["lasts", "ends"]) board.svg.querySelector(`g.${name}`).replaceChildren();
    for (const old of board.svg.querySelectorAll(".men .man")) old.remove();
    this.signs.forEach((sign, place) => {
      if (sign === NOBODY || this.isGround(place)) return;
      const man = this.man(sign, "", place);
      const { x, y } = board.at(place);
      man.setAttribute("transform", `translate(${x} ${y})`);
      board.svg.querySelector("g.men").append(man);
    });
    this.fault.textContent = "";
    board.mark();
  }

  say(words) {
    this.board.said.textContent = words;
  }

  async setUp() {
    this.fault.textContent = "";
    try {
      const { position } = await ask("setup", { variant: this.board.step.variant, pieces: this.signs.join(""), turn: this.turn });
      await this.board.onSetUp(position);
    } catch (error) {
      this.fault.textContent = `That is no position: ${error.message}.`;
    }
  }

  close() {
    this.panel.remove();
    this.board.editor = null;
    this.board.editButton.textContent = "Edit board";
    this.say("");
  }
}
