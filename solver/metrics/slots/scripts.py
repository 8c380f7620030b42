"""Scripts: what the rules say about some slots of a tier, recorded once and evaluated as often as needed.

What a slot is worth depends on the slots to which play comes next. In between, play may pass positions without a slot,
such as those after a throw of dice. A script lists the slot and these positions as *nodes*, children first. A node is a
run of integers, and so is a *link*, which is a move. Commas separate integers::

    node      links << 2 | who, its links         who moves: player 0, player 1, or 2 for chance
    link      odds, if chance moves; what the move pays, if moves may pay; target
    target    slot << 1             a global slot: counted through all tiers
              slot << 1 | 1         the same slot with the players exchanged
              slots << 1, payoff    an end, and what it pays; `slots` is the number of all slots
              -1 - n                node number n of the same slot

The last node is the slot itself. An example with 100 slots: chance moves, with odds 1 to an end that pays 5, and with
odds 2 to a position without a slot, where player 1 chooses between slots 3 and 4::

    node 0    2 << 2 | 1    3 << 1        4 << 1
    node 1    2 << 2 | 2    1, 100 << 1, 5        2, -1

A position without a slot whose single move pays nothing is no node: links to it lead where its move leads. Amounts are
those of player 0, less those of player 1.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple, NoReturn

import numpy as np
import zstandard

from retrograde.games.catalog import variant
from retrograde.games.contract.game import Game, RuleError, Traits
from retrograde.solver.methods.numbered.numbering import SlotNumbering
from retrograde.solver.metrics.expectation_cycles import PayoffOverflow
from retrograde.solver.metrics.expectation_kernels import LIMIT
from retrograde.solver.metrics.slots import kernels
from retrograde.solver.metrics.slots.kernels import RecordedTiers, Recorder
from retrograde.solver.rules.expansion import compiling
from retrograde.solver.rules.ports import rules_for
from retrograde.solver.rules.positions import of_positions
from retrograde.solver.rules.running_kernels import noted_position, trouble_array
from retrograde.solver.rules.trouble_codes import Trouble
from retrograde.solver.rules.weights import raise_fault
from retrograde.solver.runtime.array_type import Array

ENOUGH = 1 << 18
"""Words of a script, about: few enough to stay in a core's cache."""
MOST_WORDS = 1 << 28
"""The most words for which there is memory."""
ENTRIES, MOST_ENTRIES = 64, 1 << 21
"""Entries of the hash table of a slot's positions between slots, at first and at most. Half of them may be used."""
LARGER = 8
"""Factor by which buffers grow that are too small for a slot."""


class Script(NamedTuple):
    """The script of some slots of a chunk.

    `words` int32 or int64 are the nodes. `slots` counts from the first of the chunk, and `node_counts` says how many
    nodes each has. `end` is the target of ends. A point is `scale` grains. `pays`: links have what the move pays.
    """

    words: Array
    slots: Array
    node_counts: Array
    end: int
    scale: int
    pays: bool

    def copy(self) -> "Script":
        """Return a script with arrays of its own."""
        return self._replace(words=self.words.copy(), slots=self.slots.copy(), node_counts=self.node_counts.copy())

    def compress(self) -> "Script":
        """Return the script with words compressed to the bytes of a zstd frame."""
        frame = zstandard.ZstdCompressor(level=1).compress(self.words.tobytes())
        return self._replace(words=np.frombuffer(frame, np.uint8))

    def decompress(self, kind: type) -> "Script":
        """Return the script with words of the type *kind*; the same script if it is not compressed."""
        if self.words.dtype != np.uint8:
            return self
        return self._replace(words=np.frombuffer(zstandard.ZstdDecompressor().decompress(self.words.tobytes()), kind))


def word_type(numbering: SlotNumbering) -> type:
    """Return the integer type of script words: int32 if all targets fit, else int64."""
    return np.int64 if 2 * numbering.slots + 2 >= 1 << 31 else np.int32


class Recording:
    """Records the slots *begin* to *end* of tier number *k* by the rules, with *bits* bits after the point.

    Raises PayoffOverflow if amounts are too great for these bits, and RuleError if the rules break the contract;
    *checks* add a check that index() and unindex() undo one another.
    """

    def __init__(
        self, game: Game, numbering: SlotNumbering, k: int, begin: int, end: int, bits: int, checks: bool = False
    ):
        self.game, self.begin, self.end, self.bits = game, begin, end, bits
        self.kind = word_type(numbering)
        self.tiers = RecordedTiers(numbering.tiers, numbering.starts, k, Traits.of(game).has_rewards, checks)
        self.recorder = self.new_recorder(ENTRIES, 2 * ENOUGH)

    def new_recorder(self, entries: int, size: int) -> Recorder:
        """Return an empty recorder with a hash table of some *entries*, and *size* words."""
        words: Array = np.empty(size, self.kind)
        slots, node_counts = np.empty((2, max(self.end - self.begin, 1)), np.int32)
        links = np.empty(size, np.int64)
        stamps, targets, payoffs = np.zeros((3, entries), np.int64)
        state = np.zeros(kernels.STATE_SIZE, np.int64)
        keys, trouble = of_positions(self.game, entries), trouble_array(self.game)
        return Recorder(words, slots, node_counts, links, keys, stamps, targets, payoffs, state, trouble)

    def scripts(self) -> Iterator[Script]:
        """Yield the scripts of all slots, the last slots first. A script is valid until the next one."""
        last = self.end - self.begin - 1
        while last >= 0:
            state = self.recorder.state
            state[kernels.WORDS] = state[kernels.SLOTS] = 0
            with compiling(self.game, self.recorder.trouble):
                rules = rules_for(self.game)
                last = int(kernels.record(rules, self.tiers, self.begin, last, ENOUGH, self.recorder))
            fits, script = self.fits(), self.script()
            if not fits:
                self.enlarge()  # new buffers, for slot *last*; the script keeps the old ones
            if len(script.slots):
                yield script

    def script_of_position(self, position: Any) -> Script:
        """Return the script of any position, as if it were slot 0 of a chunk.

        If the position has a slot, the script is a link to it. Call this once, on a new recording: it does not clear
        the words.
        """
        while True:
            with compiling(self.game, self.recorder.trouble):
                rules, tier = rules_for(self.game), self.game.tier(position)
                kernels.record_position(rules, position, tier, self.tiers, self.recorder)
            if self.fits():
                return self.script()
            self.enlarge()

    def script(self) -> Script:
        """Return what is recorded; raise PayoffOverflow if an amount is too great."""
        state = self.recorder.state
        if state[kernels.GREATEST] >= LIMIT >> self.bits:
            raise PayoffOverflow
        count = state[kernels.SLOTS]
        words = self.recorder.words[: state[kernels.WORDS]]
        slots, node_counts = self.recorder.slots[:count], self.recorder.node_counts[:count]
        return Script(words, slots, node_counts, 2 * int(self.tiers.starts[-1]), 1 << self.bits, self.tiers.pays)

    def fits(self) -> bool:
        """Return whether the buffers were large enough; raise RuleError if the rules break the contract."""
        if self.recorder.trouble[0] not in (Trouble.FINE, Trouble.NO_ROOM):
            refuse(self.game, self.recorder)
        return bool(self.recorder.trouble[0] == Trouble.FINE)

    def enlarge(self) -> None:
        """Enlarge the hash table or the words, whichever was full; raise RuleError beyond the greatest size."""
        old_state, entries, size = self.recorder.state, len(self.recorder.keys), len(self.recorder.words)
        if 2 * old_state[kernels.ENTRIES] > entries:  # more than half of the table is in use
            entries *= LARGER
        else:
            size *= LARGER
        if entries > MOST_ENTRIES or size > MOST_WORDS:
            refuse(self.game, self.recorder)
        self.recorder = self.new_recorder(entries, size)
        for index in (kernels.STAYS, kernels.PAYS, kernels.UNEQUAL, kernels.GREATEST):
            self.recorder.state[index] = old_state[index]

    @property
    def stays(self) -> bool:
        """Whether a move recorded so far stays in the tier."""
        return bool(self.recorder.state[kernels.STAYS])

    @property
    def pays(self) -> bool:
        """Whether a move recorded so far pays."""
        return bool(self.recorder.state[kernels.PAYS])

    @property
    def counts_wins(self) -> bool:
        """Whether no move recorded so far pays, and every end pays one player exactly 1 more than the other."""
        return not (self.pays or self.recorder.state[kernels.UNEQUAL])


def refuse(game: Game, recorder: Recorder) -> NoReturn:
    """Raise the RuleError for the trouble of a recorder."""
    code, position = int(recorder.trouble[0]), noted_position(game, recorder.trouble)
    where = f"{variant(game)}, position {position}: "
    if code in (Trouble.NO_ROOM, kernels.ENDLESS):
        raise RuleError(where + "play goes on and on among positions without a slot; give some of them one by index()")
    if code == Trouble.BAD_INDEX:
        raise RuleError(where + "index() and unindex() do not undo one another here, or its tier is none of the tiers")
    if code == Trouble.TIER_FALLS:
        other = game.swapped(position)
        raise RuleError(where + f"swapped() gives {other}, of an earlier tier; give one of the same tier")
    raise_fault(game, position)  # raises an error that names the method, unless it finds none
    raise RuleError(where + "the rules break the contract")
