// A game as it goes: its positions as the server tells them, who plays, and what can be taken back. It shows nothing.

import { ask } from "./ask.js";
import { joined } from "./address.js";

const ENDLESS = 3; // a game is a draw when a position comes up so often
const LONGEST = 1000; // plies after which it is one as well
const PATIENCE = 100; // plies without progress after which it is one by the fifty-move rule, where that is known

export class Game {
  constructor() {
    Object.assign(this, { variant: null, title: "", start: null, names: ["", ""], steps: [] });
    Object.assign(this, { players: ["human", "computer"], skill: 1, hints: true, paused: false, turn: 0 });
    this.later = []; // the names of moves that were taken back
  }

  get now() { return this.steps[this.steps.length - 1]; }
  get plies() { return this.steps.length - 1; }
  get mover() { return this.side(this.plies); }
  get moves() { return this.steps.slice(1).map((step) => step.name); }
  get mine() { return this.players[this.mover] === "human" && !this.now.chance; }
  get sides() { return this.now.seats === "one" ? [0] : [0, 1]; }
  get people() { return this.sides.filter((side) => this.players[side] === "human"); }
  // Whether a person may say how the dice fall: while they wait.
  get chosen() { return this.now.chance && this.paused; }
  get expected() { return this.now.metric === "expectation"; }
  get repeated() { return !this.expected && this.steps.filter((step) => this.same(step) === this.same(this.now)).length >= ENDLESS; }
  get tooLong() { return !this.now.over && this.now.count >= PATIENCE; } // null where nobody counts
  get over() { return this.now.over || this.tooLong || this.repeated || this.plies >= LONGEST; }

  // A position without the counters of a FEN: positions that differ in nothing else are the same.
  same({ position }) { return this.now.pgn ? position.replace(/ \d+ \d+$/, "") : position; }

  // Whose turn it is after so many plies: 0 for who began, 1 for another.
  side(ply) { return this.steps[ply].side; }

  // What a side is called in the words of the game. Of several players, all but the first are the other side.
  name(side) {
    if (this.now.seats === "one") return this.players[0] === "human" ? "You" : "The computer";
    if (this.now.seats === "several") return side ? "The others" : this.called(this.steps[0].seat);
    return capital(this.names[side]) || ["First", "Second"][side];
  }

  // What one of several players is called, by number: as the game says where it is this player's turn.
  called(seat) {
    return capital(this.steps.find((step) => step.seat === seat)?.turn) || `Player ${seat + 1}`;
  }

  // Who moves after so many plies.
  who(ply) { return this.now.seats === "several" ? this.called(this.steps[ply].seat) : this.name(this.side(ply)); }

  // What moves and the end have paid each side so far, or each of several players by number; null where moves pay nothing.
  get points() {
    if (!this.now.moves?.some((move) => move.paid.length) && !this.now.ends.length) return null;
    const several = this.now.seats === "several";
    const points = several ? [] : this.sides.map(() => 0);
    const add = (paid, mover) => paid.forEach((amount, who) => {
      const to = several ? who : who ? 1 - mover : mover;
      points[to] = (points[to] ?? 0) + amount;
    });
    this.steps.slice(1).forEach((step, i) => add(step.paid, this.side(i)));
    add(this.now.ends, this.mover);
    return points;
  }

  // The numbers of those of several players who have got the most at the end.
  get leaders() {
    const { points } = this;
    return points.map((_, seat) => seat).filter((seat) => points[seat] === Math.max(...points));
  }

  // The side that has won a game of two players that is over; null where nobody has.
  get winner() {
    const { points } = this;
    if (this.now.over && points?.length === 2) return points[0] === points[1] ? null : Number(points[1] > points[0]);
    if (!this.now.over || !["win", "lose"].includes(this.now.value)) return null;
    return this.now.value === "win" ? this.mover : 1 - this.mover;
  }

  // Something happens: what was under way is no longer wanted. Returns a function that tells whether that holds now.
  turnOver() {
    const turn = (this.turn += 1);
    return () => turn !== this.turn;
  }

  // Begin at a position, null for the usual start, and make moves; returns what is wrong with them, or null where
  // meanwhile something else has happened.
  async begin(variant, start, moves = []) {
    const late = this.turnOver();
    const told = await ask("game", { variant, position: start, moves: joined(moves) });
    if (late()) return null;
    const { steps } = told;
    learn(steps[steps.length - 1], told.last);
    Object.assign(this, { variant: told.variant, title: told.title, names: told.players, steps, later: [] });
    this.start = told.usual ? null : told.start;
    return told.problem;
  }

  // Let the last of some steps have all that the server knows of its position.
  async fill(steps, variant) {
    const last = steps[steps.length - 1];
    if (last.moves) return;
    const told = await ask("position", { variant, position: last.position, count: last.count });
    learn(last, told);
  }

  // Where no database knows the position, let the server search for some seconds; returns whether more is known of the
  // position at hand.
  async think() {
    const { turn, variant, now } = this;
    if (!now.open || now.thought) return false;
    now.thought = true;
    const told = await ask("position", { variant, position: now.position, line: true, search: true, count: now.count });
    learn(now, told);
    return turn === this.turn && now === this.now;
  }

  // Make a move; returns whether it was made.
  async play(name) {
    const choice = this.now.moves.find((one) => one.name === name);
    if (!choice || this.over) return false;
    const late = this.turnOver();
    const { position, places, paid, count } = choice;
    const next = { name, choice, touched: places, position, paid, count };
    await this.fill([next], this.variant);
    if (late()) return false;
    const another = choice.again ? this.mover : 1 - this.mover;
    next.side = next.seats === "several" ? Number(next.seat !== this.steps[0].seat) : another;
    this.steps.push(next);
    this.later = name === this.later[0] ? this.later.slice(1) : [];
    return true;
  }

  // Make moves again that were taken back, up to one's own next turn.
  async redo() {
    while (this.later.length && (await this.play(this.later[0])) && !this.mine);
  }

  // The move of the computer, or null where meanwhile something else has happened.
  async reply(pause) {
    const late = this.turnOver();
    await new Promise((resolve) => setTimeout(resolve, pause));
    if (late()) return null;
    const { variant, skill, now: { position, count } } = this;
    const told = await ask("reply", { variant, position, skill, count });
    return late() ? null : told.name;
  }

  // The number of plies that there were before one's own last move, or a machine's where only machines play; or null.
  get undone() {
    for (let ply = this.plies - 1; ply >= 0; ply -= 1)
      if (!this.people.length || this.players[this.side(ply)] === "human") return ply;
    return null;
  }

  // Go back to the position after so many plies. Machines wait there.
  async backTo(ply) {
    const late = this.turnOver();
    const steps = this.steps.slice(0, ply + 1);
    await this.fill(steps, this.variant);
    if (late()) return false;
    this.later = [...this.moves.slice(ply), ...this.later];
    this.steps = steps;
    this.paused = !this.mine;
    return true;
  }

  swap() {
    this.turnOver();
    this.players.reverse();
  }

  pgn() {
    const names = this.players.map((player) => (player === "human" ? "Human" : "retrograde"));
    const { variant, over: finished } = this;
    const { position, count } = this.steps[0];
    const [first, second] = names;
    return ask("pgn", { variant, position, moves: joined(this.moves), first, second, finished, count });
  }
}

// Let a step have what the server tells of its position. What the end pays is `ends`, and what the move paid stays `paid`.
function learn(step, { paid: ends, ...told }) {
  Object.assign(step, told, { ends });
}

export const capital = (text) => (text ? `${text[0].toUpperCase()}${text.slice(1)}` : "");
