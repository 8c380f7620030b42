"""Verifies a certificate: checks every reply on its own, against the rules and the stored positions.

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

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from concurrent.futures import Executor
from itertools import islice
from typing import Any

import numpy as np

from retrograde.databases import Certificate
from retrograde.games import CHANCE, DRAW, FLIPPED, LOSE, TIE, UNDECIDED, WIN, Value
from retrograde.games.catalog import variant
from retrograde.games.contract.game import Traits, mover, same_mover, value_to_mover
from retrograde.solver.rules.compiled import GuardedGame
from retrograde.solver.rules.examine import not_for_proofs, to_list
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.runtime.progress import Listener, Phase
from retrograde.solver.verification.certificate_kernels import FALLING, FOR_EVER, RISING, StoredReplies
from retrograde.solver.verification.judge import chosen_image, images_of, text_of
from retrograde.solver.verification.verifier import TaskResult, Verification, Verifier, spread_evenly

SMALL = 300
"""Certificates with more positions are checked compiled at once."""
BLOCK = 1 << 11
"""Positions in a task."""
PROVABLE = {(WIN, WIN), (LOSE, LOSE), (TIE, TIE), (TIE, WIN), (DRAW, TIE), (DRAW, WIN), (LOSE, TIE)}
"""The pairs (at least, at most) that a certificate can prove."""
WORDS = {WIN: "a win", TIE: "a tie", DRAW: "a draw", LOSE: "a loss"}


class WrongReply(Exception):
    """What is wrong with a position, in words that follow its text."""


class CertificateVerifier(Verifier):
    """Verifies the replies of a certificate. An *item* is the index of a stored position and its reply."""

    def __init__(self, certificate: Certificate) -> None:
        self.file = certificate.file
        self.positions, self.replies, bounds = certificate.content
        count = len(self.positions)
        super().__init__(certificate.game, variant(certificate.game), count, count)
        self.ending = FOR_EVER if certificate.goal == DRAW else RISING
        if bounds is not None:
            self.ending = FALLING
        self.bounds = np.zeros(0, np.int64) if bounds is None else bounds
        self.goal, self.leaves = certificate.goal, self.file.leaves
        self.why_not = not_for_proofs(self.game)
        self.sound = not self.why_not
        self.always_interpreted = not Traits.of(self.game).alternates or not self.sound
        # Rules that are called for something that is no position may read outside an array. Guarded rules raise then.
        self.rules = GuardedGame(self.game)
        self.compiled = False
        """Whether kernels run. Then plain play, which takes long, runs there as well."""

    def __len__(self) -> int:
        return len(self.positions)

    def is_small(self) -> bool:
        return len(self) <= SMALL and self.leaves <= 3

    def begin(self) -> None:
        super().begin()
        if not self.sound:
            self.complain(None, f"it is no proof: {self.why_not}")

    def position_at(self, item: int) -> Any:
        return to_list(self.positions[item : item + 1])[0]

    # Interpreted

    def check(self, item: int) -> None:
        """Record a complaint if a stored position or its reply is wrong."""
        position = self.position_at(item)
        try:
            self.check_reply(item, position)
        except WrongReply as error:
            self.complain(position, str(error))
        except Exception as error:  # rules may raise anything if called for something that is no position
            self.complain(position, f"is stored, and no position: {error}")

    def check_reply(self, item: int, position: int) -> None:
        """Raise WrongReply if the reply of an item is wrong. *position* is the item's."""
        game = self.game
        # Point 1: the position and the reply.
        if game.canonical(position) != position:
            raise WrongReply("is stored, and is not canonical")
        if game.primitive(position) != UNDECIDED:
            raise WrongReply("is stored, and the game is over there")
        number = int(self.replies[item])
        move = next(islice(game.generate_moves(position), number, None), None)
        if move is None:
            raise WrongReply(f"has no move number {number}, which is its reply")
        child = game.do_move(position, move)
        # Points 2 and 3: the answers to it.
        self.check_answers(item, position, child, f"has the reply {game.move_name(position, move)}")
        # Point 4: the same at images.
        images = images_of(game, position)[1:] if self.every_image else chosen_image(game, position)
        for image in images:
            target, name = game.canonical(child), f"has the image {text_of(self.game, image)}"
            if game.canonical(image) != position or game.primitive(image) != UNDECIDED:
                raise WrongReply(f"{name}, which is none")
            children = [game.do_move(image, move) for move in game.generate_moves(image)]
            # The children of the image that are images of the reply's child.
            alike = [each for each in children if game.canonical(each) == target and each in images_of(game, target)]
            if not alike:
                raise WrongReply(f"{name}, where no move is the same as the reply")
            self.check_answers(item, image, alike[0], f"{name}, where the reply is the same")

    def check_answers(self, item: int, position: int, child: int, name: str) -> None:
        """Raise WrongReply if the reply of an item is not good enough. It leads to *child*, from the item's position or
        an image; *name* begins the complaint."""
        game, plies_left = self.game, int(self.bounds[item]) - 1 if self.ending == FALLING else None
        tier, value = game.tier(self.position_at(item)), game.primitive(child)
        if value != UNDECIDED:
            result = value_to_mover(game, position, child, value)
            falls_short = result < self.goal or plies_left == -1  # -1: the bound is 0, and the reply was a ply
            fault = f", and the game is over: {WORDS[result]}" if falls_short else ""
        elif self.moves_again(position, child):
            fault = self.fault_of(child, tier, plies_left)
            fault = fault and f", after which the same side is to move: {fault}"
        else:
            fault = self.fault_of_answers(child, tier, plies_left, {})
        if fault:
            raise WrongReply(f"{name}{fault}")

    def moves_again(self, position: int, child: int) -> bool:
        """Return whether the side that moved to an undecided child moves again; raise WrongReply if chance moves."""
        if not Traits.of(self.game).alternates and mover(self.game, child) == CHANCE:
            raise WrongReply(f"leads to {text_of(self.game, child)}, where it is chance's turn")
        return same_mover(self.game, position, child)

    def fault_of_answers(
        self, position: int, tier: int | None, plies_left: int | None, met: dict[tuple[int, int | None], bool]
    ) -> str:
        """Return what is wrong with an answer of the other side, which is to move; "" if nothing is.

        The goal must be reached in *plies_left* plies; None: no limit. The other side may move several times in a row:
        *met* holds the positions of such series, and whether each is finished.
        """
        game = self.game
        if plies_left is not None and plies_left < 1:
            return f", and has a bound of {plies_left + 1} there"
        # Checked before without a fault.
        if met.setdefault((position, plies_left), False):
            return ""
        answers = list(game.generate_moves(position))
        for answer in answers:
            child = game.do_move(position, answer)
            value, plies_after = game.primitive(child), None if plies_left is None else plies_left - 1
            if value == UNDECIDED and self.moves_again(position, child):
                # The position is on the current path: the other side can repeat these moves forever.
                if met.get((child, plies_after)) is False:
                    fault = "" if self.ending == FOR_EVER else ": play may go on for ever"
                else:
                    fault = self.fault_of_answers(child, tier, plies_after, met)
            else:
                if value == UNDECIDED:
                    fault = self.fault_of(child, tier, plies_after)
                else:
                    fault = self.fault_of_end(FLIPPED[value_to_mover(game, position, child, value)])
                fault = fault and f": {fault}"
            if fault:
                return f", which is answered by {game.move_name(position, answer)}{fault}"
        met[position, plies_left] = True
        return "" if answers else ", to which there is no answer"

    def fault_of_end(self, value: Value) -> str:
        """Return in words that an end is worth less than the goal to the side with the goal; "" if it is not."""
        return "" if value >= self.goal else f"the game is over: {WORDS[value]}"

    def fault_of(self, position: int, tier: int | None, plies_left: int | None) -> str:
        """Return what keeps the player to move in an undecided position from the goal; "" if nothing does.

        A stored position is good if it is nearer to an end: its tier is greater than *tier* (where tiers must rise) and
        its bound at most *plies_left* plies, unless these are None. Any other one is good if trying all moves reaches
        the goal within `leaves` plies, and within *plies_left*.
        """
        game = self.game
        canonical = game.canonical(position)
        item, fault = self.index_of(canonical), "it leads to a position that is not stored"
        if item >= 0 and position in images_of(game, canonical):
            tier_rises = self.ending != RISING or tier is None or game.tier(canonical) > tier
            bound_falls = plies_left is None or int(self.bounds[item]) <= plies_left
            if tier_rises and bound_falls:
                return ""
            fault = f"its bound is {self.bounds[item]}, and {plies_left} plies are left"
            if bound_falls:
                fault = "tiers do not rise"
        most_plies = self.leaves if plies_left is None else min(self.leaves, plies_left)
        return "" if self.is_decided(position, most_plies) else fault

    def is_decided(self, position: int, plies: int) -> bool:
        """Return whether the player to move can reach the goal within *plies*, by trying all moves."""
        game = self.game
        if plies < 1:
            return False
        if self.compiled and plies > 3:
            from retrograde.solver.rules.ports import rules_for
            from retrograde.solver.verification.certificate_kernels import is_decided

            return bool(is_decided(rules_for(self.rules), position, int(self.goal), plies))
        children = [game.do_move(position, move) for move in game.generate_moves(position)]
        values = [game.primitive(child) for child in children]
        undecided = []
        for child, value in zip(children, values, strict=True):
            if value == UNDECIDED:
                undecided.append(child)
            elif value_to_mover(game, position, child, value) >= self.goal:
                return True
        return plies > 1 and any(
            self.is_decided(child, plies - 1)
            if self.moves_again(position, child)
            else self.holds_after_answers(child, plies - 1)
            for child in undecided
        )

    def holds_after_answers(self, position: int, plies: int) -> bool:
        """Return whether the goal is reached within *plies* after every move of the other side, which is to move."""
        answers = [self.game.do_move(position, move) for move in self.game.generate_moves(position)]
        return plies > 0 and bool(answers) and all(self.is_reached(position, after, plies - 1) for after in answers)

    def is_reached(self, position: int, after: int, plies: int) -> bool:
        """Return whether the goal is reached, or can be within *plies*, after a move of the other side."""
        value = self.game.primitive(after)
        if value != UNDECIDED:
            return FLIPPED[value_to_mover(self.game, position, after, value)] >= self.goal
        again = self.moves_again(position, after)
        return self.holds_after_answers(after, plies) if again else self.is_decided(after, plies)

    def index_of(self, position: int) -> int:
        """Return the index of a canonical position; -1 if it is not stored."""
        if isinstance(position, tuple):
            item = bisect_left(range(len(self)), position, key=self.position_at)
        else:
            item = int(np.searchsorted(self.positions, position))
        return item if item < len(self) and self.position_at(item) == position else -1

    # Compiled

    def verify_tasks(self, executor: Executor, phase: Phase) -> Iterator[TaskResult]:
        def verify_replies(begin: int) -> TaskResult:
            return self.verify_block(self.check_compiled, np.arange(begin, min(begin + BLOCK, len(self))))

        self.compiled = True
        return executor.map(verify_replies, range(0, len(self), BLOCK))

    def sample_items(self) -> Iterable[int]:
        return spread_evenly(len(self)) if not self.wrong else ()

    def check_compiled(self, items: Array) -> TaskResult:
        """Check the replies of some items (indices of stored positions, ascending) by the kernel; return the wrong
        ones."""
        from retrograde.solver.rules.ports import rules_for
        from retrograde.solver.rules.reason import compilable
        from retrograde.solver.rules.running_kernels import trouble_array, watch_kernel
        from retrograde.solver.verification.certificate_kernels import check_replies
        from retrograde.solver.verification.storages import image_buffer

        stored = StoredReplies(self.positions, self.replies, self.bounds, int(self.goal), self.leaves, self.ending)
        wrong = np.empty(len(items), np.int64)
        trouble = trouble_array(self.game)
        with compilable(self.game), watch_kernel(self.game, trouble):
            images = image_buffer(self.game)
            count = check_replies(rules_for(self.rules), stored, items, wrong, images, trouble, self.every_image)
        return TaskResult(wrong[:count], len(items))

    # The root, and the certificate as a whole

    def verify_whole(self) -> None:
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
            if file.at_least > LOSE and (self.index_of(canonical) < 0 or root not in images_of(game, canonical)):
                self.complain(root, "is the root, and is not stored")
            if file.at_most < WIN and (fault := self.fault_of_answers(root, None, None, {})):
                self.complain(root, f"is the root, and is not held{fault}")
        except Exception as error:  # it may be no position at all
            self.complain(root, f"is the root, and no position: {error}")

    def state_proof(self) -> str:
        file = self.file
        because = {RISING: "tiers rise", FALLING: "bounds fall", FOR_EVER: "no end is a loss"}[self.ending]
        return (
            f"{text_of(self.game, file.root)} is worth {worth(file.at_least, file.at_most)} to the player to move: all "
            f"answers to every reply lead to ends that are good enough or to positions that are stored, and {because}"
        )


def worth(at_least: Value, at_most: Value) -> str:
    """Return the bounds on a value in words.

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
    verifier = CertificateVerifier(certificate)
    verifier.every_image = all_images
    return verifier.verify(workers, listener, interpreted)
