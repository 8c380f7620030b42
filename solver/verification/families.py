"""Families: positions of a database of another metric, the rules' answers about them, and links to their children."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from retrograde.databases import Database
from retrograde.databases.layout import NOT_FOUND
from retrograde.databases.legend import table_of
from retrograde.databases.reader import SlotReader
from retrograde.games import CHANCE, UNDECIDED
from retrograde.games.catalog import variant
from retrograde.games.contract.game import Contradiction, alternates, same_mover
from retrograde.solver.rules.examine import blame
from retrograde.solver.runtime.array_type import Array
from retrograde.solver.verification.records import RecordTable


@dataclass(frozen=True)
class Families:
    """Positions, called *records*, with links from each to its children.

    By link: `parents` and `children` are records, sorted by parent; `turn_passes` says whether another player is to
    move then; `odds` is the weight of chance's move, else 1; `gains` is what the move pays at once, less what the other
    player gets. By record: `positions`, `tiers`, the rules' answers (`primitives`, `movers`, `pays`, `images`; see
    `kernels.FamilyTable`), and what is stored: `values`, `plies` and `measures` int64[columns, records].
    """

    positions: Array
    tiers: Array
    primitives: Array
    movers: Array
    pays: Array
    images: Array
    parents: Array
    children: Array
    turn_passes: Array
    odds: Array
    gains: Array
    values: Array
    plies: Array
    measures: Array

    def __len__(self) -> int:
        return len(self.values)

    @cached_property
    def parent_records(self) -> Array:
        """The records that have children, ascending, each once."""
        return np.unique(self.parents)

    @cached_property
    def begins(self) -> Array:
        """For each of `parent_records`, where its links begin."""
        return self.parents.searchsorted(self.parent_records)

    def over_children(self, reduce: np.ufunc, child_values: Array, default: Any) -> Array:
        """Return for each record its children's values combined by *reduce*; *default* if it has no children.

        *child_values* has an entry for each link. So the best score of each record's children, or -1, is
        `families.over_children(np.maximum, scores[families.children], -1)`.
        """
        result = np.full(len(self), default, child_values.dtype)
        if len(self.parent_records):
            result[self.parent_records] = reduce.reduceat(child_values, self.begins)
        return result


def families_of(table: RecordTable) -> Families:
    """Return all records of a database with their families, by the compiled rules."""
    game = table.game
    answers = ask_rules(table)
    counts = np.diff(answers.link_ends, prepend=0)
    parents = np.repeat(np.arange(len(table)), counts)
    turn_passes = np.ones(len(parents), np.bool_)
    if not alternates(game):
        turn_passes = answers.movers[parents] != answers.movers[answers.links]
    legend, rows = table_of(table.legend, table.file.measures), table.row_numbers
    return Families(
        positions=table.positions,
        tiers=np.repeat(table.tiers, np.diff(table.bounds)),
        primitives=answers.primitives,
        movers=answers.movers,
        pays=answers.pays,
        images=answers.images,
        parents=parents,
        children=answers.links,
        turn_passes=turn_passes,
        odds=answers.odds,
        gains=answers.gains,
        values=legend["value"][rows].astype(np.int64),
        plies=legend["remoteness"][rows].astype(np.int64),
        measures=np.stack([legend[name][rows] for name in table.file.measures]),
    )


def ask_rules(table: RecordTable) -> Any:
    """Return the rules' answers about all records, a `FamilyTable`."""
    from retrograde.solver.rules.expansion import compiling
    from retrograde.solver.rules.ports import rules_for
    from retrograde.solver.rules.running_kernels import trouble_array
    from retrograde.solver.verification import kernels
    from retrograde.solver.verification.storages import image_buffer

    game, count = table.game, len(table)
    unmarked = np.empty(0, np.uint8)  # the kernel does not mark what play reaches
    storage = table.storage(unmarked, unmarked)
    # The first call has no space for links and only counts them; the second has arrays of the right length.
    space = 0  # links
    while True:
        answers = kernels.FamilyTable(
            np.zeros(count, np.int64), np.zeros(count, np.int64), np.zeros((count, game.players), np.int64),
            np.zeros(count, np.int64), np.zeros(count, np.int64), np.empty(space, np.int64), np.empty(space, np.int64),
            np.empty(space, np.int64), trouble_array(game),
        )  # fmt: skip
        with compiling(game, answers.trouble):
            link_count = int(kernels.write_families(rules_for(game), storage, answers, image_buffer(game)))
        if link_count <= space:
            return answers
        space = link_count


def families_at(database: Database, positions: Sequence[int]) -> Families:
    """Return the families of some positions, by the interpreted rules: the positions first, then all their children.
    The children have no links. In the result, `positions` has numbers from 0 on, since positions may be tuples."""
    game, records = database.game, list(positions)
    links: list[tuple[int, ...]] = []
    for record, position in enumerate(positions):
        with blame(game, position):
            mover = game.turn(position)
            player = max(mover, 0)  # chance counts as player 0
            for move in game.generate_moves(position) if game.primitive(position) == UNDECIDED else ():
                child = game.do_move(position, move)
                weight = game.odds(position, move) if mover == CHANCE else 1
                gain = game.reward(position, move, player)
                if game.players == 2:
                    gain -= game.reward(position, move, 1 - player)
                links.append((record, len(records), not same_mover(game, position, child), weight, gain))
                records.append(child)
    has_no_plies = database.metric == "expectation" or isinstance(database.file.contents, SlotReader)
    no_plies = NOT_FOUND if has_no_plies else -1
    by_record, measures = [], []
    for position in records:
        with blame(game, position):
            value, mover = game.primitive(position), game.turn(position)
            paid = [game.payoff(position, player) if value else 0 for player in range(game.players)]
            if (outcome := database.get(position)) is None:
                raise Contradiction(f"{variant(game)}, position {position}: can be reached, and is not stored")
            plies = no_plies if outcome.remoteness is None else outcome.remoteness
            by_record.append((game.tier(position), value, mover, outcome.value, plies, *paid))
            measures.append([*database.measures(position).values()])
    parents, children, turn_passes, odds, gains = np.array(links, np.int64).reshape(-1, 5).T
    tiers, primitives, movers, values, remotenesses, *pays = np.array(by_record, np.int64).T
    return Families(
        np.arange(len(records)), tiers, primitives, movers, np.stack(pays, 1), np.ones(len(records), np.int64),
        parents, children, turn_passes != 0, odds, gains, values, remotenesses, np.array(measures, np.int64).T,
    )  # fmt: skip
