// Best play: the line from the position at hand, which can be stepped through on the board, or after a move that is
// pointed at. Lines take many look-ups, and so are asked for when they are wanted.

import { ask } from "./ask.js";

export class BestPlay {
  // *onStep* is called when another position is to be seen.
  constructor(game, onStep) {
    Object.assign(this, { game, onStep, ahead: [], busy: false });
  }

  // The position to be seen: that of the game, or one of best play.
  get shown() { return this.ahead.at(-1) ?? this.game.now; }
  get exists() { return !this.game.over && !this.game.expected && !this.game.now.open; }
  get goesBack() { return this.ahead.length > 0; }
  get goesOn() {
    const ends = this.shown.over || (this.game.now.line.length > 0 && this.ahead.length >= this.game.now.line.length);
    return this.exists && !ends && (this.game.mine || this.game.paused);
  }

  // Return the names of the moves from the position at hand on, or after a move from there.
  async line(move = this.game.now, asking = ask) {
    const { variant } = this.game;
    if (!move.line?.length) {
      const { position, count } = move;
      move.line = (await asking("position", { variant, position, line: true, count })).line;
    }
    return move.line;
  }

  // Go on by one ply on the board, or back. Nothing is played.
  async step(by) {
    if (this.busy) return;
    this.busy = true;
    try {
      if (by > 0) await this.goOn();
      else this.ahead.pop();
    } finally {
      this.busy = false;
    }
    this.onStep();
  }

  async goOn() {
    const { now, variant } = this.game;
    const name = (await this.line())[this.ahead.length];
    const move = this.shown.moves.find((one) => one.name === name);
    const told = move && (await ask("position", { variant, position: move.position, count: move.count }));
    if (told && now === this.game.now) this.ahead.push({ ...told, touched: move.places });
  }
}
