"""Searches of the whole game of chess find endings in databases, and heed the fifty-move rule and repetition."""

import json
from random import Random

import pytest

from retrograde.databases import open_database
from retrograde.games import DRAW, LOSE, UNDECIDED, WIN
from retrograde.games.catalog import load_game
from retrograde.games.chess.men import LOWEST, TIERS, name_of_tier
from retrograde.games.chess.rules import Chess
from retrograde.games.contract.zeroing import PATIENCE
from retrograde.solver.engine import solve
from retrograde.solver.play.match import ENDLESS, play
from retrograde.solver.play.oracles.open import searching_oracle
from retrograde.solver.rules.ports import rules_for
from retrograde.solver.search.depth.scores import FAR
from retrograde.solver.search.depth.searcher import ValueSearch
from retrograde.solver.search.endgame_tables import BASE, DRAWN, UNKNOWN, probe_tables
from retrograde.solver.search.probing.tables import LoadedTables, find_tables
from retrograde.solver.search.searcher import Search
from tests.helpers.command_line import retrograde

GAME = load_game("chess")
KRK = Chess("KRK")
PROMOTING = "8/8/8/8/8/5k2/2p5/K1R5 w - - 40 80"
"""The pawn promotes unless the rook takes it."""


def placements(ending, count, seed):
    """Return random positions of an ending, in both pairs of colours."""
    chance, tier = Random(seed), min(ending.tiers)
    while count:
        position = ending.unindex(tier, chance.randrange(ending.size(tier)))
        if position >= 0:
            count -= 1
            yield position ^ chance.randrange(2) << 47


def with_clock(position, clock):
    return GAME.read(f"{KRK.write(position).rsplit(maxsplit=2)[0]} {clock} 1")


def test_positions_of_few_men_have_the_tiers_and_slots_of_the_endings():
    for tier in Random(1).sample(range(LOWEST, len(TIERS)), 60):
        ending = Chess(name_of_tier(tier))
        for position in placements(ending, 2, tier):
            found = GAME.read(ending.write(position))
            assert GAME.tier(found) == tier
            assert GAME.index(found) == ending.index(position)
            assert ending.canonical(GAME.as_probed(found)) == ending.canonical(position)


def test_positions_with_rights_are_not_looked_up():
    passed, ending = "8/8/8/8/k2pP3/8/8/4K3 b - e3 0 1", Chess("KPKP")
    assert GAME.tier(GAME.read(passed)) == ending.tier(ending.read(passed))
    assert GAME.index(GAME.read(passed)) == -1
    assert ending.canonical(GAME.as_probed(GAME.read(passed))) == ending.canonical(ending.read(passed))
    with_rights, without = (GAME.read(f"8/8/8/8/k7/8/8/4K2R w {rights} - 0 1") for rights in "K-")
    assert GAME.tier(with_rights) < LOWEST <= GAME.tier(without) == KRK.tier(KRK.read("8/8/8/8/k7/8/8/4K2R w"))
    assert GAME.tier(GAME.start) < GAME.tier(with_rights)


def test_what_repeats_a_position_differs_in_the_clock_alone():
    for position in placements(KRK, 20, 3):
        repetitions = {GAME.without_clock(with_clock(position, clock)) for clock in (0, 1, 60)}
        assert repetitions == {with_clock(position, 0)}


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("home")
    solve(KRK, folder / "chess,KRK.h5")
    return folder


@pytest.fixture
def tables(home, monkeypatch):
    monkeypatch.setenv("RETROGRADE_HOME", str(home))
    found = find_tables(GAME, GAME.start)
    yield found
    found.close()


@pytest.mark.long
def test_tables_count_unless_the_fifty_moves_end_before(tables, home):
    seen = set()
    with open_database(home / "chess,KRK.h5", game=KRK) as truth:
        for position in placements(KRK, 300, 2):
            value, plies = truth[position]
            if KRK.primitive(position) != UNDECIDED:
                continue
            for clock in (0, 60, PATIENCE - (plies or 9), PATIENCE + 1 - (plies or 9)):
                at = with_clock(position, clock)
                expected = DRAWN if value == DRAW else UNKNOWN
                if value != DRAW and clock + plies <= PATIENCE:
                    expected = BASE - plies if value == WIN else plies - BASE
                assert probe_tables(rules_for(GAME), at, BASE, tables.address) == expected
                assert tables.get(at) == (None if expected == UNKNOWN else (value, plies))
                seen.add((value, expected == UNKNOWN))
    assert seen == {(WIN, False), (WIN, True), (LOSE, False), (LOSE, True), (DRAW, False)}


@pytest.mark.long
def test_a_search_announces_the_mate_of_the_ending_that_a_capture_leads_to(tables, home):
    """The rook takes the pawn; that this is soonest only the search of all lines could say."""
    position = GAME.read(PROMOTING)
    after = GAME.do_move(position, GAME.move(position, "Rxc2"))
    with open_database(home / "chess,KRK.h5", game=KRK) as truth:
        value, plies = truth[KRK.read(GAME.write(after))]
    assert value == LOSE
    found = ValueSearch(GAME, tables=tables).find(position, 3)
    assert (GAME.move_name(position, found.move), found.score) == ("Rxc2", FAR - plies - 1)
    assert ValueSearch(GAME, tables=LoadedTables(GAME)).find(position, 3).score < 1000


@pytest.mark.thorough
def test_a_win_is_proved_by_the_ending_that_a_capture_leads_to(tables):
    proved = Search(GAME, size=1 << 20, tables=tables).find(GAME.read(PROMOTING), 20, distance=False)
    assert proved.value == WIN and proved.in_tables


@pytest.mark.thorough
@pytest.mark.long
def test_search_and_play_meet_the_databases_of_all_endings_of_three_men(tmp_path):
    """The game goes on as the database says: the rook takes the pawn, and mates as soon as it can."""
    env = {"RETROGRADE_HOME": str(tmp_path)}
    assert "5 of 5 solved" in retrograde("solve", "chess:all=3", env=env).stdout
    found = json.loads(retrograde("search", "chess", PROMOTING, "--value-only", "--json", env=env).stdout)
    assert found["value"] == "win" and found["in_tables"] > 0
    text = retrograde("play", "chess", "--from", PROMOTING, "--first", "depth:3", "--second", "depth:3", env=env).stdout
    position = GAME.read(PROMOTING)
    after = GAME.do_move(position, GAME.move(position, "Rxc2"))
    with open_database(tmp_path / "chess,KRK.h5", game=KRK) as truth:
        plies = truth[KRK.read(GAME.write(after))].remoteness
    assert "(by the database)" in text and f"White (K) wins after {plies + 1} moves: checkmate" in text


def test_the_third_time_a_position_occurs_is_a_draw_although_the_clock_goes_on():
    """Kings and rooks go to and fro; without captures the fifty moves would take longer."""
    position, squares = GAME.read("8/8/8/3k4/8/8/8/K6R w - - 7 9"), iter(["Kb1", "Kd4", "Ka1", "Kd5"] * 10)
    oracle = searching_oracle(GAME, seconds=0.0)

    def to_and_fro(oracle, at):
        return GAME.move(at, next(squares))

    game = play(oracle, position, (to_and_fro, to_and_fro))
    assert game.value == DRAW and len(game.moves) == 4 * (ENDLESS - 1)
    oracle.close()
