"""The audit of a certificate: every reply checked on its own, against the rules and what else is stored.

A certificate says of its root that it is worth so much at least, and so much at most, to whoever is to move there. It
proves it by a set of positions, for each of which it claims: *whoever is to move here reaches the goal*, a win, a tie
or a draw at least. For each it has a reply. Checked is, of every position p in the set, with the goal g:

1. p is canonical, and the game is not over there; its reply is a legal move.
2. After the reply the game is over, with g or better for who made it; or else there are answers to it, and of each one
   of these holds: the game is over, with g or better; the position after it, q, is in the set; or plain play, all moves
   tried, reaches g from q within a fixed number of plies (*leaves*), which is why q need not be stored.
3. Where q is in the set, play comes nearer to an end: the bound of q is less than that of p by two at least, where
   bounds are stored, or else the tier of q is greater than that of p. Only for the goal draw neither is asked.
4. The same as 2 and 3 holds at one image of p, for a move that leads to an image of what the reply leads to; and every
   q is one of the images of the position that stands for it.

And of the root: it is in the set, if something is claimed at least; and what every move leads to is in the set, or is
good enough as in 2, for the other player, if something is claimed at most.

Certificates are for games of two players without chance, in which the ends alone decide who wins. Where `turn` lets a
player move again, "the answers" in 2 are all moves of the other side until the first side is to move once more, and a
bound falls by one with every ply. Such moves must come to an end as well, unless the goal is a draw. Where the first
side moves again, the position after the reply must itself be in the set, or be held by plain play. These games are
checked interpreted.

Why that is a proof. Let a side play by the replies from a position of the set. By 2 each answer leads to an end that is
good enough, or into the set again, or to where plain play gets there; so the side is never without a move that is
good, and no end is ever worth less than g. For a win or a tie the end must come as well: by 3 bounds, which are not
negative, or tiers, of which there are finitely many, do not let play go on for ever; and a bound of n is a win within n
plies, by induction on n. For a draw play may go on for ever, for that is one: a set that play cannot leave, in which no
end is a loss, is all there is to prove, and no distance is needed. That one can go round in it does not deceive, for
to go round is what is claimed. Two sides may share the set, as they do where neither can win: a claim is about whoever
is to move, and 1 to 3 do not ask who that was at the root.

At most: if after each move of the root the other player does not lose, the root is no win; if the other player wins,
it is a loss. A tie is proved where the player to move reaches a tie at least and the other one a tie at least: by both
strategies play ends, in a tie, and no position on the way is won by either. Where only a draw is reached on both
sides, the value may be a draw or a tie: that much is claimed.

It rests on the rules, on symmetry as far as 4 does not try it (where no position has more than two images, 4 tries
all), and on the compiler, as the audit of databases does (see `verify.py`).
"""

import time
from concurrent.futures import Executor, ThreadPoolExecutor
from itertools import islice

import numpy as np

from retrograde.databases import Certificate
from retrograde.games.catalog import variant
from retrograde.games.contract.game import (
    CHANCE,
    DRAW,
    FLIPPED,
    LOSE,
    MOST_IMAGES,
    TIE,
    UNDECIDED,
    WIN,
    RuleError,
    Value,
    alternates,
    defines,
    mover,
    same_mover,
    value_to_mover,
)
from retrograde.solver.rules.examine import not_for_proofs
from retrograde.solver.runtime.progress import Listener, Phase, announce
from retrograde.solver.verification.audit import COMPILED, MOST_PROBLEMS, Problem, spread_evenly
from retrograde.solver.verification.certificate_kernels import FALLING, FOR_EVER, RISING, Stored
from retrograde.solver.verification.faults import chosen_image, images_of
from retrograde.solver.verification.verify import Verification

SMALL = 300
"""Certificates of no more positions are checked interpreted."""
BLOCK = 1 << 11
"""Positions in a task."""
SAMPLE_SECONDS = 1.0
PROVABLE = {(WIN, WIN), (LOSE, LOSE), (TIE, TIE), (TIE, WIN), (DRAW, TIE), (DRAW, WIN), (LOSE, TIE)}
"""What can be claimed at least and at most."""
UNEXPLAINED = "is right by the rules interpreted, wrong by the rules compiled"
WORDS = {WIN: "a win", TIE: "a tie", DRAW: "a draw", LOSE: "a loss"}


class Unsound(Exception):
    """What is wrong with a position, in words that follow its text."""


class CertificateAudit:
    """A certificate, and what is found about it."""

    def __init__(self, certificate: Certificate, every_image: bool = False) -> None:
        self.every_image = every_image
        self.file, self.game = certificate.file, certificate.game
        self.positions, self.replies, bounds = certificate.content
        self.ending = FALLING if bounds is not None else FOR_EVER if certificate.goal == DRAW else RISING
        self.bounds = np.zeros(0, np.int64) if bounds is None else bounds
        self.goal, self.leaves = certificate.goal, self.file.leaves
        self.problems: list[Problem] = []
        self.wrong = 0
        self.compiled = False
        """Whether rules are compiled; then plain play, which takes long, is as well."""

    # Interpreted

    def check(self, place: int) -> None:
        """Note what is wrong with what is stored in a place."""
        position = int(self.positions[place])
        try:
            self.check_reply(place, position)
        except Unsound as error:
            self.complain(position, str(error))
        except Exception as error:  # whatever the rules may raise when asked about what is no position
            self.complain(position, f"is stored, and no position: {error}")

    def check_reply(self, place: int, position: int) -> None:
        """Raise Unsound where the reply of a place is wrong."""
        game = self.game
        if game.canonical(position) != position:
            raise Unsound("is stored, and is not canonical")
        if game.primitive(position) != UNDECIDED:
            raise Unsound("is stored, and the game is over there")
        number = int(self.replies[place])
        move = next(islice(game.generate_moves(position), number, None), None)
        if move is None:
            raise Unsound(f"has no move number {number}, which is its reply")
        child = game.do_move(position, move)
        self.check_answers(place, position, child, f"has the reply {game.move_name(position, move)}")
        images = images_of(game, position)[1:] if self.every_image else chosen_image(game, position)
        for image in images:
            target, name = game.canonical(child), f"has the image {self.text(image)}"
            if game.canonical(image) != position or game.primitive(image) != UNDECIDED:
                raise Unsound(f"{name}, which is none")
            others = [game.do_move(image, move) for move in game.generate_moves(image)]
            same = [other for other in others if game.canonical(other) == target and other in images_of(game, target)]
            if not same:
                raise Unsound(f"{name}, where no move is the same as the reply")
            self.check_answers(place, image, same[0], f"{name}, where the reply is the same")

    def check_answers(self, place: int, position: int, child: int, name: str) -> None:
        """Raise Unsound where what a reply leads to, from a position or an image of it, is not good enough."""
        game, left = self.game, int(self.bounds[place]) - 1 if self.ending == FALLING else None
        tier, value = game.tier(int(self.positions[place])), game.primitive(child)
        if value != UNDECIDED:
            own = value_to_mover(game, position, child, value)
            fault = f", and the game is over: {WORDS[own]}" if own < self.goal or left == -1 else ""
        elif self.moves_again(position, child):
            fault = self.fault_of(child, tier, left)
            fault = fault and f", after which the same side is to move: {fault}"
        else:
            fault = self.fault_of_answers(child, tier, left, {})
        if fault:
            raise Unsound(f"{name}{fault}")

    def moves_again(self, position: int, child: int) -> bool:
        """Return whether the side that moved to an undecided child is to move again; raise Unsound if chance is."""
        if not alternates(self.game) and mover(self.game, child) == CHANCE:
            raise Unsound(f"leads to {self.text(child)}, where it is chance's turn")
        return same_mover(self.game, position, child)

    def fault_of_answers(
        self, position: int, tier: int | None, left: int | None, met: dict[tuple[int, int | None], bool]
    ) -> str:
        """Return what is wrong with some answer of the other side, which is to move; an empty string if nothing is.

        The other side may move several times running. *left* is the number of plies in which the goal must be reached.
        *met* holds the positions of such runs, and whether each is done.
        """
        game = self.game
        if left is not None and left < 1:
            return f", and has a bound of {left + 1} there"
        if met.setdefault((position, left), False):
            return ""
        answers = list(game.generate_moves(position))
        for answer in answers:
            after = game.do_move(position, answer)
            value, below = game.primitive(after), None if left is None else left - 1
            if value == UNDECIDED and self.moves_again(position, after):
                if met.get((after, below)) is False:
                    fault = "" if self.ending == FOR_EVER else ": play may go on for ever"
                else:
                    fault = self.fault_of_answers(after, tier, below, met)
            else:
                other = value_to_mover(game, position, after, value)
                fault = self.fault_of(after, tier, below) if value == UNDECIDED else self.fault_of_end(FLIPPED[other])
                fault = fault and f": {fault}"
            if fault:
                return f", which is answered by {game.move_name(position, answer)}{fault}"
        met[position, left] = True
        return "" if answers else ", to which there is no answer"

    def fault_of_end(self, value: Value) -> str:
        """Return that an end is not good enough for the side that it has this value for; else an empty string."""
        return "" if value >= self.goal else f"the game is over: {WORDS[value]}"

    def fault_of(self, position: int, tier: int | None, left: int | None) -> str:
        """Return what keeps the player to move from the goal in an undecided position; an empty string if nothing does.

        What stands for it must be in a greater tier, and have a bound of no more than *left*, where these are given.
        """
        game, leaves = self.game, self.leaves
        canonical = game.canonical(position)
        place, fault = self.place_of(canonical), "it leads to a position that is not stored"
        if place >= 0 and position in images_of(game, canonical):
            rises = self.ending != RISING or tier is None or game.tier(canonical) > tier
            falls = left is None or int(self.bounds[place]) <= left
            if rises and falls:
                return ""
            fault = "tiers do not rise" if falls else f"its bound is {self.bounds[place]}, and {left} plies are left"
        return "" if self.decided(position, leaves if left is None else min(leaves, left)) else fault

    def decided(self, position: int, plies: int) -> bool:
        """Tell whether the player to move can reach the goal within so many plies, by trying all there is."""
        game = self.game
        if plies < 1:
            return False
        if self.compiled and plies > 3:
            from retrograde.solver.verification.certificate_kernels import is_decided

            return bool(is_decided(game, position, int(self.goal), plies))
        children = [game.do_move(position, move) for move in game.generate_moves(position)]
        ends = [game.primitive(child) for child in children]
        over = [value_to_mover(game, position, *pair) for pair in zip(children, ends, strict=True) if pair[1]]
        if any(value >= self.goal for value in over):
            return True
        going_on = [child for child, end in zip(children, ends, strict=True) if end == UNDECIDED]
        return plies > 1 and any(
            self.decided(child, plies - 1) if self.moves_again(position, child) else self.withstood(child, plies - 1)
            for child in going_on
        )

    def withstood(self, position: int, plies: int) -> bool:
        """Tell whether the goal is reached within so many plies whatever the other side does, which is to move."""
        answers = [self.game.do_move(position, move) for move in self.game.generate_moves(position)]
        return plies > 0 and bool(answers) and all(self.reached(position, after, plies - 1) for after in answers)

    def reached(self, position: int, after: int, plies: int) -> bool:
        """Tell whether the goal is reached, or can be within so many plies, after a move of the other side."""
        value = self.game.primitive(after)
        if value != UNDECIDED:
            return FLIPPED[value_to_mover(self.game, position, after, value)] >= self.goal
        again = self.moves_again(position, after)
        return self.withstood(after, plies) if again else self.decided(after, plies)

    def place_of(self, position: int) -> int:
        """Return the place of a canonical position; -1 where it is not stored."""
        place = int(np.searchsorted(self.positions, position))
        return place if place < len(self.positions) and self.positions[place] == position else -1

    # Compiled

    def can_compile(self) -> bool:
        """Compile the loop that checks, and tell whether the rules allow it; it takes it that turns alternate."""
        if not alternates(self.game):
            return False
        from numba.core.errors import NumbaError

        from retrograde.solver.rules import compiled

        compiled.prepare(self.game)
        try:
            self.wrong_between((0, 0))
        except (NumbaError, RuleError):
            return False
        self.compiled = True
        return True

    def wrong_between(self, places: tuple[int, int]) -> tuple[int, list[int]]:
        """Return how many places are checked from one to another, and those that are wrong.

        Rules that are asked about what is no position may look where there is nothing; which position it is shows when
        they are asked about fewer.
        """
        first, last = places
        try:
            return last - first, self.run(first, last)
        except IndexError:
            if last - first == 1:
                return 1, [first]
        middle = (first + last) // 2
        return last - first, self.wrong_between((first, middle))[1] + self.wrong_between((middle, last))[1]

    def run(self, first: int, last: int) -> list[int]:
        """Return the places from one to another, exclusive, that are wrong by the compiled rules."""
        from retrograde.solver.rules.active import asking
        from retrograde.solver.rules.compiled import Guarded
        from retrograde.solver.verification.certificate_kernels import check_replies

        stored = Stored(self.positions, self.replies, self.bounds, int(self.goal), self.leaves, self.ending)
        wrong = np.empty(last - first, np.int64)
        images = np.empty(MOST_IMAGES if defines(self.game, "images") else 1, np.int64)
        trouble = np.zeros(2, np.int64)
        with asking(self.game, trouble):
            count = check_replies(Guarded(self.game), stored, first, last, wrong, images, trouble, self.every_image)
        places: list[int] = wrong[:count].tolist()
        return places

    def check_compiled(self, executor: Executor, phase: Phase) -> None:
        """Check all places by the compiled rules, and some by the interpreted."""
        count, suspects = len(self.positions), []
        blocks = [(first, min(first + BLOCK, count)) for first in range(0, count, BLOCK)]
        for done, wrong in executor.map(self.wrong_between, blocks):
            suspects += wrong
            phase.advance(done)
        for place in suspects[:MOST_PROBLEMS]:
            before = self.wrong
            self.check(place)
            if self.wrong == before:
                self.complain(
                    int(self.positions[place]), "is right by the rules interpreted, wrong by the rules compiled"
                )
        self.wrong += max(len(suspects) - MOST_PROBLEMS, 0)
        deadline = time.monotonic() + SAMPLE_SECONDS
        for place in spread_evenly(count) if not suspects else ():
            if time.monotonic() > deadline:
                break
            self.check(place)

    # The whole

    def verify_root(self) -> None:
        """Note what is wrong with the root, and with what is claimed of it."""
        file, game, root = self.file, self.game, self.file.root
        if (file.at_least, file.at_most) not in PROVABLE:
            self.complain(None, "it claims of its root what no certificate proves")
            return
        try:
            if game.primitive(root) != UNDECIDED:
                self.complain(root, "is the root, and the game is over there")
                return
            if not alternates(game) and mover(game, root) == CHANCE:
                self.complain(root, "is the root, and it is chance's turn there")
            canonical = game.canonical(root)
            if file.at_least > LOSE and (self.place_of(canonical) < 0 or root not in images_of(game, canonical)):
                self.complain(root, "is the root, and is not stored")
            if file.at_most < WIN and (fault := self.fault_of_answers(root, None, None, {})):
                self.complain(root, f"is the root, and is not held{fault}")
        except Exception as error:  # it may be no position at all
            self.complain(root, f"is the root, and no position: {error}")

    def complain(self, position: int | None, complaint: str) -> None:
        """Note one thing that is wrong."""
        self.wrong += 1
        if len(self.problems) < MOST_PROBLEMS:
            text = "" if position is None else self.text(position)
            self.problems.append(Problem(position, text, complaint))

    def text(self, position: int) -> str:
        """Return a position's text, or its number where the rules have no text for it."""
        try:
            return self.game.write(position)
        except Exception:  # it may be no position at all
            return str(position)

    def proven(self) -> str:
        """Return in a sentence what is proven where nothing is wrong."""
        file = self.file
        ends = {RISING: "tiers rise", FALLING: "bounds fall", FOR_EVER: "no end is a loss"}[self.ending]
        return (
            f"{self.text(file.root)} is worth {worth(file.at_least, file.at_most)} to the player to move: all answers "
            f"to every reply lead to ends that are good enough or to positions that are stored, and {ends}"
        )


def worth(at_least: Value, at_most: Value) -> str:
    """Return in words what a value is at least and at most.

    >>> worth(TIE, WIN), worth(DRAW, TIE), worth(LOSE, LOSE)
    ('a tie at least', 'a draw or a tie', 'a loss')
    """
    if at_least == at_most:
        return WORDS[at_least]
    if at_most == WIN:
        return f"{WORDS[at_least]} at least"
    return f"{WORDS[at_most]} at most" if at_least == LOSE else f"{WORDS[at_least]} or {WORDS[at_most]}"


def verify_certificate(
    certificate: Certificate,
    workers: int | None = None,
    listener: Listener | None = None,
    *,
    interpreted: bool | None = None,
    all_images: bool = False,
) -> Verification:
    """Check every reply of a certificate, and say what is wrong; the parameters are as `verify` has them."""
    audit = CertificateAudit(certificate, all_images)
    if why := not_for_proofs(audit.game):
        audit.complain(None, f"it is no proof: {why}")
        stored = len(audit.positions)
        return Verification(variant(audit.game), stored, stored, audit.wrong, audit.problems)
    phase = Phase("verifying", listener, len(audit.positions))
    phase.tell()
    small = len(audit.positions) <= SMALL and audit.leaves <= 3
    compiled = not interpreted if interpreted is not None else not small
    if compiled:
        announce(listener, "compiling the rules")
        compiled = audit.can_compile()
    if compiled:
        with ThreadPoolExecutor(workers) as executor:
            audit.check_compiled(executor, phase)
    else:
        for place in range(len(audit.positions)):
            audit.check(place)
            phase.advance(1)
    audit.verify_root()
    phase.end()
    stored = len(audit.positions)
    basis = "; ".join(["the rules as given", *([COMPILED] if compiled else [])])
    return Verification(variant(audit.game), stored, stored, audit.wrong, audit.problems, audit.proven(), basis)
