"""The audit of a certificate: checks every reply on its own, against the rules and the stored positions.

A certificate claims a bound on the value of its root, for the player to move: at least one value, at most another. It
proves the claim by a set of positions. For each of these it claims: *the player to move reaches the goal*, which is a
win, or at least a tie, or at least a draw. For each it stores a reply. For every position p of the set and the goal g,
these points are checked:

1. p is canonical, and the game is not over there. The reply is a legal move.
2. After the reply, the game is over with g or better for the side that replied, or there are answers to it. For each
   answer one of these holds: the game is over with g or better; the position q after it is in the set; or plain play,
   which tries all moves, reaches g from q within a fixed number of plies (*leaves*), so that q need not be stored.
3. If q is in the set, play comes nearer to an end. If bounds are stored, the bound of q is less than that of p by at
   least two. Otherwise the tier of q is greater than that of p. For the goal draw, neither is required.
4. Points 2 and 3 hold at one image of p too, for a move that leads to an image of the reply's child. Every q is one of
   the images of the canonical position that stands for it.

For the root: if something is claimed at least, the root is in the set. If something is claimed at most, each move from
the root leads into the set or is good enough, as in point 2, for the other player.

Certificates are for games of two players without chance, in which only the ends decide who wins. If `turn` lets a
player move again, "the answers" in point 2 are all moves of the other side until the first side is to move again, and a
bound falls by one with every ply. Such series of moves must end as well, unless the goal is a draw. If the first side
moves again, the position after the reply must itself be in the set or be decided by plain play. These games are checked
interpreted.

Why that is a proof. Let a side play the replies from a position of the set. By point 2, each answer leads to an end
that is good enough, or into the set again, or to where plain play reaches the goal. So the side always has a good move,
and no end is worth less than g. For a win or a tie, play must also end. By point 3 it does: bounds are not negative,
and there are finitely many tiers. A bound of n means a win within n plies, by induction on n. For a draw, play may go
on forever, since that is a draw. Nothing else has to be proved than a set that play cannot leave and in which no end is
a loss; no distance is needed. Going round in that set is no gap in the proof, since going round is what is claimed.
Both sides may share the set if neither can win: a claim concerns the player to move, and points 1 to 3 do not ask who
moved at the root.

At most: if the other player does not lose after any move of the root, the root is no win. If the other player wins
after each move, the root is a loss. A tie is proved if each player reaches at least a tie: if both follow their
strategies, play ends, in a tie, and neither wins any position on the way. If both sides reach only a draw, the value
may be a draw or a tie: only that is claimed.

The proof rests on the rules, on the compiler, and on symmetry as far as point 4 does not try it (if no position has
more than two images, it tries all), as for databases (see `verify.py`).
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
    Traits,
    Value,
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
"""Certificates with at most this many positions are checked interpreted."""
BLOCK = 1 << 11
"""Positions in a task."""
SAMPLE_SECONDS = 1.0
PROVABLE = {(WIN, WIN), (LOSE, LOSE), (TIE, TIE), (TIE, WIN), (DRAW, TIE), (DRAW, WIN), (LOSE, TIE)}
"""The pairs (at least, at most) that a certificate can prove."""
UNEXPLAINED = "is right by the rules interpreted, wrong by the rules compiled"
WORDS = {WIN: "a win", TIE: "a tie", DRAW: "a draw", LOSE: "a loss"}


class Unsound(Exception):
    """What is wrong with a position, in words that follow its text."""


class CertificateAudit:
    """A certificate and what is found out about it. A *place* is an index into its positions."""

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
        """Whether the rules are compiled. Plain play, which takes long, then runs compiled as well."""

    # Interpreted

    def check(self, place: int) -> None:
        """Record what is wrong with the position and reply at an index."""
        position = int(self.positions[place])
        try:
            self.check_reply(place, position)
        except Unsound as error:
            self.complain(position, str(error))
        except Exception as error:  # rules may raise anything if called for something that is no position
            self.complain(position, f"is stored, and no position: {error}")

    def check_reply(self, place: int, position: int) -> None:
        """Raise Unsound if the reply at an index is wrong."""
        game = self.game
        # Point 1: the position and the reply.
        if game.canonical(position) != position:
            raise Unsound("is stored, and is not canonical")
        if game.primitive(position) != UNDECIDED:
            raise Unsound("is stored, and the game is over there")
        number = int(self.replies[place])
        move = next(islice(game.generate_moves(position), number, None), None)
        if move is None:
            raise Unsound(f"has no move number {number}, which is its reply")
        child = game.do_move(position, move)
        # Points 2 and 3: the answers to it.
        self.check_answers(place, position, child, f"has the reply {game.move_name(position, move)}")
        # Point 4: the same at images.
        images = images_of(game, position)[1:] if self.every_image else chosen_image(game, position)
        for image in images:
            target, name = game.canonical(child), f"has the image {self.text(image)}"
            if game.canonical(image) != position or game.primitive(image) != UNDECIDED:
                raise Unsound(f"{name}, which is none")
            others = [game.do_move(image, move) for move in game.generate_moves(image)]
            # Moves at the image that correspond to the reply by symmetry.
            same = [other for other in others if game.canonical(other) == target and other in images_of(game, target)]
            if not same:
                raise Unsound(f"{name}, where no move is the same as the reply")
            self.check_answers(place, image, same[0], f"{name}, where the reply is the same")

    def check_answers(self, place: int, position: int, child: int, name: str) -> None:
        """Raise Unsound if a reply's child, reached from a position or an image of it, is not good enough."""
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
        """Return whether the side that moved to an undecided child moves again. Raise Unsound if it is chance's
        turn."""
        if not Traits.of(self.game).alternates and mover(self.game, child) == CHANCE:
            raise Unsound(f"leads to {self.text(child)}, where it is chance's turn")
        return same_mover(self.game, position, child)

    def fault_of_answers(
        self, position: int, tier: int | None, left: int | None, met: dict[tuple[int, int | None], bool]
    ) -> str:
        """Return what is wrong with an answer of the other side, which is to move; "" if nothing is.

        The other side may move several times in a row. *left* is the number of plies in which the goal must be reached;
        None: no limit. *met* holds the positions of such series, and whether each is finished.
        """
        game = self.game
        if left is not None and left < 1:
            return f", and has a bound of {left + 1} there"
        # Checked before without a fault.
        if met.setdefault((position, left), False):
            return ""
        answers = list(game.generate_moves(position))
        for answer in answers:
            after = game.do_move(position, answer)
            value, below = game.primitive(after), None if left is None else left - 1
            if value == UNDECIDED and self.moves_again(position, after):
                # The position is on the current path: the other side can repeat these moves forever.
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
        """Return that an end with this value is not good enough; "" if it is. The value is that of the side with the
        goal."""
        return "" if value >= self.goal else f"the game is over: {WORDS[value]}"

    def fault_of(self, position: int, tier: int | None, left: int | None) -> str:
        """Return what keeps the player to move in an undecided position from the goal; "" if nothing does.

        If the position is stored, its tier must be greater than *tier* and its bound at most *left*, if these are
        given.
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
        # Not stored, or not nearer to an end: plain play must reach the goal.
        return "" if self.decided(position, leaves if left is None else min(leaves, left)) else fault

    def decided(self, position: int, plies: int) -> bool:
        """Return whether the player to move can reach the goal within *plies*, by trying all moves."""
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
        """Return whether the goal is reached within *plies* after every move of the other side, which is to move."""
        answers = [self.game.do_move(position, move) for move in self.game.generate_moves(position)]
        return plies > 0 and bool(answers) and all(self.reached(position, after, plies - 1) for after in answers)

    def reached(self, position: int, after: int, plies: int) -> bool:
        """Return whether the goal is reached, or can be within *plies*, after a move of the other side."""
        value = self.game.primitive(after)
        if value != UNDECIDED:
            return FLIPPED[value_to_mover(self.game, position, after, value)] >= self.goal
        again = self.moves_again(position, after)
        return self.withstood(after, plies) if again else self.decided(after, plies)

    def place_of(self, position: int) -> int:
        """Return the index of a canonical position; -1 if it is not stored."""
        place = int(np.searchsorted(self.positions, position))
        return place if place < len(self.positions) and self.positions[place] == position else -1

    # Compiled

    def can_compile(self) -> bool:
        """Compile the checking loop, and return whether the rules allow that. It requires that turns alternate."""
        if not Traits.of(self.game).alternates:
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
        """Return how many indices were checked between two, and the wrong ones.

        Rules that are called for something that is no position may read outside an array. The kernel then raises
        IndexError, and halving the range finds the position.
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
        """Return the wrong indices from *first* to *last* (exclusive), by the compiled rules."""
        from retrograde.solver.rules.compiled import GuardedGame
        from retrograde.solver.rules.running_kernels import watch_kernel
        from retrograde.solver.verification.certificate_kernels import check_replies

        stored = Stored(self.positions, self.replies, self.bounds, int(self.goal), self.leaves, self.ending)
        wrong = np.empty(last - first, np.int64)
        images = np.empty(MOST_IMAGES if Traits.of(self.game).has_images else 1, np.int64)
        trouble = np.zeros(2, np.int64)
        with watch_kernel(self.game, trouble):
            count = check_replies(GuardedGame(self.game), stored, first, last, wrong, images, trouble, self.every_image)
        places: list[int] = wrong[:count].tolist()
        return places

    def check_compiled(self, executor: Executor, phase: Phase) -> None:
        """Check all positions with the compiled rules, and a sample with the interpreted rules."""
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

    # The root, and the certificate as a whole

    def verify_root(self) -> None:
        """Record what is wrong with the root and with the claim about it."""
        file, game, root = self.file, self.game, self.file.root
        if (file.at_least, file.at_most) not in PROVABLE:
            self.complain(None, "it claims of its root what no certificate proves")
            return
        try:
            if game.primitive(root) != UNDECIDED:
                self.complain(root, "is the root, and the game is over there")
                return
            if not Traits.of(game).alternates and mover(game, root) == CHANCE:
                self.complain(root, "is the root, and it is chance's turn there")
            canonical = game.canonical(root)
            if file.at_least > LOSE and (self.place_of(canonical) < 0 or root not in images_of(game, canonical)):
                self.complain(root, "is the root, and is not stored")
            if file.at_most < WIN and (fault := self.fault_of_answers(root, None, None, {})):
                self.complain(root, f"is the root, and is not held{fault}")
        except Exception as error:  # it may be no position at all
            self.complain(root, f"is the root, and no position: {error}")

    def complain(self, position: int | None, complaint: str) -> None:
        """Record one problem."""
        self.wrong += 1
        if len(self.problems) < MOST_PROBLEMS:
            text = "" if position is None else self.text(position)
            self.problems.append(Problem(position, text, complaint))

    def text(self, position: int) -> str:
        """Return a position's text, or its number if the rules cannot write it."""
        try:
            return self.game.write(position)
        except Exception:  # it may be no position at all
            return str(position)

    def proven(self) -> str:
        """Return a sentence that says what is proven if nothing is wrong."""
        file = self.file
        ends = {RISING: "tiers rise", FALLING: "bounds fall", FOR_EVER: "no end is a loss"}[self.ending]
        return (
            f"{self.text(file.root)} is worth {worth(file.at_least, file.at_most)} to the player to move: all answers "
            f"to every reply lead to ends that are good enough or to positions that are stored, and {ends}"
        )


def worth(at_least: Value, at_most: Value) -> str:
    """Return in words the bounds on a value.

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
    """Check every reply of a certificate, and report what is wrong. The parameters are those of `verify`."""
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
