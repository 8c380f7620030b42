"""Compact databases: one side to move is kept, and they answer as those do that they are made of."""

import json
import random
import subprocess

import numpy as np
import pytest

from retrograde.databases import DamagedDatabase, database, open_database
from retrograde.databases.layout import DERIVED, VERSION
from retrograde.databases.slots.derive import CompactDatabase
from retrograde.games import LOSE
from retrograde.games.catalog import load_game
from retrograde.games.chess.men import tier_of
from retrograde.solver.engine import solve
from retrograde.solver.methods.numbered.compact import derive
from retrograde.solver.methods.numbered.compact.write import CannotCompact, columns_of, make_compact
from retrograde.solver.play.analysis import summary
from retrograde.solver.play.solution import Solution, open_solution
from retrograde.solver.verification.sample import verify_sample
from retrograde.solver.verification.verify import verify
from tests.helpers import c_reader
from tests.helpers.command_line import LATE, retrograde
from tests.helpers.forge import Forged
from tests.helpers.marks import thorough_but
from tests.helpers.solving import copy_whole, in_one_file

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def compact(solved, tmp_path_factory):
    """Return a function from a variant to the paths of its database, and of a compact one of the same name."""
    paths = {}

    def both(text):
        if text not in paths:
            whole, folder = solved(text), tmp_path_factory.mktemp("small")
            copy_whole(whole, folder).unlink()
            with open_database(whole) as opened:
                paths[text] = whole, make_compact(opened, folder / whole.name)
        return paths[text]

    return both


def some_positions(opened, count, chance):
    """Return positions of some slots, and images of theirs."""
    found, (tiers, bounds) = [], opened.contents.tiers
    while len(found) < count:
        slot = chance.randrange(opened.contents.slots)
        k = int(bounds.searchsorted(slot, "right")) - 1
        position = opened.game.unindex(int(tiers[k]), slot - int(bounds[k]))
        if position >= 0:
            found.append(chance.choice([position, *opened.game.images(position)]))
    return found


def pairs(answer):
    """Return what a lookup says as pairs."""
    return list(zip(*(column.tolist() for column in answer), strict=True))


@pytest.mark.thorough
@pytest.mark.parametrize("variant", thorough_but(["chess:KRK", "chess:KPK"], "chess:KPK"))
def test_it_answers_as_the_other_does(variant, compact, monkeypatch):
    whole, small = compact(variant)
    assert small.stat().st_size < whole.stat().st_size
    chance = random.Random(1)
    with open_database(whole) as one, open_database(small) as other:
        assert isinstance(other, CompactDatabase)
        positions = some_positions(one, 300, chance)
        assert [other[position] for position in positions] == [one[position] for position in positions]
        strangers = [chance.getrandbits(44) for _ in range(300)] + [position ^ 8 for position in positions]
        assert [other.get(position) for position in strangers] == [one.get(position) for position in strangers]
        lost = [Solution(opened).where("lose", range(9)) for opened in (one, other)]
        assert len(lost[0]) == len(lost[1]) == sum(len(chunk.positions) for chunk in lost[1]) > 0
        asked = np.array([*positions, *strangers, -1, 1 << 62])
        monkeypatch.setattr(database, "BULK", 1 << 30)
        wanted = pairs(one.lookup(asked))
        assert pairs(other.lookup(asked)) == wanted
        monkeypatch.setattr(database, "BULK", 1)
        monkeypatch.setattr(derive, "TOGETHER", 70)
        monkeypatch.setattr(derive, "TASK", 30)
        assert pairs(other.lookup(asked)) == wanted


@pytest.mark.parametrize("variant", thorough_but(["chess:KRK", "chess:KPK"], "chess:KPK"))
def test_every_slot_that_stands_for_a_position_holds_the_same(variant, compact):
    whole, small = compact(variant)
    with open_solution(whole) as one, open_solution(small) as other:
        for ours, theirs in zip(one.positions(), other.positions(), strict=True):
            assert all(map(np.array_equal, ours, theirs))
        facts, file = summary(other.database), {"path": "", "bytes": 0, "bits_per_position": 0}
        assert 0 < facts["compact"]["kept"] < facts.pop("compact")["slots"]
        assert facts | file == summary(one.database) | file


@pytest.mark.slow
def test_en_passant_is_derived_as_well(compact):
    whole, small = compact("chess:KPKP")
    with open_database(whole) as one, open_database(small) as other:
        tier = one.contents.tiers.numbers.tolist().index(tier_of("KPKP"))
        begin, end = one.contents.tiers.bounds[tier : tier + 2].tolist()
        positions = one._bulk.positions_of(tier_of("KPKP"), 0, end - begin)
        passing = positions[(positions >= 0) & (positions & 15 > 0)]
        assert len(passing) > 10_000
        assert pairs(other.lookup(passing)) == pairs(one.lookup(passing))
        some = passing[::3000].tolist()
        assert [other[position] for position in some] == [one[position] for position in some]


def test_of_a_side_to_move_one_is_kept(compact):
    for variant in ("chess:KRK", "chess:KPK"):
        with open_database(compact(variant)[1]) as opened:
            parts = opened.contents.parts
            left = sum(part.slots for part in parts if part.kept == DERIVED)
            assert 0.4 < left / opened.contents.slots < 0.6
            assert opened.file.header.version == VERSION
            places = [opened.contents.offset_of(slot) for slot in range(0, opened.contents.slots, 97)]
            kept = [place for place in places if place != DERIVED]
            assert len(set(kept)) == len(kept) and 0.4 < len(kept) / len(places) < 0.6


@pytest.mark.parametrize(
    ("ending", "columns"), [("KRKN", [1, 64, 4096]), ("KQQK", [1, 2016]), ("KRPK", [1, 48, 3072]), ("KPKP", [1])]
)
def test_orders_are_tried_in_which_later_men_come_first(ending, columns):
    game, tier = load_game(f"chess:{ending}"), tier_of(ending)
    assert columns_of(game, tier, game.size(tier) // 2) == columns


def test_slots_in_columns_are_found_where_they_are(solved, tmp_path, monkeypatch):
    """Whichever order takes least: here the rook's square comes first."""
    monkeypatch.setattr(
        "retrograde.solver.methods.numbered.compact.write.columns_of",
        lambda game, tier, slots: [64 if slots % 64 == 0 else 1],
    )
    with open_database(solved("chess:KRK")) as one:
        told = []
        # It compares all slots with the others.
        path = make_compact(one, tmp_path / "chess,KRK.h5", lambda progress: told.append(progress.phase))
        assert told[0].startswith("compiling the rules")
        with open_database(path) as other:
            assert {part.columns for part in other.contents.parts} == {64, 1}
            positions = some_positions(one, 100, random.Random(2))
            assert [other[position] for position in positions] == [one[position] for position in positions]


@pytest.mark.parametrize("interpreted", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_it_is_verified_on_both_sides(interpreted, compact):
    with open_database(compact("chess:KRK")[1]) as opened:
        report = verify(opened, interpreted=interpreted)
        verify_sample(opened)
        assert report.ok and report.stored == opened.file.stored
        opened.file.check()


@pytest.mark.thorough
def test_what_is_kept_and_wrong_is_found(compact, tmp_path):
    forged = Forged.read(copy_whole(compact("chess:KRK")[1], tmp_path))
    content = np.frombuffer(forged.parts["kept"].contents[0], np.uint8).copy()
    rows = int(content.max())
    content[20_000:20_100] = np.where(content[20_000:20_100] == rows, rows - 1, rows)
    forged.parts["kept"].contents[0] = content.tobytes()
    with open_database(forged.write(tmp_path / "chess,KRK.h5")) as opened:
        assert verify(opened).wrong >= 50


def test_what_does_not_follow_is_damage(compact, tmp_path):
    forged = Forged.read(compact("chess:KRK")[1])
    legend = forged.parts["legend"].rows()
    legend["remoteness"][legend["value"] == LOSE] += 1
    forged.parts["legend"].put(legend)
    with open_database(forged.write(tmp_path / "chess,KRK.h5")) as opened:
        with pytest.raises(DamagedDatabase, match="an outcome that follows from the children is not in the legend"):
            opened.all_slots()
        some = some_positions(opened, 50, random.Random(3))
        with pytest.raises(DamagedDatabase, match="an outcome that follows from the children is not in the legend"):
            [opened.get(position) for position in some]


@pytest.mark.parametrize("column", ["slot", "slots", "kept", "columns"])
def test_parts_that_cannot_be_are_damage(column, compact, tmp_path):
    original = compact("chess:KRK")[1]
    for wrong in (0, -1, 1, 7, 1 << 40, (1 << 63) - 1):
        forged = Forged.read(original)
        rows = forged.parts["parts"].rows()
        if rows[column][1] == wrong:
            continue
        rows[column][1] = wrong
        forged.parts["parts"].put(rows)
        if column == "columns" and wrong in (1, 7):  # what is not kept is in no order
            continue
        with pytest.raises(DamagedDatabase):
            open_database(forged.write(tmp_path / "chess,KRK.h5"))


def test_what_is_left_out_on_both_sides_is_damage(tmp_path):
    """Or it would be looked for without end."""
    with in_one_file():
        whole = solve(load_game("chess:KRK"), tmp_path / "whole.h5")
    with open_database(whole) as opened:
        forged = Forged.read(make_compact(opened, tmp_path / "small.h5"))
    rows = forged.parts["parts"].rows()
    first, second = rows["kept"][:2].tolist()
    assert (first, second) == (0, DERIVED)
    rows["kept"][0], rows["kept"][-1] = DERIVED, 0
    kept = forged.parts["kept"]
    kept.length = kept.chunk = int(rows["slots"][-1])
    kept.contents = [bytes(kept.length)]
    forged.parts["parts"].put(rows)
    with open_database(forged.write(tmp_path / "chess,KRK.h5")) as opened:
        position = opened.game.read("8/8/8/8/8/2k5/1R6/K7 b")
        with pytest.raises(DamagedDatabase, match="is left out, and so is a child"):
            opened.get(position)
        with pytest.raises(DamagedDatabase, match="is left out, and so is a child"):
            opened.lookup(np.full(5000, position))


def test_what_cannot_be_compact_says_so(solved, compact, tmp_path):
    path = tmp_path / "small.h5"
    with open_database(solved("tictactoe")) as opened, pytest.raises(CannotCompact, match="number their positions"):
        make_compact(opened, path)
    with open_database(compact("chess:KRK")[1]) as opened, pytest.raises(CannotCompact, match="only full databases"):
        make_compact(opened, path)
    solve(load_game("chess:KNK"), tmp_path / "chess,KNK@dtc.h5", metric="dtc")
    with open_database(tmp_path / "chess,KNK@dtc.h5") as opened, pytest.raises(CannotCompact, match="by dtc"):
        make_compact(opened, path)
    with (
        open_database(solved("chess:KK")) as opened,
        pytest.raises(CannotCompact, match="the game is over, so nothing"),
    ):
        make_compact(opened, path)
    assert not path.exists()


@pytest.mark.thorough
def test_where_both_sides_are_alike_all_is_kept_in_a_better_order(compact):
    """One part stands for both, and moves lead from it into itself."""
    whole, small = compact("chess:KNKN")
    assert small.stat().st_size < whole.stat().st_size
    with open_database(whole) as one, open_database(small) as other:
        assert isinstance(other, CompactDatabase) and [part.kept for part in other.contents.parts] == [0]
        positions = some_positions(one, 100, random.Random(5))
        assert [other[position] for position in positions] == [one[position] for position in positions]


@pytest.mark.thorough
def test_it_may_rest_on_others(tmp_path, monkeypatch):
    monkeypatch.setenv("RETROGRADE_HOME", str(tmp_path))
    solve(load_game("chess:KRKN"), tmp_path / "chess,KRKN.h5")
    with open_database(tmp_path / "chess,KRKN.h5") as one:
        path = make_compact(one, tmp_path / "small" / "chess,KRKN.h5")
        assert path.stat().st_size < 200_000
        with open_database(path) as other:
            positions = some_positions(one, 100, random.Random(4))
            positions += [one.game.read("8/8/8/8/8/2k5/6n1/K7 b"), one.game.read("8/8/8/3k4/8/8/8/K6R w")]
            assert [other[position] for position in positions] == [one[position] for position in positions]
            many = np.array(positions * 50)
            assert pairs(other.lookup(many)) == pairs(one.lookup(many))


def test_the_command(solved, tmp_path, monkeypatch):
    monkeypatch.setenv("RETROGRADE_HOME", str(solved("chess:KRK").parent))
    monkeypatch.chdir(tmp_path)
    line = retrograde("export", "chess:KRK", "--compact", "small").stdout
    assert line.split()[:2] == ["chess:KRK", "16.7"] and "there before" not in line
    assert "there before" in retrograde("export", "chess:KRK", "--compact", "small").stdout
    facts = json.loads(retrograde("export", "chess:KRK", "--compact", "small", "--json").stdout)["databases"]
    assert [fact["there_before"] for fact in facts] == [True] and facts[0]["bytes"] < facts[0]["before"]
    fen = "8/8/8/8/8/2k5/1R6/K7 b"
    told = [retrograde("query", path, fen).stdout for path in (solved("chess:KRK"), "small/chess,KRK.h5")]
    assert told[0] == told[1] and "mated in 16" in told[0]
    assert "compact: 29,568 of 59,136 slots" in retrograde("info", "small/chess,KRK.h5").stdout
    folder = solved("chess:KRK").parent
    refused = retrograde("export", "chess:KRK", "--compact", folder, status=1)
    assert "is there already, and no compact database of these rules; name another folder" in refused.output
    refused = retrograde("export", "tictactoe", "--compact", "small", "--value", "win", status=2)
    assert "--compact goes with --database and --json alone" in refused.output


def test_a_database_by_another_metric_is_refused_where_a_compact_one_is(solved, tmp_path, monkeypatch):
    """Both have the same name in the folder. The refusal is that of an empty folder."""
    monkeypatch.setenv("RETROGRADE_HOME", str(solved("chess:KRK").parent))
    monkeypatch.chdir(tmp_path)
    retrograde("export", "chess:KRK", "--compact", "small")
    before = (tmp_path / "small" / "chess,KRK.h5").read_bytes()
    solve(load_game("chess:KRK"), tmp_path / "chess,KRK@dtc.h5", metric="dtc")
    for folder in ("small", "empty"):
        refused = retrograde("export", "./chess,KRK@dtc.h5", "--compact", folder, status=1)
        assert "cannot be made compact: its values are by dtc" in refused.stderr and not refused.stdout
    assert (tmp_path / "small" / "chess,KRK.h5").read_bytes() == before and not (tmp_path / "empty").exists()


def test_the_program_in_c_says_that_it_does_not_read_it(compact, tmp_path):
    c_reader.compiled(tmp_path)  # skipped where it cannot be
    path = compact("chess:KRK")[1]
    done = subprocess.run([tmp_path / "program", path, "0"], capture_output=True, text=True, timeout=LATE)
    assert done.returncode and "is compact: half of it follows from moves" in done.stderr
