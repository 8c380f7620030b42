"""What is verified of other metrics: what is right passes, and each single thing that is changed is found."""

from dataclasses import replace
from random import Random

import numpy as np
import pytest

from retrograde.databases import open_database
from retrograde.games.catalog import load_game
from retrograde.games.contract.game import DRAW, LOSE, MOST_IMAGES, TIE, UNDECIDED
from retrograde.solver.engine import solve
from retrograde.solver.metrics import drawlevel, nimber, score, utilities
from retrograde.solver.metrics.method import MetricOptions
from retrograde.solver.rules import compiled
from retrograde.solver.runtime.progress import Phase
from retrograde.solver.verification import kernels, measures
from retrograde.solver.verification.families import Families, families_of
from retrograde.solver.verification.metrics import CHECKS
from retrograde.solver.verification.records import RecordTable
from retrograde.solver.verification.verify import verify
from tests.helpers.measuring import random_graph, two_sided_graph

KINDS = {
    "score": (score.measure, {"players": 2}, ""),
    "score by who alternates": (score.measure, {"alternating": True}, ""),
    "score where moves pay": (score.measure, {"players": 2, "pay": True}, ""),
    "score of a puzzle": (score.measure, {"players": 1}, ""),
    "nimber": (nimber.measure, {"alternating": True, "impartial": True}, ""),
    "drawlevel": (drawlevel.measure, {"alternating": True, "impartial": True}, ""),
    "utilities": (utilities.measure, {"players": 3}, "first"),
    "utilities, leader": (utilities.measure, {"players": 3}, "leader"),
    "utilities, paranoid": (utilities.measure, {"players": 3}, "paranoid"),
    "utilities, average": (utilities.measure, {"players": 3}, "average"),
}


def families(graph, measured):
    """Return the families of a graph, as they would be read from a database."""
    counts = np.array([len(moves) for moves in graph.children])
    parents = np.repeat(np.arange(len(graph)), counts)
    children = np.array([child for moves in graph.children for child in moves], np.int64)
    turned = [graph.turned(i, child) for i, child in zip(parents.tolist(), children.tolist(), strict=True)]
    ones, kinds = np.ones(len(graph), np.int64), np.where(counts > 0, UNDECIDED, LOSE)
    odds, measures = np.ones(len(children), np.int64), np.stack([*measured.columns.values()])
    return Families(
        np.arange(len(graph)), 0 * ones, kinds, np.array(graph.movers), np.array(graph.pays), ones, parents, children,
        np.array(turned, np.bool_), odds, graph.flat_gains(), measured.values.astype(np.int64),
        measured.remotenesses.astype(np.int64), measures,
    )  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("graphs", [2, pytest.param(100, marks=pytest.mark.thorough)])
@pytest.mark.parametrize("cycles", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_right_passes_and_each_change_is_found(kind, cycles, graphs):
    measure, options, ties = KINDS[kind]
    metric, chance = kind.split()[0].strip(","), Random(kind)
    if metric == "utilities" and cycles:
        pytest.skip("utilities are of games that come to an end")
    if options.get("pay") and cycles:
        pytest.skip("where play goes round, moves must not pay")
    for seed in range(graphs):
        graph = random_graph(seed, cycles=cycles, **options)
        measured = measure(graph, MetricOptions(metric, ties), Phase("solving", None))
        found = families(graph, measured)
        assert not CHECKS[metric](found, dict(measured.details)).any(), seed
        for changed in changes(found, chance, ties):
            assert CHECKS[metric](changed, dict(measured.details)).any(), seed


def changes(found, chance, ties):
    """Yield the same with a measure, the plies or a value of one record changed."""
    i = chance.randrange(len(found.positions))
    measures, plies, values = found.measures.copy(), found.plies.copy(), found.values.copy()
    step = 1 << 20 if ties == "average" else 1
    measures[chance.randrange(len(measures)), i] += chance.choice([-step, step])
    plies[i] += chance.choice([-1, 1])
    values[i] = chance.choice([value for value in (LOSE, DRAW, TIE) if value != values[i]])
    yield replace(found, measures=measures)
    yield replace(found, plies=plies)
    yield replace(found, values=values)


@pytest.mark.long
def test_an_image_counts_once_however_often_the_rules_yield_it():
    """On some squares all images are one position, on others there are two, four or eight."""
    game, room, found = load_game("cram:3,3"), np.zeros(MOST_IMAGES, np.int64), set()
    compiled.prepare(game)
    for position in range(1 << 9):
        images = {position, *game.images(position)}
        assert kernels.gather_images(game, position, room) == len(images)
        found.add(len(images))
    assert found >= {1, 2, 4, 8}


def test_draws_of_several_levels_pass_and_each_change_is_found():
    chance, levels = Random(0), set()
    for seed in range(100):
        graph = two_sided_graph(seed)
        found = families(graph, drawlevel.measure(graph, MetricOptions("drawlevel"), Phase("solving", None)))
        assert not CHECKS["drawlevel"](found, {}).any(), seed
        for changed in changes(found, chance, ""):
            assert CHECKS["drawlevel"](changed, {}).any(), seed
        levels |= {*found.measures[1].tolist()}
    assert levels >= {-1, 0, 1}


def test_two_that_lean_on_each_other_are_found():
    """Both could be worth 3 because of the other, move by move; only the plies tell that it is not so."""
    from tests.helpers.measuring import Graph

    graph = Graph(2, [0, 0, 1], [[1], [0, 2], []], [0, 0, 0], [(0, 0), (0, 0), (0, 0)])
    found = families(graph, score.measure(graph, MetricOptions("score"), Phase("solving", None)))
    assert not CHECKS["score"](found, {}).any()
    leaning = replace(found, measures=np.array([[3, 3, 0]]), values=np.array([4, 4, 3]))
    for plies in ([1, 1, 0], [2, 1, 0], [1, 2, 0], [-1, -1, 0]):
        assert CHECKS["score"](replace(leaning, plies=np.array(plies)), {})[:2].any()


@pytest.mark.thorough
@pytest.mark.long
def test_a_database_is_verified_as_a_whole(tmp_path, monkeypatch):
    game = load_game("cram:3,3")
    with open_database(solve(game, tmp_path / "cram.h5")) as database:
        report = verify(database)
        assert report.ok and report.stored == database.file.stored and "by nimber every position" in report.proven
        assert "play reaches and those equal to them by symmetry, no more and no less" in report.proven
        found = families_of(RecordTable(database))
        assert int(found.images.sum()) == len(database)
        table = database.file.legend.table
        table["stored"][0] += 1
        assert [problem.complaint for problem in verify(database).problems] == [
            f"the legend counts {table['stored'][0]} records of LOSE in 0 (0), and not {table['stored'][0] - 1}"
        ]
        table["stored"][0] -= 1
        table["nimber"][0] += 5
        report = verify(database)
        assert not report.ok and report.problems[0].complaint == "is not worth what follows from its children (nimber)"
        table["nimber"][0] -= 5
        unreached = replace(found, children=np.where(found.children == 1, 2, found.children))
        monkeypatch.setattr(measures, "families_of", lambda table: unreached)
        assert "is stored, and play never reaches it" in {problem.complaint for problem in verify(database).problems}
        lacking = replace(found, children=np.where(found.children == 1, -1, found.children))
        monkeypatch.setattr(measures, "families_of", lambda table: lacking)
        assert verify(database).problems[0].complaint == "has a child that is not stored"
