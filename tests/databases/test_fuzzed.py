"""Files changed at random: what a killed solve leaves, a book, the record of trusted rules. The next command gives the
same bytes, an answer, or one line; never other bytes. And kills of commands that solve nothing.
"""

import json
import os
import shutil
import subprocess
from contextlib import suppress
from random import Random

import numpy as np
import pytest

from retrograde.databases.book import open_book
from retrograde.games import RetrogradeError, VariantError
from retrograde.games.catalog import find_game, load_game, trust
from retrograde.games.identity.trusted import record_path
from retrograde.solver.play.oracles.book import BookOptions, make_book
from retrograde.solver.runtime import scratch as scratch_module
from retrograde.solver.runtime.journal import Journal
from retrograde.solver.runtime.scratch import Scratch
from tests.helpers.command_line import COMMAND, HEAP, environment
from tests.helpers.disk import KINDS
from tests.helpers.forge import Forged, mutate
from tests.helpers.marks import thorough, thorough_but
from tests.helpers.powercut import PowerCut, databases_in, spread

pytestmark = pytest.mark.long


def change(content, dice):
    """Change some bytes of a file, cut it off, or put something into it."""
    at = dice.randrange(len(content) + 1)
    few = dice.randbytes(dice.choice([1, 3, 40]))
    return dice.choice([
        content[:at] + few + content[at + len(few) :],
        content[:at],
        content[:at] + few + content[at:],
        content[:at] + bytes(len(content) - at),
        content[:at] + content[at // 2 :],
        few,
    ])  # fmt: skip


def fuzz(kind, folder, count):
    """Go on so many times from what a solve had left at some moment, with one file or two changed."""
    cut = PowerCut(KINDS[kind], folder)
    moments = [number for number, one in enumerate(cut.recorder.moments) if len(one.contents) > 1]
    changed = 0
    for number in spread(moments, count):
        dice = Random(f"{kind} {number}")
        path = cut.cut(cut.recorder.moments[number], number, "nothing")
        files = sorted(
            file for file in path.parent.rglob("*") if file.is_file() and file.stat().st_size and file != path
        )
        for file in dice.sample(files, min(len(files), dice.choice([1, 1, 2]))):
            if file.suffix != ".h5":
                file.write_bytes(change(file.read_bytes(), dice))
                changed += 1
        path.unlink(missing_ok=True)
        try:
            cut.kind.solve(path)
        except RetrogradeError as error:
            said = str(error)
        else:
            said = ""
        assert said.isprintable()
        assert not said or "--fresh" in said, f"behind {number}: {said}"
        assert said or databases_in(path.parent) == cut.whole, f"behind {number}"
        shutil.rmtree(path.parent.parent)
    return changed


@pytest.mark.parametrize(
    "kind",
    thorough_but(sorted(KINDS.keys() - {"interpreted"}), "listed", "bounds"),
)
def test_journals_and_scratch_files_that_are_changed_do_no_harm(kind, tmp_path):
    assert fuzz(kind, tmp_path, 5) > 1


@pytest.mark.slow
@pytest.mark.parametrize("kind", sorted(KINDS.keys() - {"interpreted"}))
def test_many_journals_and_scratch_files_that_are_changed_do_no_harm(kind, tmp_path):
    assert fuzz(kind, tmp_path, 1000) > 10


def test_a_torn_entry_of_a_journal_is_cut_off_and_later_ones_are_read(tmp_path):
    path = tmp_path / "journal"
    with Journal(path, "a solve") as journal:
        journal.append("one", np.arange(5))
        whole = path.stat().st_size
        journal.append("two", np.arange(1000))
    path.write_bytes(path.read_bytes()[:-1])  # longer than the entry that comes in its place
    with Journal(path, "a solve") as journal:
        journal.append("three", np.arange(7))
        assert path.stat().st_size < whole + 1000
    with Journal(path, "a solve") as journal:
        journal.append("four", np.arange(2))
        assert {name: len(journal.log(name, 0).resumed) for name in ("one", "two", "three")} == {
            "one": 1,
            "two": 0,
            "three": 1,
        }
    with Journal(path, "a solve") as journal, suppress(KeyError):
        assert [journal.found[name].entry(0)[0].tolist() for name in ("three", "four")] == [[*range(7)], [0, 1]]
        assert sorted(journal.found) == ["four", "one", "three"]


def test_the_cache_of_scratch_counts_what_it_holds(tmp_path):
    """Frames are read in any order, read again, dropped; never is more in memory than may be, and all is counted."""
    dice, scratch = Random(3), Scratch(tmp_path, 1000)
    frames = {
        scratch.write(f"name{k % 5}", dice.randbytes(size)): size
        for k, size in enumerate([90, 200, 330, 900, 1100] * 8)
    }
    most = 0
    for step in range(400):
        frame = dice.choice(list(frames))
        assert len(scratch.read(frame, once=step % 7 == 0)) == frames[frame]
        assert scratch.in_cache == sum(map(len, scratch.cache.values())) <= scratch.cached
        most = max(most, scratch.in_cache)
        if step % 50 == 49:
            name = dice.choice(["name0", "name1", "name2"])
            scratch.drop(name)
            frames = {frame: size for frame, size in frames.items() if frame.name != name} or frames
            assert not any(frame.name == name for frame in scratch.cache)
        if step == 300:
            scratch.cache_at_most(500)
    assert most > 800
    scratch.close()
    assert scratch.in_cache == 0


def test_a_frame_that_two_threads_read_at_once_counts_once(tmp_path, monkeypatch):
    scratch, unpack = Scratch(tmp_path, 1000), scratch_module.unpack
    frame = scratch.write("name", bytes(300))

    def unpack_late(*args):
        monkeypatch.setattr(scratch_module, "unpack", unpack)
        scratch.read(frame)  # by another thread meanwhile
        return unpack(*args)

    monkeypatch.setattr(scratch_module, "unpack", unpack_late)
    scratch.read(frame)
    assert scratch.in_cache == 300


# Books, and the record of trusted rules


@pytest.mark.parametrize("books", [20, thorough(150)])
def test_forged_books_end_in_an_answer_or_one_line(books, tmp_path):
    game = load_game("connect4:4,3")
    original = Forged.read(make_book(game, BookOptions(plies=3, workers=2), tmp_path / "game.book.h5"))
    refused = 0
    for number in range(books):
        dice, forged = Random(number), original.copy()
        for _ in range(dice.choice([1, 1, 2, 4])):
            if forged.parts:
                mutate(forged, dice)
        with suppress(ValueError, TypeError, OSError, KeyError):  # HDF5 itself does not write that
            forged.write(tmp_path / "forged.h5")
        try:
            with open_book(tmp_path / "forged.h5", game) as book:
                book.file.check()
                for position in [row.example for row in book.file.legend] + [dice.randrange(1 << 62), game.start]:
                    book.get(position)
        except RetrogradeError as error:
            said = str(error)
            refused += 1
        else:
            said = ""
        assert said.isprintable()
    assert refused > books // 3


def test_a_record_of_trusted_rules_that_is_changed_leads_to_no_other_code(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "configuration"))
    monkeypatch.setenv("APPDATA", str(tmp_path / "configuration"))
    rules, evil, mark = tmp_path / "heap.py", tmp_path / "evil.py", tmp_path / "mark"
    rules.write_text(HEAP)
    evil.write_text(f"open({str(mark)!r}, 'w')\n{HEAP}")
    trust(load_game(str(rules)))
    whole = record_path().read_bytes()
    refused = 0
    for number in range(120):
        dice = Random(number)
        text = change(whole, dice)
        if number % 3 == 0:  # it names another file, by a digest that is not its
            text = json.dumps(json.loads(whole)).replace("heap.py", "evil.py").encode()
            text = text if number % 2 else text.replace(b'"file": ', b'"file": [')
        record_path().write_bytes(text)
        try:
            find_game("heap:size=7", lambda cls: True)
        except VariantError as error:
            assert str(error).isprintable()  # noqa: PT017
            refused += 1
    assert refused > 40
    assert not mark.exists()
    record_path().write_bytes(whole)  # as it was, it is taken
    find_game("heap:size=7", lambda cls: True)


# Kills


@pytest.mark.thorough
@pytest.mark.skipif(os.name != "posix", reason="there is no SIGKILL")
@pytest.mark.parametrize("name", ["all.csv", "all.npz"])
def test_an_export_that_is_killed_leaves_a_whole_file_or_none(name, solved, tmp_path):
    path = solved("connect4:4,4")
    before = path.read_bytes()
    command = [*COMMAND, "export", str(path), "-o", name]
    used = {"env": environment(tmp_path / "home"), "cwd": tmp_path}
    subprocess.run(command, check=True, capture_output=True, **used)
    whole = (tmp_path / name).read_bytes()
    (tmp_path / name).unlink()
    dice, killed = Random(name), 0
    for _ in range(5):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, **used)
        with suppress(subprocess.TimeoutExpired):
            process.wait(dice.uniform(0.3, 2.5))
        process.kill()
        killed += process.wait() < 0
        assert not (tmp_path / name).exists() or (tmp_path / name).read_bytes() == whole
        (tmp_path / name).unlink(missing_ok=True)
    assert killed
    subprocess.run(command, check=True, capture_output=True, **used)
    assert {file.name for file in tmp_path.iterdir()} - {"home"} == {name}
    assert path.read_bytes() == before


@pytest.mark.thorough
@pytest.mark.skipif(os.name != "posix", reason="there is no SIGKILL")
def test_a_verification_that_is_killed_leaves_nothing(solved, tmp_path):
    path = solved("connect4:4,4")
    before, beside = path.read_bytes(), sorted(path.parent.iterdir())
    for seconds in (0.5, 1.0, 1.5, 2.0):
        process = subprocess.Popen(
            [*COMMAND, "verify", str(path)], env=environment(tmp_path), cwd=tmp_path, stdout=subprocess.DEVNULL
        )
        with suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
        process.kill()
        process.wait()
        assert (path.read_bytes(), sorted(path.parent.iterdir())) == (before, beside)
        assert list(tmp_path.iterdir()) == []
