// Men that move: from place to place after a move, or under a person's pointer. Nothing moves by itself for those who
// have asked for less motion.

const SLIDE = 220; // milliseconds from a place to another
const FALL = 130; // milliseconds for a fall of one cell; the longer, the faster
const MOST = 10; // more places than this change when it is another position, no move
const THRESHOLD = 6; // pixels that a pointer may tremble in a click

const lessMotion = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

// Let men come from where they were. *before* and *after* are signs by place, *at* tells where a place is drawn.
export function slide(svg, before, after, at, { falls, still }) {
  if (lessMotion() || before.length !== after.length) return;
  const places = [...after].map((_, place) => place).filter((place) => before[place] !== after[place]);
  const gone = places.filter((place) => before[place] !== ".");
  const come = places.filter((place) => after[place] !== "." && place !== still);
  if (places.length > MOST) return;
  const distance = (a, b) => Math.hypot(at(a).x - at(b).x, at(a).y - at(b).y);
  for (const place of come) {
    const man = svg.querySelector(`.man[data-at="${place}"]`);
    const from = gone.filter((other) => before[other] === after[place]).sort((a, b) => distance(a, place) - distance(b, place))[0];
    const end = `translate(${at(place).x}px, ${at(place).y}px)`;
    if (from !== undefined) {
      gone.splice(gone.indexOf(from), 1);
      man?.animate([{ transform: `translate(${at(from).x}px, ${at(from).y}px)` }, { transform: end }], { duration: SLIDE, easing: "ease" });
    } else if (falls) {
      const top = Math.min(...[...after].map((_, other) => at(other).y)) - 1;
      const duration = FALL * Math.sqrt(at(place).y - top);
      man?.animate([{ transform: `translate(${at(place).x}px, ${top}px)` }, { transform: end }], { duration, easing: "ease-in" });
    } else man?.animate([{ opacity: 0 }, { opacity: 1 }], { duration: SLIDE });
  }
}

// Let men be dragged. *canLift(place)* tells whether somebody may take the man there, *lifted(place)* that it has been
// done, and *dropped(place, from)* where it was put: null is beside the board. It returns whether the man may lie there.
export function dragging(svg, at, { canLift, lifted, dropped }) {
  const spot = (event) => new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
  let held = null;
  svg.addEventListener("pointerdown", (event) => {
    const place = event.target.dataset.place;
    if (event.button !== 0 || place === undefined || !canLift(Number(place))) return;
    held = { place: Number(place), x: event.clientX, y: event.clientY, pointer: event.pointerId, moving: false };
  });
  // A finger on a man moves him and not the page; a browser heeds touch-action on whole pictures only.
  svg.addEventListener("touchmove", (event) => { if (held) event.preventDefault(); }, { passive: false });
  svg.addEventListener("pointermove", (event) => {
    if (!held || event.pointerId !== held.pointer) return;
    if (!held.moving) {
      if (Math.hypot(event.clientX - held.x, event.clientY - held.y) < THRESHOLD) return;
      held.moving = true;
      svg.setPointerCapture(held.pointer);
      lifted(held.place);
      held.man = svg.querySelector(`.man[data-at="${held.place}"]`);
      held.man?.classList.add("held");
      held.man?.parentNode.append(held.man); // above the others
    }
    const { x, y } = spot(event);
    held.man?.setAttribute("transform", `translate(${x} ${y})`);
  });
  const release = (event) => {
    if (!held || event.pointerId !== held.pointer) return;
    const { place, moving, man } = held;
    held = null;
    if (!moving) return;
    const ignore = (click) => click.stopPropagation(); // the click that ends a drag picks nothing
    svg.addEventListener("click", ignore, { capture: true, once: true });
    setTimeout(() => svg.removeEventListener("click", ignore, { capture: true }));
    man?.classList.remove("held");
    const over = event.type === "pointercancel" ? place : nearest(svg, at, spot(event));
    const lies = over !== place && dropped(over, place);
    const { x, y } = at(lies ? over : place);
    man?.setAttribute("transform", `translate(${x} ${y})`);
  };
  svg.addEventListener("pointerup", release);
  svg.addEventListener("pointercancel", release);
}

// The place under a point of the picture, or null.
export function nearest(svg, at, { x, y }) {
  for (const hit of svg.querySelectorAll("[data-place]")) {
    const place = Number(hit.dataset.place);
    if (Math.abs(at(place).x - x) <= 0.5 && Math.abs(at(place).y - y) <= 0.5) return place;
  }
  return null;
}

// The place that an arrow key leads to: ahead of all, and less to the side than ahead, or as it comes.
export function neighbour(places, at, place, [right, down]) {
  const here = at(place);
  const cost = (other) => {
    const [dx, dy] = [at(other).x - here.x, at(other).y - here.y];
    const ahead = dx * right + dy * down;
    return ahead > 0.05 ? ahead + 3 * Math.abs(dx * down + dy * right) : Infinity;
  };
  const best = places.reduce((a, b) => (cost(b) < cost(a) ? b : a), place);
  return cost(best) === Infinity ? place : best;
}
