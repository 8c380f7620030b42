"""Other metrics of positions of several words: the same as of the same games in one word."""

from fractions import Fraction

import pytest

from retrograde.databases import open_database
from retrograde.games import DRAW, Number
from retrograde.games.chomp import Chomp
from retrograde.games.contract.game import POSITION_LIMIT
from retrograde.solver.engine import solve
from retrograde.solver.metrics.models.by_database import SkillModel
from retrograde.solver.metrics.models.names import model_named
from retrograde.solver.play.solution import open_solution
from retrograde.solver.verification.verify import verify
from tests.helpers.apart import Apart, ApartByChance, InOne, InOneByChance
from tests.helpers.forge import Forged
from tests.helpers.marks import thorough_but
from tests.helpers.wide import graph_of

pytestmark = pytest.mark.long

KINDS = {"expectation": (ApartByChance, InOneByChance)}
GRAPHS = [29, 38, 51]
"""A graph with cycles, one without, and one with cycles and symmetry."""


class WideChomp(Chomp):
    """Chomp with a number that stays 0, and fills a word."""

    nothing = Number(0, POSITION_LIMIT - 1)

    @property
    def start(self):
        return self.bar.full, 0


def measured(game, path, **options):
    """Return what a database says of each position, by graph and node; it must pass `verify`."""
    with open_database(solve(game, path, method="listed", **options), game=game) as database:
        assert verify(database, model=options.get("against")).ok
        for row in database.file.legend:
            assert database[row.example] == (row.value, row.plies)
            assert tuple(database.measures(row.example).values()) == row.measures
        return {
            (game.graph(position), game.node(position)): (tier, *database[position], database.measures(position))
            for tier, positions, *_ in database.records()
            for position in (tuple(one) if isinstance(one, list) else one for one in positions.tolist())
        }


CASES = [(metric, which) for metric in ("score", "drawlevel", "utilities", "expectation") for which in GRAPHS]
CASES = [case for case in CASES if case[0] != "utilities" or case[1] == 38]  # utilities are of games that end


@pytest.mark.as_python
@pytest.mark.parametrize(("metric", "which"), thorough_but(CASES, ("score", 29), ("expectation", 51)))
def test_random_graphs_are_worth_the_same_in_three_words(metric, which, tmp_path):
    kinds = KINDS.get(metric, (Apart, InOne))
    wide, one = (measured(graph_of(kind, which), tmp_path / f"{kind.__name__}.h5", metric=metric) for kind in kinds)
    assert len(wide) > 5 and wide == one


@pytest.mark.parametrize("which", [29, 38])
def test_draw_levels_leave_values_as_they_are(which, tmp_path):
    """Also where the game ends in a draw that is no better than endless play."""
    game = graph_of(InOne, which)
    levels = measured(game, tmp_path / "levels.h5", metric="drawlevel")
    values = measured(game, tmp_path / "values.h5")
    assert [outcome[:-1] for outcome in levels.values()] == [outcome[:-1] for outcome in values.values()]
    assert DRAW in {value for _, value, *_ in values.values()}


@pytest.mark.as_python
@pytest.mark.parametrize("name", ["random", "greedy", "skill"])
def test_best_responses_in_three_words_are_worth_the_same(name, tmp_path):
    found = []
    for kind in (Apart, InOne):
        game = graph_of(kind, 38)
        solved = solve(game, tmp_path / f"{kind.__name__}.h5", method="listed")
        with open_solution(solved, game=game) as solution:
            model = SkillModel(Fraction(4, 5), solution.database) if name == "skill" else model_named(name, game)
            found.append(measured(game, tmp_path / f"{kind.__name__}_{name}.h5", against=model))
    assert len(found[0]) > 5 and found[0] == found[1]


@pytest.mark.as_python
def test_nimbers_of_chomp_in_two_words(tmp_path):
    wide, one = WideChomp(), Chomp()
    with (
        open_database(solve(wide, tmp_path / "wide.h5"), game=wide) as database,
        open_database(solve(one, tmp_path / "one.h5"), game=one) as expected,
    ):
        assert (database.file.stored, database.file.header.storage) == (expected.file.stored, "rows")
        assert verify(database).ok
        for _, positions, *_ in database.records():
            for bar, nothing in positions.tolist():
                assert database.measures((bar, nothing)) == expected.measures(bar)


@pytest.mark.thorough
def test_verify_finds_a_changed_measure_and_a_changed_example(tmp_path):
    game = graph_of(ApartByChance, 51)
    path = solve(game, tmp_path / "wide.h5")
    for column, row in (("low", 1), ("example", 0)):
        forged = Forged.read(path)
        table = forged.parts["legend"].rows()
        table[column][row] += 1
        forged.parts["legend"].put(table)
        with open_database(forged.write(tmp_path / "forged.h5"), game=game) as database:
            assert not verify(database).ok
