"""Sets of variants solved by one command."""

import json
from pathlib import Path

import pytest

from retrograde.cli.commands import sets
from retrograde.cli.failure import Failure
from retrograde.databases import database_path
from retrograde.databases.lock import Lock
from retrograde.solver.runtime.memory import MemoryLimit
from retrograde.solver.variants import VariantReport, VariantTask
from tests.helpers.command_line import retrograde

THREE = ["KRK", "KQK", "KNK", "KBK", "KPK"]
LONGEST = {"KRK": 32, "KQK": 20, "KPK": 56}
"""Plies to the mate that is furthest: Gaviota's tables, of who is mated."""


@pytest.fixture
def home(tmp_path, monkeypatch, solved):
    """A home folder with the endings of three men that are solved already, all but KQK."""
    monkeypatch.setenv("RETROGRADE_HOME", str(tmp_path))
    for name in THREE:
        if name != "KQK":
            database_path(f"chess:{name}").write_bytes(solved(f"chess:{name}").read_bytes())
    return tmp_path


def test_a_line_for_each_and_their_sum(home):
    lines = retrograde("solve", "chess:all=3").stdout.splitlines()
    assert [line.split()[0] for line in lines[:5]] == [f"chess:{name}" for name in THREE]
    for name, line in zip(THREE, lines, strict=False):
        assert ("before" in line) == (name != "KQK")
        assert (f"{LONGEST[name]} plies" if name in LONGEST else "a draw, all of it") in line
    size = sum(database_path(f"chess:{name}").stat().st_size for name in THREE)
    database_path("chess:KQK").unlink()
    result = retrograde("solve", "chess:all=3", "--json")
    assert {json.loads(line)["variant"] for line in result.stderr.splitlines()} == {"chess:KQK"}
    told = json.loads(result.stdout)
    positions = sum(facts["positions"] for facts in told["variants"])
    assert lines[-1] == f"5 of 5 solved, {positions / 1e6:.2f} M positions, {size / 1000:.1f} kB"
    assert [facts["variant"] for facts in told["variants"]] == [f"chess:{name}" for name in THREE]
    assert told["failed"] == {}


def test_what_a_worker_has_not_the_memory_for_is_found_in_another_way():
    asked = []

    class VariantQueue:
        tasks = {name: VariantTask(name, Path(f"{name}.h5"), "", False, 1) for name in ("chess:KRK", "chess:KQK")}  # noqa: RUF012

        def result(self, name, tell):
            tell(f"solving {name}")
            if name == "chess:KRK":
                raise MemoryLimit("too little")
            return VariantReport(2.0, 3, 4, 5)

    def found(name):
        asked.append(name)
        return {"variant": name}, name == "chess:KNK"

    result_of = sets.result_or_found(VariantQueue(), found, lambda game, path: {"variant": path.stem}, True)
    assert result_of("chess:KRK") == ({"variant": "chess:KRK"}, False)
    assert result_of("chess:KNK") == ({"variant": "chess:KNK"}, True)
    assert asked == ["chess:KRK", "chess:KNK"]
    facts = {"variant": "chess:KQK", "seconds": 2.0, "peak_memory_bytes": 3, "resumed": 4, "explored_before": 5}
    assert result_of("chess:KQK") == (facts, False)


@pytest.mark.thorough
def test_what_it_will_take(home):
    """Of those that are left: of KQK there is one here, and then none."""
    set_, one = (
        json.loads(retrograde("solve", f"chess:{name}", "--estimate", "--json").stdout) for name in ("all=3", "KQK")
    )
    assert set_["variant"] == "chess:all=3" and "not solved yet, 1," in set_["rests_on"][0]
    for name in ("memory", "scratch", "database"):
        assert set_[name] == one[name]
    database_path("chess:KBK").unlink()
    more = json.loads(retrograde("solve", "chess:all=3", "--estimate", "--json").stdout)
    assert more["database"] > set_["database"] and more["positions"] > set_["positions"]
    assert more["memory"] == set_["memory"] and more["seconds"] < 2 * set_["seconds"]
    retrograde("solve", "chess:all=3")
    none = json.loads(retrograde("solve", "chess:all=3", "--estimate", "--json").stdout)
    assert none["positions"] == none["memory"] == none["seconds"] == 0
    assert json.loads(retrograde("solve", "chess:all=3", "--fresh", "--estimate", "--json").stdout)["positions"] > 3e6


def test_what_cannot_be_solved_hinders_no_other(home):
    database_path("chess:KNK").write_bytes(b"nothing")
    result = retrograde("solve", "chess:all=3", status=1)
    assert "retrograde: chess:KNK: error:" in result.stderr and "choose another --database" in result.stderr
    assert "4 of 5 solved" in result.stdout
    assert "one was not solved" in result.stderr


def test_an_interruption_says_how_far_it_is(home):
    done = []

    def solve(variant):
        if done:
            raise KeyboardInterrupt
        done.append(variant)
        return {"variant": variant, "positions": 1, "bytes": 1, "seconds": 0.0, "longest": None}, False

    with pytest.raises(Failure, match="interrupted; 1 of 2 are solved, and the same command resumes the solve"):
        sets.solve_set(["a", "b"], solve)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["info", "chess:all=9"], "chess: all=9 is no set of endings"),
        (["solve", "chess:all=9"], "all=9 is no set of endings; they have 3 to 5 men"),
        (["solve", "chess:all=3", "--database", "x.h5"], "chess:all=3 is a set of 5 variants"),
        (["solve", "chess:all=3", "--metric", "score"], "goes with none of --database, --metric"),
        (
            ["info", "chess:all=4"],
            "chess:all=4 is a set of 35 variants, which only solve takes; name one, as in chess:KRK",
        ),
    ],
)
def test_what_goes_with_no_set(home, arguments, said):
    result = retrograde(*arguments, status=2 if "--" in " ".join(arguments) else 1)
    assert said in " ".join(result.stderr.split())


def test_what_another_process_solves_is_waited_for_when_all_others_are_done(home, monkeypatch):
    monkeypatch.setattr(Lock.__init__, "__defaults__", (0.05,))
    database_path("chess:KBK").unlink()
    held = Lock(database_path("chess:KBK"))
    held.__enter__()

    def let_go(text, **_):
        if "chess:KPK" in text:  # the last of the others
            held.__exit__(None, None, None)

    monkeypatch.setattr(sets.click, "echo", beside(sets.click.echo, let_go))
    result = retrograde("solve", "chess:all=3")
    assert "retrograde: another process solves chess:KBK; waiting for it after the others\n" in result.stderr
    lines = [line.split()[0] for line in result.stdout.splitlines() if line]
    assert lines == ["chess:KRK", "chess:KQK", "chess:KNK", "chess:KPK", "chess:KBK", "5"]
    assert result.stdout.splitlines()[-1].startswith("5 of 5 solved")


def beside(function, other):
    """Return a function that calls another one first."""

    def both(*args, **options):
        other(*args, **options)
        return function(*args, **options)

    return both
