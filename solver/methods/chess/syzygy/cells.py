"""Reads the values of an ending from a database of distances to zeroing, as cells, and puts these in a table's order.

`kernels.py` says what a cell is. `CellSorter` puts cells into the order of a table, and picks the order that compresses
best.
"""

from collections.abc import Callable
from functools import cache

import numpy as np

from retrograde.databases.slots.database import SlotsDatabase
from retrograde.games.chess.men import BLACK, LETTERS, tier_of
from retrograde.games.contract.game import LOSE, Value
from retrograde.games.contract.zeroing import PATIENCE
from retrograde.solver.methods.chess import kernels as sets
from retrograde.solver.methods.chess.en_passant import EnPassantPositions
from retrograde.solver.methods.chess.fit import BITS, LaterScores
from retrograde.solver.methods.chess.formation import Formation, count_positions, geometry, order_of
from retrograde.solver.methods.chess.slots import find_departures, load_later_codes, table_by_score, write_codes
from retrograde.solver.methods.chess.syzygy import kernels
from retrograde.solver.methods.chess.syzygy import table_order as orders
from retrograde.solver.methods.chess.syzygy.compression import compressed_size
from retrograde.solver.methods.chess.syzygy.kernels import ANY, BLESSED, CURSED, DRAWN, LOSS, WIN, SubTableLayout
from retrograde.solver.methods.chess.syzygy.table_order import TableOrder, combinations_of, first_squares, table_orders
from retrograde.solver.methods.chess.zeroing import codes_of_scores
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.values.score import encode, scores_of_legend

SAMPLES = (24, 1 << 12), (48, 1 << 14)
"""The samples of each round of `CellSorter.best`: how many, and how many cells in each."""
BEST = 12, 1
"""How many orders are kept after each round."""


class DistanceCells:
    """The cells of a tier of a database by distance to zeroing."""

    def __init__(self, database: SlotsDatabase, formation: Formation):
        self.database, self.formation = database, formation

    def of(self, side: int) -> Array:
        """Return the cells of all positions with one side to move, uint16, in the layout of words."""
        codes = self.formation.codes
        cells = np.empty(count_positions(codes), np.uint16)
        write_codes(codes, side, self.scores_of, cells_of_scores(), cells)
        self.mark_captures(cells, side)
        return cells

    def scores_of(self, tier: int, slots: slice) -> LaterScores:
        """Return the scores of consecutive slots of a tier."""
        holder = self.database.holder(tier)
        return LaterScores(holder.rows_of(tier, slots), scores_of_legend(holder.file.legend, BITS))

    def mark_captures(self, cells: Array, side: int) -> None:
        """Mark the cells in which a capture brings as much as the position is worth."""
        later = load_later_codes(self.formation, self.scores_of, codes_of_scores(PATIENCE), promotions=False)
        _, _, found = find_departures(self.formation, later, side)
        kernels.mark_captures(cells, found.ply_codes, found.saved)

    def reaches_limit(self, side: int) -> tuple[bool, bool]:
        """Return (whether a side to move wins anywhere in exactly as many plies as the fifty-move rule allows, whether
        it loses so)."""
        tier = tier_of(self.formation.name)
        holder = self.database.holder(tier)
        legend, counts = holder.file.legend, holder.contents.counts
        outcomes = {legend[count.outcome][:2] for count in counts if (count.tier, count.part) == (tier, side)}
        return (Value.WIN, PATIENCE) in outcomes, (LOSE, PATIENCE) in outcomes

    def find_quiet_wins(self, side: int) -> Array:
        """Return the positions in which a move that captures nothing mates, or leads to a loss in PATIENCE plies, as a
        set. Bits of illegal positions mean nothing.

        Such a move wins in 1 or in 101 plies, as a winning zeroing move does. Moves of pawns count too, although they
        are zeroing: the set may be larger than its caller needs.
        """
        formation = self.formation
        lost = np.empty(count_positions(formation.codes), np.uint8)
        write_codes(formation.codes, 1 - side, self.scores_of, just_lost(), lost)
        reached, found = np.zeros((2, formation.words), np.uint64)
        kernels.to_bits(lost, reached)
        del lost  # frees memory
        none_capturable = EnPassantPositions(formation).capturable  # en passant is in no table
        sets.add_predecessors(formation.men, geometry(), side, none_capturable, reached, found)
        return found


@cache
def cells_of_scores() -> Array:
    """Return a table of cells by score, uint16[65536]; ANY for no position."""
    plies = np.arange(256, dtype=np.uint16)
    late = plies > PATIENCE
    lost, won = np.where(late, BLESSED, LOSS) << 8 | plies, np.where(late, CURSED, WIN) << 8 | plies
    return table_by_score(lost.astype(np.uint16), won.astype(np.uint16), DRAWN << 8, ANY)


@cache
def just_lost() -> Array:
    """Return a table by score, uint8[65536]: 1 for mate and for a loss in PATIENCE plies, else 0."""
    table = np.zeros(1 << BITS + 2, np.uint8)
    table[[encode(LOSE, plies, BITS) for plies in (0, PATIENCE)]] = 1
    return table


# The order of a table


class CellSorter:
    """Puts the cells of an ending with one side to move, given in the layout of words, into the order of a table."""

    def __init__(self, formation: Formation, cells: Array):
        self.formation, self.cells_in_words = formation, cells

    def cells(self, order: TableOrder, pawn_file: int) -> Array:
        """Return all cells in a table's order, with the leading pawn on *pawn_file* (0 if there are no pawns)."""
        return self.cells_from(order, pawn_file, 0, order.length(pawn_file))

    def best_order(self, pawn_file: int, to_values: Callable[[Array], Array]) -> TableOrder:
        """Return the order in which these cells compress best, judged by small samples of all orders and large ones of
        the best. *to_values* maps cells to the values that a table has."""
        orders_left = table_orders(self.formation.name)
        for (samples, size), most in zip(SAMPLES, BEST, strict=True):
            if len(orders_left) <= most:
                continue
            values = (to_values(self.sample(order, pawn_file, samples // order.files, size)) for order in orders_left)
            sizes = [compressed_size(sampled) for sampled in values]
            orders_left = [orders_left[k] for k in np.argsort(sizes, kind="stable")[:most]]
        return orders_left[0]

    def sample(self, order: TableOrder, pawn_file: int, samples: int, size: int) -> Array:
        """Return *samples* runs of *size* consecutive cells, spread evenly over an order."""
        length = order.length(pawn_file)
        if samples * size >= length:
            return self.cells(order, pawn_file)
        begins = np.linspace(0, length - size, samples).astype(np.int64)
        return np.concatenate([self.cells_from(order, pawn_file, begin, size) for begin in begins.tolist()])

    def cells_from(self, order: TableOrder, pawn_file: int, begin: int, count: int) -> Array:
        """Return *count* cells in a table's order, from number *begin* on, with the leading pawn on *pawn_file*."""
        digits, squares = [], []  # the rows of `SubTableLayout.digits` and `SubTableLayout.squares`
        rows = men_before = 0
        for group, ((factor, numbers), men) in enumerate(zip(order.digits(pawn_file), order.sizes, strict=True)):
            is_pawn = order.codes[men_before] & 7 == orders.PAWN
            lowest = 8 if group and is_pawn else 0  # pawns of the second group are counted from the second rank
            digits.append((factor, numbers, rows, men, men_before, lowest))  # FACTOR, NUMBERS, BEGIN, MEN, BEFORE, …
            if group:
                squares.append(combinations_of(men, (orders.PAWN_SQUARES if is_pawn else 64) - men_before))
            else:
                squares.append(np.pad(first_squares(men, order.has_pawns, pawn_file), ((0, 0), (0, 3 - men))))
            rows += numbers
            men_before += men
        men_indices = self.find_men(order)
        loops = sorted(range(len(digits)), key=lambda group: digits[group][kernels.FACTOR])
        if count == order.length(pawn_file):
            # The last group is the innermost loop: the squares of the others then stay. The group of the formation's
            # last man, whose squares are neighbours in memory, is the second. This is several times as fast.
            group_of_last = int(np.searchsorted(np.cumsum(order.sizes), men_indices[-1], "right"))
            for group in (group_of_last, len(digits) - 1):
                loops.remove(group)
                loops.insert(0, group)
        found = np.empty(count, np.uint16)
        layout = SubTableLayout(
            int(self.formation.has_pawns), men_indices, np.concatenate(squares), np.array(digits), np.array(loops)
        )
        kernels.sort_cells(self.cells_in_words, geometry(), layout, begin, found, np.zeros(kernels.BUFFER, np.int64))
        return found

    def find_men(self, order: TableOrder) -> Array:
        """Return the indices, among a table's men, of both kings (White's first) and of the formation's men."""
        # The codes in the file of both kings, then of the formation's men.
        codes = [orders.KING, orders.KING + orders.BLACK]
        for code in self.formation.codes:
            kind = orders.KINDS[LETTERS[code & 7]]
            codes.append(kind + orders.BLACK if code >= BLACK else kind)
        return np.array(order_of(order.codes, tuple(codes)), np.int64)
