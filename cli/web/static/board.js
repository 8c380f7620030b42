// The board: the server's picture brought to life. A person picks places, in any order, until one move is left.

export class Board {
  // *onMove* is called with the name of the move that was made, *onPick* whenever other moves fit what is picked.
  constructor(box, onMove, onPick) {
    Object.assign(this, { box, onMove, onPick, step: null, picked: [] });
  }

  // Show a position as the server tells it; *mine* says whether the person may move.
  show(step, mine) {
    this.step = step;
    this.picked = [];
    this.box.innerHTML = step.svg;
    if (mine && !step.over) this.bringToLife();
  }

  // The moves that touch all that is picked.
  fitting() {
    return this.step.moves.filter((one) => this.picked.every((place) => one.places.includes(place)));
  }

  bringToLife() {
    const used = new Set(this.step.moves.flatMap((one) => one.places));
    for (const hit of this.box.querySelectorAll("[data-place]")) {
      const place = Number(hit.dataset.place);
      if (!used.has(place)) continue;
      hit.classList.add("can");
      hit.setAttribute("tabindex", "0");
      hit.setAttribute("role", "button");
      const { name, piece } = this.step.places[place];
      hit.setAttribute("aria-label", piece ? `${name}, ${piece}` : name);
      hit.addEventListener("click", () => this.pick(place));
      hit.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        this.pick(place);
      });
    }
  }

  pick(place) {
    const { moves } = this.step;
    if (this.picked.includes(place)) this.picked = this.picked.filter((one) => one !== place);
    else if (moves.some((one) => [...this.picked, place].every((each) => one.places.includes(each)))) this.picked.push(place);
    else this.picked = moves.some((one) => one.places.includes(place)) ? [place] : [];
    const left = this.fitting();
    const whole = left.filter((one) => one.places.length === this.picked.length);
    if (this.picked.length && whole.length === 1 && left.length === 1) this.onMove(whole[0].name);
    else this.mark();
  }

  clear() {
    this.picked = [];
    this.mark();
  }

  mark() {
    for (const hit of this.box.querySelectorAll("[data-place]"))
      hit.classList.toggle("picked", this.picked.includes(Number(hit.dataset.place)));
    const names = new Set(this.fitting().map((one) => one.name));
    for (const drawn of this.box.querySelectorAll("[data-move]"))
      drawn.classList.toggle("other", !names.has(drawn.dataset.move));
    this.onPick();
  }
}
