"""Retrograde analysis of random tiers: in one call of machine code, in blocks, and ply by ply here, the obvious way."""

from random import Random

import numpy as np
import pytest

from retrograde.games.contract.game import DRAW, LOSE, TIE, WIN
from retrograde.solver.values.propagation import Propagation, propagate_at_once
from retrograde.solver.values.score import DRAW_CLASS, RemotenessOverflow, decode, encode

BITS, DECIDED, PRIMITIVE = 14, 254, 255
AS_SEEN = {WIN: LOSE, LOSE: WIN, TIE: TIE, DRAW: DRAW}


class Tier:
    """A random tier: the outcomes of ended positions, children in the tier, and the best score from later tiers."""

    def __init__(self, chance: Random, again: bool):
        self.size = chance.randint(1, 14)
        self.ended = {i: chance.choice([WIN, LOSE, LOSE, TIE, DRAW]) for i in range(self.size) if chance.random() < 0.3}
        self.children, self.later = list[dict[int, bool]](), list[int]()
        for i in range(self.size):
            count = 0 if i in self.ended else chance.randint(0, min(4, self.size))
            chosen = chance.sample(range(self.size), count)
            self.children.append({child: again and chance.random() < 0.5 for child in chosen})
            has_later = i not in self.ended and (not chosen or chance.random() < 0.4)
            value = chance.choice([WIN, LOSE, LOSE, TIE, DRAW])
            self.later.append(encode(value, chance.randint(1, 12), BITS) if has_later else 0)

    def arrays(self):
        """Return scores, counters, and predecessor lists, as the solver has them before it propagates."""
        scores, left = np.array(self.later, np.uint16), np.zeros(self.size, np.uint8)
        parents = [list[int]() for _ in range(self.size)]
        for i, children in enumerate(self.children):
            left[i] = len(children) + (self.later[i] >= DRAW_CLASS << BITS)
            for child, moves_again in children.items():
                parents[child].append(~i if moves_again else i)
        for i, value in self.ended.items():
            scores[i], left[i] = encode(value, 0, BITS), PRIMITIVE
        begins = np.cumsum([0, *map(len, parents)]).astype(np.uint32)
        return scores, left, begins, np.array([i for each in parents for i in each], np.int32)

    def outcomes(self):
        """Return value and remoteness of each position, ply by ply."""
        found = {i: (value, 0) for i, value in self.ended.items()}

        def reached(i, ply):
            """Return what each child gives the player, None if it is not decided before this ply."""
            seen = []
            for child, moves_again in self.children[i].items():
                value, plies = found.get(child, (DRAW, ply))
                seen.append((value if moves_again else AS_SEEN[value]) if plies < ply else None)
            if self.later[i]:
                value, plies = decode(self.later[i], BITS)
                # A DRAW never ends; any other outcome counts from its own ply on.
                seen.append(value if value == DRAW or plies <= ply else None)
            return seen

        for phase in ((WIN, LOSE), (TIE,)):
            for ply in range(1, 80):
                now = {}
                for i in set(range(self.size)) - found.keys():
                    seen = reached(i, ply)
                    if phase == (TIE,) and TIE in seen:
                        now[i] = TIE, ply
                    elif phase != (TIE,) and WIN in seen:
                        now[i] = WIN, ply
                    elif phase != (TIE,) and all(value == LOSE for value in seen):
                        now[i] = LOSE, ply
                found |= now
        return [found.get(i, (DRAW, -1)) for i in range(self.size)]


@pytest.mark.parametrize("again", [False, True])
def test_a_tier_is_decided_at_once_in_blocks_and_by_hand(again):
    chance, values = Random(again), set()
    for _ in range(200):
        tier = Tier(chance, again)
        at_once, left, begins, parents = tier.arrays()
        propagate_at_once(begins, parents, BITS, at_once, left)
        in_blocks, left, begins, parents = tier.arrays()

        def parents_of(positions, begins=begins, parents=parents):
            for i in positions.tolist():
                yield parents[begins[i] : begins[i + 1]].astype(np.int64)

        Propagation(BITS, (in_blocks, left), parents_of, again=again).run()
        known = [(value, -1 if value == DRAW else plies) for value, plies in tier.outcomes()]
        assert [decode(score, BITS) for score in at_once.tolist()] == known
        assert in_blocks.tolist() == at_once.tolist()
        values |= set(known)
    assert len(values) > 30


def line(length):
    """Return the arrays of positions in a line, each of which leads to the one before."""
    scores, left = np.zeros(length, np.uint16), np.ones(length, np.uint8)
    scores[0], left[0] = encode(LOSE, 0, 4), PRIMITIVE
    begins = np.minimum(np.arange(length + 1), length - 1).astype(np.uint32)
    return scores, left, begins, np.arange(1, length, dtype=np.int32)


def test_a_remoteness_that_needs_more_bits_is_refused():
    """Scores with four bits for plies hold remotenesses up to 12: the next one has no room for the ply after it."""
    scores, left, begins, parents = line(13)
    propagate_at_once(begins, parents, 4, scores, left)
    assert decode(int(scores[-1]), 4) == (LOSE, 12)
    scores, left, begins, parents = line(14)
    with pytest.raises(RemotenessOverflow):
        propagate_at_once(begins, parents, 4, scores, left)
    scores, left, begins, parents = line(14)
    with pytest.raises(RemotenessOverflow):
        Propagation(4, (scores, left), lambda positions: [parents[begins[i] : begins[i + 1]] for i in positions]).run()
