"""Tables as leaves: searches that ask databases of smaller games of the family find what a database of all finds."""

import json
import re
from random import Random

import pytest

from retrograde.databases import open_database
from retrograde.games import LOSE, UNDECIDED, WIN
from retrograde.games.catalog import load_game
from retrograde.solver.search.bounds import worth_of
from retrograde.solver.search.endgame_tables import BASE, DRAWN, UNKNOWN, probe_tables
from retrograde.solver.search.probing.tables import find_tables
from retrograde.solver.search.prover import ProofNumberSearch
from retrograde.solver.search.searcher import Search
from tests.helpers.command_line import retrograde
from tests.helpers.paths import ROOT
from tests.helpers.solving import copy_whole

pytestmark = pytest.mark.long

KPK = load_game("chess:KPK")


@pytest.fixture(scope="module")
def home(solved, tmp_path_factory):
    """A home folder with the endings that pawns turn into; the truth about all is elsewhere."""
    folder = tmp_path_factory.mktemp("home")
    for men in ("KQK", "KRK", "KBK", "KNK"):
        copy_whole(solved(f"chess:{men}"), folder)
    return folder


@pytest.fixture(scope="module")
def truth(solved):
    with open_database(solved("chess:KPK"), game=KPK) as database:
        yield database


@pytest.fixture
def tables(home, monkeypatch):
    monkeypatch.setenv("RETROGRADE_HOME", str(home))
    found = find_tables(KPK, KPK.unindex(min(KPK.tiers), 12345))
    yield found
    found.close()


def with_pawns(count, seed):
    """Return positions with a pawn."""
    chance, tier = Random(seed), min(KPK.tiers)
    while count:
        position = KPK.unindex(tier, chance.randrange(KPK.size(tier)))
        if position >= 0 and KPK.primitive(position) == UNDECIDED:
            count -= 1
            yield position


def test_each_position_in_a_table_is_worth_what_its_database_says(tables, truth):
    """Interpreted in the database of all, and compiled in memory; those that are in none are not told."""
    seen = set()
    for position in with_pawns(100, 1):
        assert tables.get(position) is None
        assert probe_tables(KPK, position, BASE, tables.address) == UNKNOWN
    chance = Random(2)
    for tier, entries in tables.entries.items():
        for slot in chance.choices(range(len(entries)), k=50):
            position = KPK.unindex(tier, slot)
            if position < 0 or KPK.primitive(position) != UNDECIDED:
                continue
            value, remoteness = truth[position]
            decided = value in (WIN, LOSE)
            image = chance.choice(list(KPK.images(position)))
            assert tables.get(image) == truth[position]
            expected = worth_of(value, remoteness, BASE) if decided else DRAWN
            assert probe_tables(KPK, image, BASE, tables.address) == expected
            if decided:
                near = worth_of(value, min(remoteness, 9), 10)
                assert probe_tables(KPK, image, 10, tables.address) == near
            seen.add(value)
    assert len(seen) == 3


@pytest.mark.thorough
def test_searches_with_tables_find_what_is_so(tables, truth):
    search, prover = Search(KPK, 1, 1 << 24, tables), ProofNumberSearch(KPK, 1 << 24, tables)
    plain = Search(KPK, 1, 1 << 24)
    found = fewer = 0
    for position in with_pawns(25, 2):
        value, remoteness = truth[position]
        for told_of in (search.find(position, 0.3), plain.find(position, 0.1)):
            assert told_of.at_least <= value <= told_of.at_most
            assert told_of.remoteness in (None, remoteness)
            fewer += told_of.proved * (1 if told_of.in_tables else 0)
        assert plain.in_tables == 0
        by_numbers = prover.find(position, 0.5)
        assert by_numbers.at_least <= value <= by_numbers.at_most
        found += by_numbers.proved
    assert found and fewer and search.in_tables and prover.in_tables


def test_what_is_asked_are_other_games_of_the_family_alone(home, tables, monkeypatch, tmp_path):
    assert len(tables.databases) == 5 and set(tables.entries) < set(KPK.tiers)
    monkeypatch.setenv("RETROGRADE_HOME", str(home))
    krk = load_game("chess:KRK")
    alone = find_tables(krk, krk.unindex(min(krk.tiers), 5000))
    assert alone is None or 0 < len(alone.entries) < len(krk.tiers), "the bare kings, of other endings"
    assert find_tables(load_game("dodgem"), load_game("dodgem").start) is None
    small = find_tables(KPK, KPK.unindex(min(KPK.tiers), 12345), most=100_000)
    assert small is None or sum(len(entries) for entries in small.entries.values()) <= 50_000
    monkeypatch.setenv("RETROGRADE_HOME", str(tmp_path))
    assert find_tables(KPK, KPK.unindex(min(KPK.tiers), 12345)) is None


@pytest.mark.thorough
def test_the_command_line_tells_of_tables(home):
    position = "8/4P3/8/8/8/k7/8/1K6_w"
    told_of = retrograde("search", "chess:KPK", position, "--time", "5", env={"RETROGRADE_HOME": str(home)}).stdout
    assert "in tables" in told_of and "White to move wins: mate in 6" in told_of
    facts = [
        json.loads(
            retrograde(
                "search", "chess:KPK", position, "--time", "5", "--json", option, env={"RETROGRADE_HOME": str(home)}
            ).stdout
        )
        for option in ("--tables", "--no-tables")
    ]
    assert facts[0]["in_tables"] > 0 and "in_tables" not in facts[1]
    assert facts[0]["value"] == "win" and facts[1]["at_most"] == "win"


def test_the_page_of_search_says_how_many_positions_are_visited(home, monkeypatch):
    """Its command, with and without the databases."""
    monkeypatch.setenv("RETROGRADE_HOME", str(home))
    page = " ".join((ROOT / "docs" / "commands" / "search.md").read_text("utf-8").split())
    with_tables, thousands, command = re.findall(
        r"visits (\d+) positions to find .*? visits ([\d.]+) thousand.*? retrograde (search chess:KPK [^`]+) ```", page
    )[0]
    found, found_without = (
        json.loads(retrograde(*command.split(), "--json", option).stdout) for option in ("--tables", "--no-tables")
    )
    assert (found["distance"], found["nodes"]) == ("mate in 6", int(with_tables))
    assert f"{found_without['nodes'] / 1000:.1f}" == thousands
