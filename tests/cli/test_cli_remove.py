"""`retrograde remove`, and what `list` tells of solves that are not finished: nothing is deleted but what is meant."""

import json
import os
import re
from pathlib import Path
from zlib import crc32

import pytest

from retrograde.cli.commands import prove
from retrograde.cli.commands.unfinished import UnfinishedSolve, files_of, read_progress
from retrograde.databases import database_path
from retrograde.databases.location import book_path, certificate_path, estimates_path
from retrograde.databases.lock import Lock
from retrograde.games import TIE
from retrograde.games.catalog import load_game, variant
from retrograde.solver.engine import identity, path_by_metric, solve
from retrograde.solver.metrics.models.names import model_named
from retrograde.solver.options import SolveOptions
from retrograde.solver.play.oracles.book import BookOptions, make_book
from retrograde.solver.play.oracles.estimating import EstimatesOptions, make_estimates
from retrograde.solver.runtime import sources
from retrograde.solver.runtime.journal import MAGIC, PREFIX, Journal, Log
from retrograde.solver.runtime.progress import Phase
from retrograde.solver.runtime.sizes import Sizes
from retrograde.solver.search.certificates.prover import ProofGoal
from tests.helpers.command_line import HEAP, retrograde

pytestmark = pytest.mark.long


class Stopped(Exception):
    """A solve has come as far as it was to come."""


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A folder for databases with a file and a folder of the person's own in it."""
    folder = tmp_path / "home"
    folder.mkdir()
    for name in ("notes.txt", "tictactoe.h5.txt", "tictactoe.h5.journal.old", "connect4.h5", "my tictactoe.h5.journal"):
        (folder / name).write_text("mine")
    (folder / "connect4.h5.scratch").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RETROGRADE_HOME", str(folder))
    monkeypatch.setattr(Phase, "often", 0)
    return folder


def names(home):
    return {path.name for path in home.iterdir()}


def interrupt(text, phase, most, way="compiled", **sizes):
    """Solve a variant until so many positions of a phase are done; return where its database would have been."""

    def stop(progress):
        if (progress.phase, progress.done >= most) == (phase, True):
            raise Stopped

    game = load_game(text)
    path = database_path(variant(game))
    with pytest.raises(Stopped):
        solve(game, path, method=way, listener=stop, workers=2, sizes=Sizes(journal_seconds=0, **sizes))
    return path


INTERRUPTED = {
    "exploring lists": (("connect4:4,3", "exploring", 4000), r"exploring: [1-9],\d{3} records"),
    "solving lists": (("connect4:3,4", "solving", 1500), r"solving: \d{3} of 3,054 records"),
    "exploring a stream": (("connect4:4,4", "exploring", 9000, "streamed", 1000), r"exploring: \d+ waves"),
    "solving a stream": (("connect4:5,3", "solving", 20000, "streamed", 1000), r"solving: [1-9]\d? of 16 waves"),
    "solving slots": (("quixo:4", "solving", 1_500_000, "compiled"), r"solving: [1-9]\d{0,2}(,\d{3})+ slots"),
}


@pytest.mark.thorough
@pytest.mark.parametrize("kind", INTERRUPTED)
def test_what_is_left_is_told_and_removed(home, kind):
    (text, phase, most, *way), says = INTERRUPTED[kind]
    before = names(home)
    path = interrupt(text, phase, most, *way[:1], **({"in_memory": way[1]} if way[1:] else {}))
    left = names(home) - before
    # Streams keep lists in scratch files; tiers of slots have cycles, and so checkpoints.
    assert left == {f"{path.name}.journal", *([f"{path.name}.scratch"] if way else [])}
    name = variant(load_game(text))
    shown = retrograde("list").stdout
    (line,) = (line for line in shown.splitlines() if line.startswith(name))
    assert "\nto go on:\n" in shown and f"  retrograde solve {name}\n" in shown
    assert "\nto remove:\n" in shown and f"  retrograde remove {name} --unfinished\n" in shown
    (facts,) = (one for one in json.loads(retrograde("list", "--json").stdout) if one.get("variant") == name)
    told = facts["interrupted"]
    assert re.fullmatch(says, told["says"]) and line.endswith(told["says"])
    assert (told["phase"], told["resumable"], told["solving"]) == (phase, True, False)
    assert {Path(one).name for one in told["files"]} == left
    files = [file for one in files_of(path) for file in (one, *one.rglob("*")) if file.is_file()]
    assert facts["bytes"] == sum(file.stat().st_size for file in files)
    asked = retrograde("remove", text, input="y\n").stdout
    assert all(one in asked for one in left) and "remove th" in asked
    assert names(home) == before


def test_a_database_is_removed_and_nothing_else(home, solved):
    (home / "tictactoe.h5").write_bytes(solved("tictactoe").read_bytes())
    (home / "tictactoe.h5.77-c0ffee01.partial").write_text("half")
    (home / "mutorere.h5").write_bytes(solved("mutorere").read_bytes())
    before = names(home)
    for answer in ("n\n", "\n", "no\n", "yep\n"):
        assert retrograde("remove", "tictactoe", input=answer).stdout.endswith("nothing was removed\n")
    assert "nobody has answered" in retrograde("remove", "tictactoe", input="", status=1).stderr
    assert names(home) == before
    shown = retrograde("remove", "tictactoe", input="y\n").stdout
    assert shown.startswith(f"in {home}:\n  tictactoe.h5 ") and "4.76 kB  the database\n" in shown
    assert "\nremove these (4.76 kB)? [y/N] 4.76 kB removed\n" in shown
    assert before - names(home) == {"tictactoe.h5", "tictactoe.h5.77-c0ffee01.partial"}
    facts = json.loads(retrograde("remove", "mutorere", "--yes", "--json").stdout)
    assert facts == {"removed": [{"path": str(home / "mutorere.h5"), "bytes": 4693}], "bytes": 4693}
    complaint = retrograde("remove", "mutorere", status=1).stderr
    assert complaint == (
        "retrograde: error: there is neither a database nor an interrupted solve of mutorere; "
        "see what there is with: retrograde list\n"
    )


def test_only_what_is_unfinished_is_removed_on_request(home, solved):
    (home / "tictactoe.h5").write_bytes(solved("tictactoe").read_bytes())
    assert (
        "there is no interrupted solve of tictactoe"
        in retrograde("remove", "tictactoe", "--unfinished", status=1).stderr
    )
    (home / "tictactoe.h5.journal").touch()
    told = [one for one in json.loads(retrograde("list", "--json").stdout) if "interrupted" in one]
    assert [one["interrupted"]["says"] for one in told if one["path"].endswith("/tictactoe.h5")] == [
        "of no use: the database is there"
    ]
    retrograde("remove", "tictactoe", "--unfinished", "--yes")
    assert (home / "tictactoe.h5").exists() and not (home / "tictactoe.h5.journal").exists()


def begin(path, identity):
    """Leave a journal as an interrupted command does, with an entry of no kind."""
    with Journal(path.with_name(path.name + ".journal"), identity) as journal:
        journal.append("entry")


def unfinished(path):
    """Return what `list --json` says of the unfinished work at a path."""
    told = json.loads(retrograde("list", "--json").stdout)
    (facts,) = (one for one in told if one["path"] == str(path) and "interrupted" in one)
    return facts


BY_METRIC = {
    ("mnk:4,4", "score"): ("mnk:n=4@score", "mnk:n=4 --metric score"),
    ("mnk:4,4", "drawlevel"): ("mnk:n=4@drawlevel", "mnk:n=4 --metric drawlevel"),
    ("kalahboards:6,12", "score"): ("kalahboards:stones=12", "kalahboards:stones=12"),
    ("grundy:5", "remoteness"): ("grundy:n=5@remoteness", "grundy:n=5 --metric remoteness"),
    ("tictactoe", "remoteness"): ("tictactoe", "tictactoe"),
    ("tictactoe", "expectation"): ("tictactoe@expectation-against-random", "tictactoe --against random"),
}


@pytest.mark.parametrize(("game", "metric"), BY_METRIC)
def test_a_solve_by_another_metric_is_listed_and_removed_by_its_name(home, game, metric):
    rules, (name, options) = load_game(game), BY_METRIC[game, metric]
    model = model_named("random", rules, "--against") if metric == "expectation" else None
    path = path_by_metric(rules, metric, model)
    begin(path, identity(rules, SolveOptions(metric=metric, against=model)))
    facts = unfinished(path)
    assert (facts["variant"], facts["name"], facts["interrupted"]["resumable"]) == (variant(rules), name, True)
    assert facts["interrupted"]["resume"] == f"retrograde solve {options}"
    assert re.search(rf"^{name} +\d+ bytes  just begun$", retrograde("list").stdout, re.MULTILINE)
    _, *command = facts["interrupted"]["remove"].split()
    assert command == ["remove", name, "--unfinished"]
    retrograde(*command, "--yes")
    assert files_of(path) == []


def stop_proof(path, *, tuples=False):
    goal = ProofGoal(TIE, True, 5, None, 1 << 20)
    begin(path, prove.identity(load_game("tictactoe"), (3, 4) if tuples else 7, goal))


def stop_book(path):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("retrograde.solver.play.oracles.book.BookMaker.pass_up", raise_interrupt)
        with pytest.raises(KeyboardInterrupt):
            make_book(load_game("tictactoe"), BookOptions(2, distances=False, workers=1), path)


def stop_estimates(path):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("retrograde.solver.play.oracles.estimating.PAUSE", 0)
        patch.setattr("retrograde.solver.play.oracles.estimating.EstimatesMaker.write", raise_interrupt)
        with pytest.raises(KeyboardInterrupt):
            make_estimates(load_game("tictactoe"), EstimatesOptions(2, 2, workers=1), path)


def raise_interrupt(*_):
    raise KeyboardInterrupt


NOT_SOLVES = {
    "a proof": (stop_proof, certificate_path, "prove tictactoe --value tie --at-least --leaves 5"),
    "a book": (stop_book, book_path, "book tictactoe --plies 2 --value-only"),
    "a book of estimates": (stop_estimates, estimates_path, "book tictactoe --plies N --depth N"),
}


@pytest.mark.parametrize("kind", NOT_SOLVES)
@pytest.mark.parametrize("made_before", [False, True])
def test_an_unfinished_proof_or_book_is_removed_and_the_database_stays(home, solved, kind, made_before):
    stop, path_of, command = NOT_SOLVES[kind]
    path = path_of("tictactoe")
    (home / "tictactoe.h5").write_bytes(solved("tictactoe").read_bytes())
    if made_before:
        path.write_bytes(b"the certificate or book of an earlier run")
    before = names(home)
    stop(path)
    facts = unfinished(path)
    assert facts["variant"] == "tictactoe" and facts["interrupted"]["resumable"]
    assert facts["interrupted"]["resume"] == f"retrograde {command}"
    assert facts["interrupted"]["remove"] == f"retrograde remove {path} --unfinished"
    shown = retrograde("list").stdout
    assert f"  retrograde {command}\n" in shown and f"  retrograde remove {path} --unfinished\n" in shown
    retrograde("remove", path, "--unfinished", "--yes")
    assert names(home) == before


def test_a_proof_of_a_position_of_several_words_is_named(home):
    path = certificate_path("tictactoe", (3, 4))
    stop_proof(path, tuples=True)
    facts = unfinished(path)
    assert (facts["variant"], facts["interrupted"]["resumable"]) == ("tictactoe", True)
    command = "retrograde prove tictactoe POSITION --value tie --at-least --leaves 5"
    assert facts["interrupted"]["resume"] == command


def test_files_with_names_of_their_own_are_named_in_the_commands(home):
    begin(home / "my own.h5", identity(load_game("tictactoe"), SolveOptions(metric="score")))
    facts = unfinished(home / "my own.h5")["interrupted"]
    file = f"'{home / 'my own.h5'}'"
    assert facts["resume"] == f"retrograde solve tictactoe --metric score --database {file}"
    assert facts["remove"] == f"retrograde remove {file} --unfinished"


def test_a_journal_of_a_fresh_solve_is_of_use_beside_its_database(home, solved):
    path = home / "tictactoe.h5"
    path.write_bytes(solved("tictactoe").read_bytes())
    os.utime(path, (0, 0))
    begin(path, identity(load_game("tictactoe"), SolveOptions(metric="remoteness")))
    facts = unfinished(path)["interrupted"]
    assert facts["says"] == "just begun; the database is there: --fresh goes on"
    assert (facts["resumable"], facts["resume"]) == (True, "retrograde solve tictactoe --fresh")
    assert facts["remove"] == "retrograde remove tictactoe --unfinished"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sources, "journal_digest", lambda: "0" * 32)
        facts = unfinished(path)["interrupted"]
    assert (facts["says"], facts["resume"]) == ("of no use: the database is there", None)
    os.utime(path)  # the solve that has left the journal has written the database
    facts = unfinished(path)["interrupted"]
    assert (facts["says"], facts["resumable"], facts["resume"]) == ("of no use: the database is there", False, None)


def test_the_total_is_of_all_waves_though_the_last_were_not_due(home, monkeypatch):
    """The journal is written once during exploration, then not before records are solved."""
    due = iter([False, True])
    monkeypatch.setattr(Log, "is_due", lambda log: log.name.startswith("scores") or next(due, False))
    path = interrupt("connect4:3,4", "solving", 1500)
    done = read_progress(path.with_name(path.name + ".journal"))
    assert (done.phase, done.total) == ("solving", 3054) and 0 < done.solved < 3054


def test_scores_of_more_bits_are_counted_anew():
    done = UnfinishedSolve()
    done.note("not by 'setwise'", [40], [])
    for name, count in (("first waves", 900), ("not by 'listed'", 0), ("waves", 100)):
        done.note(name, [1, 1, count, 0, 90], [])
    for name, count in (("scores16", 60), ("scores16", 30), ("scores32", 20), ("scores32", 25)):
        done.note(name, [1, count, 1], [])
    assert str(done) == "solving: 45 of 100 records"


def test_nothing_is_removed_while_it_is_being_solved(home, solved):
    path = home / "tictactoe.h5"
    path.write_bytes(solved("tictactoe").read_bytes())
    (home / "tictactoe.h5.journal").touch()
    with Lock(path):
        result = retrograde("remove", "tictactoe", "--yes", status=1)
        assert "is being written by another process; wait for it, or stop it" in result.stderr
        told = [one for one in json.loads(retrograde("list", "--json").stdout) if one["path"] == str(path)]
        assert told[-1]["interrupted"]["solving"]
    assert path.exists() and (home / "tictactoe.h5.journal").exists()
    assert not (home / "tictactoe.h5.lock").exists()


OTHERS = {
    ("connect4",): "is no database of retrograde",
    ("home/connect4.h5",): "is no database of retrograde",
    ("tictactoe", "--database", "home/mutorere.h5"): "is of mutorere, not of tictactoe",
    ("home/notes.h5",): "there is neither a database nor an interrupted solve of home/notes.h5",
    ("home/my tictactoe.h5",): "my tictactoe.h5.journal' is no journal of retrograde",
    ("home/folder.h5",): "folder.h5' is not of retrograde",
    ("nonsense",): "no game 'nonsense'",
    ("home/tictactoe.h5", "--database", "home/mutorere.h5"): "give a FILE or --database, not both",
}


@pytest.mark.parametrize("args", OTHERS, ids=lambda args: args[0])
def test_what_is_not_ours_is_not_touched(home, solved, args):
    (home / "mutorere.h5").write_bytes(solved("mutorere").read_bytes())
    (home / "folder.h5").mkdir()
    before = names(home)
    status = 2 if "not both" in OTHERS[args] else 1
    result = retrograde("remove", *args, "--yes", status=status)
    assert OTHERS[args] in result.stderr and result.stderr.count("\n") == 1
    assert names(home) == before


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_of_a_link_the_link_is_removed(home, solved, tmp_path):
    target = tmp_path / "kept.h5"
    target.write_bytes(solved("tictactoe").read_bytes())
    (home / "tictactoe.h5").symlink_to(target)
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "mine.txt").touch()
    (home / "tictactoe.h5.scratch").symlink_to(folder)
    retrograde("remove", "tictactoe", "--yes")
    assert not files_of(home / "tictactoe.h5")
    assert target.exists() and (folder / "mine.txt").exists()


def test_of_a_damaged_database_the_remedy_is_named_once(home, solved):
    path = home / "tictactoe.h5"
    path.write_bytes(solved("tictactoe").read_bytes()[:3000])
    said = retrograde("solve", "tictactoe", status=1).stderr
    assert "is damaged (" in said and said.endswith("); solve it again with --fresh\n") and said.count("again") == 1
    said = retrograde("info", "tictactoe", status=1).stderr
    assert "is damaged (" in said and said.endswith("); copy it again, or solve again with --fresh\n")
    book_path("tictactoe").write_bytes(path.read_bytes())
    said = retrograde("book", "tictactoe", "--plies", "1", status=1).stderr
    assert said.endswith("); choose another --database, or make it again with --fresh\n") and said.count("again") == 1


def test_of_a_book_by_other_rules_the_remedy_is_named_once(home):
    Path("heap.py").write_text(HEAP)
    command = "book", "./heap.py:size=6", "--plies", "1", "--value-only", "--workers", "1"
    retrograde(*command)
    Path("heap.py").write_text(HEAP.replace("return LOSE", "return WIN"))
    said = retrograde(*command, status=1).stderr
    assert "was made with other rules of heap:size=6; choose another --database, or make it again with" in said
    assert said.count("again") == 1


def test_a_damaged_database_is_removed(home, solved):
    content = bytearray(solved("tictactoe").read_bytes())
    content[1000] ^= 1
    (home / "tictactoe.h5").write_bytes(content)
    retrograde("remove", "tictactoe", "--yes")
    assert not (home / "tictactoe.h5").exists()


def test_damaged_estimates_are_removed_and_files_of_other_programs_are_not(home):
    retrograde("book", "tictactoe", "--plies", "2", "--depth", "2")
    (path,) = home.glob("*.estimates.json")
    path.write_bytes(path.read_bytes()[:-100])
    retrograde("remove", path, "--yes")
    assert not path.exists()
    path.write_text('{"estimates": {}}')
    assert "no book of estimates" in retrograde("remove", path, "--yes", status=1).stderr
    assert path.exists()


def test_a_game_whose_rules_are_gone_is_removed_by_its_name(home):
    Path("heap.py").write_text(HEAP)
    retrograde("solve", "./heap.py:size=6")
    Path("heap.py").unlink()
    retrograde("remove", "heap:size=6", "--yes")
    assert not (home / "heap,size=6.h5").exists()


def test_a_journal_of_another_version_begins_anew(home):
    path = interrupt("connect4:3,4", "exploring", 100)
    journal = path.with_name(path.name + ".journal")
    assert read_progress(journal).is_current
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sources, "journal_digest", lambda: "0" * 32)
        assert "  of another version: will start again\n" in retrograde("list").stdout
    journal.write_bytes(journal.read_bytes()[:-5])  # as a kill leaves it
    assert read_progress(journal).phase == "exploring"
    journal.write_bytes(os.urandom(1000))
    assert read_progress(journal).variant == ""


BAD_HEADERS = [
    b"[]", b"7", b'["x"]', b'["x y z", [["<i8", -9, 0]]]', b'["x y z", [["O", 1, 0]]]', b'["x y z", 3]', b"[" * 9000,
    b'["x y z", [["<i8", "many", 0]]]', b'["x", []]', b'[7, []]',
]  # fmt: skip


@pytest.mark.parametrize("header", BAD_HEADERS, ids=range(len(BAD_HEADERS)))
@pytest.mark.parametrize("after", [False, True])
def test_a_journal_that_others_have_made_up_is_of_no_use_and_no_harm(home, header, after):
    entry = b"".join([PREFIX.pack(MAGIC, len(header), crc32(header)), header, b"12345678"])
    good = b'["tictactoe a b", []]'
    before = PREFIX.pack(MAGIC, len(good), crc32(good)) + good if after else b""
    (home / "dodgem.h5.journal").write_bytes(before + entry)
    assert "dodgem.h5 " in retrograde("list").stdout or after
    (told,) = (one for one in json.loads(retrograde("list", "--json").stdout) if one["path"].endswith("dodgem.h5"))
    assert (told["interrupted"]["resumable"], told["interrupted"]["done"]) == (False, 0)
    assert "dodgem" in retrograde("remove", "home/dodgem.h5", input="n\n").stdout


def test_completion_offers_what_there_is(home, solved):
    from click.shell_completion import ShellComplete

    from retrograde.cli import main

    (home / "mutorere.h5").write_bytes(solved("mutorere").read_bytes())
    interrupt("connect4:3,4", "exploring", 100)
    complete = ShellComplete(main, {}, "retrograde", "_RETROGRADE_COMPLETE")
    words = [item.value for item in complete.get_completions(["remove"], "")]
    assert {"mutorere", "connect4:width=3,height=4"} <= set(words) and "dodgem" not in words
    assert [item.value for item in complete.get_completions(["remove"], "mut")] == ["mutorere"]
    assert [item.value for item in complete.get_completions([], "rem")] == ["remove"]
