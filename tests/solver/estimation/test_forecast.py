"""Estimates: near what solves turn out to take, with a range that holds it; and solves that are refused by them."""

import json
import re
import shutil

import pytest

from retrograde.databases import DatabaseFile
from retrograde.games.catalog import load_game
from retrograde.solver.engine import solve
from retrograde.solver.estimation.amounts import (
    NUMBERED,
    PREDECESSOR,
    SETWISE_ON_DISK,
    STREAMED,
    Range,
    check_disk,
    streamed_estimate,
)
from retrograde.solver.estimation.estimate import SampleSizes, choose_ratios, estimate
from retrograde.solver.estimation.numbered import estimate_numbered
from retrograde.solver.estimation.sampling import PositionCounts, Sampler
from retrograde.solver.methods.listed.explore.explore import Explorer
from retrograde.solver.methods.listed.method import ListedMethod
from retrograde.solver.methods.listed.predecessors.lists import PredecessorWriter
from retrograde.solver.rules import ports
from retrograde.solver.runtime.memory import DiskTooSmall, MemoryBudget, MemoryLimit
from retrograde.solver.runtime.sizes import Sizes
from tests.helpers import published
from tests.helpers.command_line import LATE, retrograde
from tests.helpers.marks import thorough, thorough_but
from tests.helpers.solving import Stop, stop_at

AMOUNTS = ("records", "positions", "seconds", "memory", "scratch", "database")


def within(expected, **facts):
    """Assert that facts are in the ranges of an estimate."""
    for name, fact in facts.items():
        low, high = expected.ranges[name]
        assert low <= fact and (high is None or fact <= high), (name, fact, low, high)


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """Count as long as it takes: a machine may be busy."""
    monkeypatch.setattr("retrograde.solver.estimation.estimate.SECONDS", LATE)


# How many positions


def test_what_can_be_counted_is_not_estimated():
    expected = estimate(load_game("connect4:4,4"))
    assert (expected.positions, expected.records) == (161_029, 80_541)
    assert expected.ranges["positions"] == (161_029, 161_029)
    assert expected.complete and not expected.open
    assert expected.counted == len(expected.waves) == 17
    assert sum(expected.tiers.values()) == expected.records
    assert expected.rests_on[0] == "all positions, counted"


@pytest.mark.parametrize(("variant", "positions"), [("dodgem", 1963), ("mutorere", 1180), thorough(("lgame", 73_472))])
def test_play_that_comes_back_is_counted_where_it_is_small(variant, positions):
    expected = estimate(load_game(variant))
    assert expected.positions == positions
    assert expected.ranges["positions"] == (positions, positions)


@pytest.mark.thorough
def test_of_play_that_comes_back_what_was_counted_is_the_least():
    expected = estimate(load_game("dodgem:size=4"), sizes=SampleSizes(3_000))
    assert expected.open and not expected.complete
    assert expected.records == sum(expected.waves) < 393_900
    assert expected.ranges["records"] == (expected.records, None)
    assert all(expected.ranges[name][1] is None for name in AMOUNTS)
    assert "no further: play can return" in expected.rests_on[0]
    assert "still grow" in expected.rests_on[1]


@pytest.mark.thorough
def test_waves_that_dwindle_tell_about_where_they_end():
    """Of 393,900 positions of dodgem 4×4 all but the last few waves are counted."""
    sampler = Sampler(load_game("dodgem:size=4"), 95_000, 1, 60.0)
    found = sampler.run()
    assert found.open and found.returns
    assert found.low < 393_900 < found.high < 2 * 393_900


@pytest.mark.parametrize(
    ("variant", "positions"), [("connect4:5,4", 3_945_711), thorough(("connect4:5,5", 69_763_700))]
)
def test_an_estimate_is_near_and_its_range_holds_the_truth(variant, positions):
    expected = estimate(load_game(variant), sizes=SampleSizes(20_000, 20_000))
    assert expected.counted < len(expected.waves)
    assert 0.8 < expected.positions / positions < 1.2
    within(expected, positions=positions)
    assert [basis for basis in expected.rests_on if "two samples of 20,000" in basis]


@pytest.mark.parametrize(("variant", "patience"), [("connect4:4,4", 0.05), ("tictactoe", LATE)])
def test_time_of_rules_before_they_are_compiled_is_no_part_of_an_estimate(variant, patience, monkeypatch):
    for name, value in (("PORTS", {}), ("RECENT", {}), ("PATIENCE", patience), ("is_cached_for", lambda *_: False)):
        monkeypatch.setattr(ports, name, value)
    sampler = Sampler(load_game(variant), 100_000, 30_000, LATE)
    assert sampler.run().expansion > 0
    # Case: some positions are expanded by interpreted rules, most by machine code. Case: all by interpreted rules.
    assert sampler.is_compiled == (patience < LATE)
    assert (0 < sampler.timed < sampler.expanded) if sampler.is_compiled else sampler.timed == sampler.expanded


@pytest.mark.thorough
@pytest.mark.long
def test_a_sample_that_nothing_is_found_twice_in_is_no_reason_to_tell_a_thousandfold():
    """Of 7×6, 4.5·10¹² positions, a quick look once told 117 times too many."""
    expected = estimate(load_game("connect4"), sizes=SampleSizes(100_000, 30_000))
    assert 0.1 < expected.positions / 4_531_985_219_092 < 10


# What they take


FIVE_BY_FIVE, SIX_BY_SIX = 34_885_000, 34_586_514_000


@pytest.mark.parametrize(
    ("records", "scratch", "database"),
    [(FIVE_BY_FIVE, 4.9e6, 3.83e6), (522_170_000, 57e6, 44.1e6), (SIX_BY_SIX, 2.6e9, 1.945e9)],
)
def test_what_a_stream_writes_is_as_measured(records, scratch, database):
    """By benchmarks/README.md."""
    expected = streamed_estimate(records)
    assert 0.9 < expected.scratch / scratch < 1.1
    assert 0.9 < expected.database / database < 1.1
    within(expected, scratch=scratch, database=database)


@pytest.mark.parametrize(
    ("records", "free", "memory"),
    [
        (FIVE_BY_FIVE, 16e9, 254e6), (522_170_000, 16e9, 1.19e9), (1_409_500_000, 16e9, 2.54e9),
        (SIX_BY_SIX, 21.5e9, 16.5e9),  # with scratch files, for which all free memory is used
    ],
)  # fmt: skip
def test_the_memory_of_a_solve_word_by_word_is_as_measured(records, free, memory, monkeypatch):
    """By benchmarks/README.md."""
    monkeypatch.setattr(MemoryBudget, "free_bytes", lambda budget: free)
    counts = PositionCounts([records], {}, 1, records, records, True, False, False, 2.0, 1e-6, 1.0)
    ratios = choose_ratios(counts, "remoteness", streamed=True, setwise=True)
    low, likely, high = counts.range.times(ratios.memory) + ratios.fixed_memory
    assert low < memory < high <= free and 0.8 < likely / memory < 1.25


def test_a_solve_word_by_word_needs_some_memory_even_if_less_is_free(monkeypatch):
    monkeypatch.setattr(MemoryBudget, "free_bytes", lambda budget: 1e9)
    counts = PositionCounts([SIX_BY_SIX], {}, 1, SIX_BY_SIX, SIX_BY_SIX, True, False, False, 2.0, 1e-6, 1.0)
    ratios = choose_ratios(counts, "remoteness", streamed=True, setwise=True)
    assert ratios.fixed_memory == Range.exactly(1.5e9) and ratios.scratch == SETWISE_ON_DISK.scratch


@pytest.mark.parametrize(
    ("ending", "memory", "database"),
    thorough_but(
        [
            ("KRK", 187e6, 16e3), ("KPK", 182e6, 28e3), ("KRKN", 190e6, 508e3), ("KQKR", 190e6, 1.20e6),
            ("KBNK", 190e6, 832e3), ("KRPK", 233e6, 1.99e6), ("KRBKR", 0.88e9, 22e6), ("KBBKN", 0.63e9, 26e6),
        ],
        ("KRKN", 190e6, 508e3), ("KRPK", 233e6, 1.99e6), ("KRBKR", 0.88e9, 22e6),
    ),
)  # fmt: skip
def test_what_endings_take_is_as_measured(ending, memory, database):
    """Memory of five men was told 2.5 times too low once, their files 3 to 7 times too large."""
    expected = estimate_numbered(load_game(f"chess:{ending}"), 2)
    within(expected, memory=memory, database=database)
    assert 0.7 < expected.memory / memory < 1.3
    assert 0.4 < expected.database / database < 2.5


@pytest.mark.parametrize(("ending", "records"), [("KRK", 50_015), ("KRKN", 2_915_128)])
def test_positions_of_a_numbering_are_told_from_slots_that_are_looked_at(ending, records):
    expected = estimate_numbered(load_game(f"chess:{ending}"), 2)
    within(expected, records=records)
    assert 14 < expected.positions / expected.records < 17


@pytest.mark.thorough
def test_predecessor_lists_of_the_largest_tier_are_estimated_where_the_rules_give_no_parents(tmp_path, monkeypatch):
    """As many as a solve takes of it; and that there is a way without them."""
    game, taken = load_game("foxandhounds:side=6"), {}
    expected = estimate(game)
    invert = PredecessorWriter.invert

    def spy(writer):
        links = invert(writer)
        taken[writer.layout.positions] = sum(len(part.parents) for part in links.blocks)
        return links

    monkeypatch.setattr(PredecessorWriter, "invert", spy)
    solve(game, tmp_path / "game.h5", method="compiled", fresh=True)
    slots = max(taken)
    assert expected.links == pytest.approx(taken[slots] / slots, rel=0.1)
    with_links, without = expected.ranges["scratch"][1], NUMBERED.scratch.high * sum(map(game.size, game.tiers))
    assert with_links - without == pytest.approx(expected.links * slots * PREDECESSOR.high, rel=0.2)
    (said,) = (basis for basis in expected.rests_on if "predecessor lists" in basis)
    assert re.match(r"the largest tier has about [\d.]+ .B of predecessor lists, .*each ply .* up to [\d.]+ s", said)
    assert not estimate(load_game("quixo:side=3")).links


@pytest.mark.thorough
@pytest.mark.long
@pytest.mark.parametrize("variant", ["tictactoe", "connect4:4,4", "connect4:5,4", "dodgem", "dodgem:size=4", "lgame"])
def test_what_is_solved_in_memory_is_within_the_range(variant, tmp_path):
    game = load_game(variant)
    expected = estimate(game)
    path = solve(game, tmp_path / "game.h5")
    within(expected, records=DatabaseFile(path).stored, positions=DatabaseFile(path).positions)
    low, high = expected.ranges["database"]
    assert low * 0.9 < path.stat().st_size < high + 8_000


def test_every_ratio_is_a_range():
    for ratios in (STREAMED, NUMBERED):
        for ratio in vars(ratios).values():
            assert not isinstance(ratio, Range) or 0 <= ratio.low <= ratio.likely <= ratio.high


# What is refused


def little_disk(monkeypatch, folder, free=1000):
    usage = shutil.disk_usage(folder)
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: usage._replace(free=free))


SMALL = Sizes(in_memory=1000, estimate_seconds=0.0)


def test_what_cannot_fit_the_disk_is_refused_and_leaves_nothing(tmp_path, monkeypatch):
    little_disk(monkeypatch, tmp_path)
    for _ in range(2):
        with pytest.raises(DiskTooSmall, match="are free; give --database on another disk"):
            solve(load_game("connect4:4,4"), tmp_path / "deep" / "down" / "game.h5", method="streamed", sizes=SMALL)
        assert not list(tmp_path.iterdir())


def test_what_cannot_fit_the_memory_leaves_nothing(tmp_path):
    with pytest.raises(MemoryLimit, match="slots of positions needs about"):
        solve(load_game("chess:KQKR"), tmp_path / "deep" / "game.h5", memory=200_000_000)
    assert not list(tmp_path.iterdir())


@pytest.mark.thorough
def test_a_refusal_keeps_what_has_taken_long_to_find_and_says_so(tmp_path, monkeypatch):
    """Positions are explored; then there is no memory to solve them."""
    state_space = Explorer.state_space

    def explored(explorer):
        space = state_space(explorer)
        monkeypatch.setattr(MemoryBudget, "free_bytes", lambda _: 0)
        return space

    monkeypatch.setattr("retrograde.solver.engine.WORTH_KEEPING", 0.0)
    monkeypatch.setattr(Explorer, "state_space", explored)
    with pytest.raises(MemoryLimit, match=r"choose a smaller variant; what is done is kept$"):
        solve(load_game("lgame"), tmp_path / "game.h5", method=ListedMethod())
    assert (tmp_path / "game.h5.journal").exists()


@pytest.mark.thorough
def test_a_refusal_keeps_what_an_earlier_run_has_found(tmp_path, monkeypatch):
    game, path = load_game("connect4:5,4"), tmp_path / "game.h5"
    monkeypatch.setattr("retrograde.solver.runtime.progress.Phase.often", 0.0)
    with pytest.raises(Stop):
        solve(game, path, method="streamed", sizes=Sizes(in_memory=1000, journal_seconds=0), listener=stop_at(12))
    before = (tmp_path / "game.h5.journal").stat().st_size
    little_disk(monkeypatch, tmp_path)
    with pytest.raises(DiskTooSmall, match=r"what is done is kept$"):
        solve(game, path, method="streamed", sizes=SMALL)
    assert (tmp_path / "game.h5.journal").stat().st_size >= before > 0
    assert (tmp_path / "game.h5.scratch").is_dir()


@pytest.mark.thorough
def test_solve_refuses_by_the_estimate_that_is_shown(tmp_path, monkeypatch):
    game = load_game("connect4:5,4")
    expected = estimate(game, in_memory=1000)
    little_disk(monkeypatch, tmp_path)
    with pytest.raises(DiskTooSmall) as estimated:
        check_disk(game, tmp_path, expected, 0)
    other = SampleSizes(2_000, 500)  # gives another number
    monkeypatch.setattr("retrograde.solver.estimation.estimate.QUICK", other)
    sizes = Sizes(in_memory=1000, estimate_seconds=0.0, stream_children=2_000, stream_least_children=2_000)
    with pytest.raises(DiskTooSmall) as refused:
        solve(game, tmp_path / "game.h5", method="streamed", sizes=sizes)
    amount = r"needs about [\d.]+ .B, at least [\d.]+ .B"
    assert re.search(amount, str(refused.value))[0] == re.search(amount, str(estimated.value))[0]


# The command


@pytest.mark.long
def test_an_estimate_solves_nothing_and_tells_a_range(tmp_path, monkeypatch):
    monkeypatch.setenv("RETROGRADE_HOME", str(tmp_path / "home"))
    shown = retrograde("solve", "connect4:4,4", "--estimate").stdout
    assert shown.startswith("connect4:width=4,height=4: an estimate")
    assert re.search(r"positions +161,029\n +records +80,541\n +time +about .* \(.* to .*\)", shown)
    assert "It rests on\n  - all positions, counted\n  - ratios of solves of" in shown
    result = retrograde("solve", "connect4:4,4", "--estimate", "--json")
    facts = json.loads(result.stdout)
    assert (facts["positions"], facts["records"], len(facts["waves"])) == (161_029, 80_541, 17)
    assert sum(row["records"] for row in facts["tiers"]) == 80_541
    assert set(facts["ranges"]) == set(AMOUNTS)
    low, high = facts["ranges"]["memory"]
    assert low < facts["memory"] < high
    assert facts["fits_disk"] and facts["rests_on"]
    phases = [json.loads(line)["phase"] for line in result.stderr.splitlines()]
    assert phases[:2] == ["reading the rules", "compiling the rules"] and "counting" in phases
    assert json.loads(retrograde("solve", "chess:KRK", "--estimate", "--json").stdout)["ranges"]["records"][1] > 50_000
    little = "chess:KRK", "--estimate", "--memory"
    assert "but solve refuses a --memory of less than about" in retrograde("solve", *little, "200M").stdout
    assert "refuse" not in retrograde("solve", *little, "1G").stdout
    assert not json.loads(retrograde("solve", *little, "200M", "--json").stdout)["fits_memory"]
    assert not (tmp_path / "home").exists()
    assert sum(published.COUNTS["connect4:4,4,4"].values()) == facts["positions"]


@pytest.mark.thorough
@pytest.mark.long
@pytest.mark.parametrize(
    ("variant", "metric"),
    [("dodgem", "score"), ("dodgem", "drawlevel"), ("cram:4,4", "nimber"), ("tictactoe3", None), ("pig:20", None)],
)
def test_what_a_metric_takes_is_foretold(variant, metric, tmp_path):
    chosen = ["--metric", metric] if metric else []
    expected = json.loads(retrograde("solve", variant, *chosen, "--estimate", "--json").stdout)
    took = json.loads(retrograde("solve", variant, *chosen, "--database", tmp_path / "there.h5", "--json").stdout)
    assert expected["positions"] == took["positions"] and expected["records"] == took["stored"]
    low, high = expected["ranges"]["database"]
    assert low <= took["bytes"] <= high
    assert "solves of" in expected["rests_on"][-1]


@pytest.mark.thorough
def test_what_is_foretold_depends_on_the_metric():
    """A best response has two numbers more of each position, and no numbering serves for other metrics."""
    game = load_game("piglet")
    one, both = estimate(game), estimate(game, against=True)
    assert one.records == both.records and both.memory > one.memory and both.database > one.database
    quixo = load_game("quixo:3")
    assert "slots" in estimate(quixo).rests_on[0]
    assert estimate(quixo, metric="drawlevel").rests_on[-1].startswith("ratios of solves of Connect Four 5×4")
