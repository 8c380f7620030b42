"""Files that others have made: they name no code, take no more memory than they have bytes for, and end in an answer or
in one clear line."""

import json
import os
import shutil
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from random import Random

import h5py
import psutil
import pytest

from retrograde.databases import (
    DamagedDatabase,
    DatabaseFile,
    NotADatabase,
    VersionTooOld,
    list_databases,
    open_database,
)
from retrograde.games import RetrogradeError, VariantError
from retrograde.games.catalog import find_game, load_game, named_game, trust
from retrograde.games.identity.trusted import read_record, record_path
from retrograde.solver.engine import solve
from retrograde.solver.methods.numbered.compact.write import make_compact
from retrograde.solver.play.analysis import summary
from retrograde.solver.play.solution import Solution
from retrograde.solver.runtime.sizes import Sizes
from retrograde.solver.verification.verify import verify
from tests.helpers.command_line import HEAP, LATE, environment, process, retrograde
from tests.helpers.forge import Forged, mutate

MALICE = """
from pathlib import Path
Path({mark!r}).write_text("this code was run")
{heap}
"""


@pytest.fixture(autouse=True)
def own(tmp_path, monkeypatch):
    """Give each test a record of trusted rules and a home of its own."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "configuration"))
    monkeypatch.setenv("RETROGRADE_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def kinds(solved, tmp_path_factory):
    """One small database of each kind: records, steps, slots, and slots that are kept in a compact one."""
    folder = tmp_path_factory.mktemp("kinds")
    paths = {"records": solved("tictactoe"), "slots": solved("chess:KQK")}
    paths["steps"] = solve(load_game("connect4:4,3"), folder / "steps.h5", method="streamed", sizes=Sizes(in_memory=1))
    with open_database(paths["slots"]) as database:
        paths["kept"] = make_compact(database, folder / "compact.h5")
    for kind, path in paths.items():
        assert kind in Forged.read(path).parts
    return paths


# Code


def malicious(folder, mark, name="evil"):
    """Write a rule module that leaves a mark when it is run, and a database that names it with the right digest."""
    rules = folder / f"{name}.py"
    rules.parent.mkdir(parents=True, exist_ok=True)
    rules.write_text(HEAP)
    path = solve(load_game(str(rules)), folder / f"{name}.h5")
    forged = Forged.read(path)
    rules.write_text(MALICE.format(mark=str(mark), heap=HEAP))
    record_path().unlink(missing_ok=True)
    return forged, path


@pytest.mark.thorough
@pytest.mark.parametrize("variant", ["evil", "{folder}/evil", "{folder}/evil.py", "../other/evil", "connect4:evil.py"])
@pytest.mark.parametrize("command", ["info", "query", "verify", "play", "match", "plot"])
@pytest.mark.long
def test_a_file_never_leads_to_code(variant, command, tmp_path, monkeypatch):
    mark = tmp_path / "mark"
    folder = tmp_path / "other"
    forged, path = malicious(folder, mark)
    forged.attributes["variant"] = variant.format(folder=folder)
    forged.attributes["game"] = forged.attributes["variant"].partition(":")[0]
    forged.write(path)
    shutil.copy(folder / "evil.py", "connect4:evil.py")  # a name with a colon may be a folder's as well
    monkeypatch.chdir(folder)
    players = ["random", "random"] if command == "match" else []
    result = retrograde(command, path, *players, status=0 if command in ("info", "plot") else 1, input="")
    assert not mark.exists()
    assert "this is a fault" not in result.output
    with pytest.raises(RetrogradeError):
        open_database(path)
    assert not mark.exists()


@pytest.mark.long
def test_a_variant_is_no_formula(tmp_path):
    """Matplotlib would set what stands between two dollars, and fail where it cannot."""
    forged, path = malicious(tmp_path, tmp_path / "mark")
    forged.attributes["variant"] = "evil:$\\frac$"
    forged.write(path)
    retrograde("plot", path)
    assert Path("evil.png").stat().st_size > 1000


def test_a_list_needs_no_rules(tmp_path):
    mark = tmp_path / "mark"
    malicious(tmp_path / "home", mark)
    assert "evil" in retrograde("list").stdout
    assert not mark.exists()


def test_what_was_solved_here_is_found_again_as_long_as_it_is_the_same(tmp_path):
    rules = tmp_path / "rules" / "heap.py"
    rules.parent.mkdir()
    rules.write_text(HEAP.replace("min(3, heap)", "min(most(), heap)") + "\nfrom neighbour import most\n")
    (rules.parent / "neighbour.py").write_text("def most():\n    return 3\n")
    path = solve(load_game(f"{rules}:12"))
    assert [Path(entry["file"]) for entry in read_record()["heap"]] == [rules]
    with open_database(path) as db:
        assert len(db) == 13
    (rules.parent / "neighbour.py").write_text("def most():\n    return 2\n")
    with pytest.raises(VariantError, match=r"not at hand; name their file and the database, as in \./heap\.py"):
        open_database(path)


@pytest.mark.thorough
def test_what_was_solved_here_imports_nothing_that_was_put_beside_it_since(tmp_path):
    """`colorsys` is of Python's own library, and nobody else imports it."""
    rules, mark = tmp_path / "rules" / "heap.py", tmp_path / "mark"
    for neighbour in ("one.py", "two/__init__.py", "three/inner.py"):
        (rules.parent / neighbour).parent.mkdir(parents=True, exist_ok=True)
        (rules.parent / neighbour).write_text("def most():\n    return 3\n")
    imports = "\nimport colorsys, one, two, three.inner\n"
    rules.write_text(HEAP.replace("min(3, heap)", "min(one.most(), two.most(), three.inner.most(), heap)") + imports)
    used = environment(tmp_path / "home")
    assert process("solve", rules, env=used).returncode == 0
    (rules.parent / "colorsys.py").write_text(f"open({str(mark)!r}, 'w')")
    result = process("query", "heap", "9", env=used)
    assert "wins in 5 plies" in result.stdout, result.stderr
    assert not mark.exists()
    process("query", f"{rules}:size=10", "9", env=used)
    assert mark.exists()  # a file that the person names is run as it stands


def test_a_record_that_others_could_have_written_does_not_count(tmp_path):
    rules = tmp_path / "heap.py"
    rules.write_text(HEAP)
    game = load_game(str(rules))
    trust(game)
    assert find_game("heap:size=7", lambda cls: True).size == 7
    if os.name == "posix":
        record_path().chmod(0o666)
        with pytest.raises(VariantError):
            find_game("heap:size=7", lambda cls: True)
        record_path().chmod(0o600)
    for nonsense in ("", "[]", '{"heap": 3}', '{"heap": [{"file": "x"}]}', "[" * 99_999, '{"heap": [{"digests": {}}]}'):
        record_path().write_text(nonsense)
        with pytest.raises(VariantError):
            find_game("heap:size=7", lambda cls: True)
        trust(game)
        assert len(read_record()["heap"]) == 1


@pytest.mark.parametrize("text", ["./heap.py", "heap.py:3", "connect4:x.py", "../x", "/etc/passwd", "", "a" * 9999])
def test_a_game_by_name_is_never_a_file(text):
    Path("heap.py").write_text(HEAP)
    with pytest.raises(VariantError):
        named_game(text)


@pytest.mark.long
def test_an_option_that_the_rules_choke_on_is_told_as_theirs(tmp_path):
    (tmp_path / "heap.py").write_text(HEAP + "\n    def __post_init__(self):\n        len(self.size)\n")
    result = process("info", "./heap.py", env=environment(tmp_path / "home"), cwd=tmp_path)
    assert "TypeError: object of type 'int' has no len() (heap.py, line " in result.stderr


# Sizes


def measured(code, *args):
    """Run Python code as a process; return it and the most memory it has used, in bytes."""
    more = "\nfrom retrograde.solver.runtime.memory import peak_memory\nprint('peak', peak_memory())\n"
    result = subprocess.run([sys.executable, "-c", code + more, *args], capture_output=True, text=True, timeout=LATE)
    return result, int(result.stdout.rpartition("peak")[2]) if "peak" in result.stdout else None


READ_ALL = """
import sys
from retrograde.databases import DatabaseFile
from retrograde.games import RetrogradeError
for path in sys.argv[1:]:
    try:
        with DatabaseFile(path) as file:
            file.check()
        print("read")
    except RetrogradeError as error:
        print(type(error).__name__, error)
"""


def huge(kinds, folder):
    """Write files that claim more than they can hold, and return their paths."""
    paths = []
    for kind, path in kinds.items():
        for table in ("legend", "tiers", "blocks", "counts", kind):
            forged = Forged.read(path)
            if table not in forged.parts:
                continue
            part = forged.parts[table]
            some = 2_000 if part.plain else 20_000_000  # what is not compressed takes its room in the file
            for rows in (3_000_000, 40_000_000):
                part.length = part.chunk = rows
                part.contents = [bytes(part.dtype.itemsize * min(rows, some))]
                paths.append(forged.write(folder / f"{kind}-{table}-{rows}.h5"))
            part.length, part.chunk, part.contents = 1 << 40, 1 << 12, [bytes(part.dtype.itemsize << 12)]
            paths.append(forged.write(folder / f"{kind}-{table}-chunks.h5"))
    return paths


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform == "win32", reason="measured by getrusage")
@pytest.mark.long
def test_nothing_is_allocated_that_a_file_has_no_room_for(kinds, tmp_path):
    paths = huge(kinds, tmp_path)
    _, least = measured(READ_ALL, *map(str, kinds.values()))
    result, peak = measured(READ_ALL, *map(str, paths))
    assert result.returncode == 0, result.stderr
    assert result.stdout.count("DamagedDatabase") == len(paths)
    assert peak < least + 100e6


# Attributes


WRONG = {
    "variant": [7, "", "tictactoe\x1b[2J", "a\nb", "connect4", "\x9b31m", "x:\u202ey"],
    "game": [7, "", "other"],
    "options": ["", "[]", "{", "[" * 50_000, '{"size": 4}', 3],
    "rules": ["x", 3, "0" * 31],
    "metric": [1, "something else"],
    "made_with": [1, "\x1b]0;title\x07"],
    "positions": ["many", 0, -1, 1 << 62],
    "stored": ["some", 0, 10**15, -5],
    "start": [-1, "0", 5, 1 << 62, 1.5],
    "start_value": [0, 9, "win"],
    "start_remoteness": [-7, 10**6, "9"],
    "format_version": [0, -1, "2", None],
    "format": [1, "other", None],
    "checks": [1, "{}", "[]", '{"legend": "x"}'],
    "digest": ["x", 5, "0" * 64],
}


def opened(path):
    """Look at all of tic-tac-toe's database at once."""
    with open_database(path, game=load_game("tictactoe")) as database:
        database.file.check()
        Solution(database)


@pytest.mark.thorough
@pytest.mark.parametrize("name", WRONG)
@pytest.mark.long
def test_an_attribute_that_cannot_be_true_is_one_line(name, kinds, tmp_path):
    for number, value in enumerate(WRONG[name]):
        forged = Forged.read(kinds["records"])
        forged.signed = name not in ("checks", "digest")
        forged.attributes[name] = value
        if value is None:
            del forged.attributes[name]
        path = forged.write(tmp_path / f"{number}.h5")
        with pytest.raises(RetrogradeError, match=rf"{number}\.h5") as caught:
            opened(path)
        assert str(caught.value).isprintable()


@pytest.mark.parametrize("name", ["variant", "start", "options", "format_version", "positions", "digest"])
def test_a_missing_attribute_is_one_line(name, kinds, tmp_path):
    forged = Forged.read(kinds["records"])
    del forged.attributes[name]
    with pytest.raises((DamagedDatabase, NotADatabase), match=f"has no attribute {name}"):
        DatabaseFile(forged.write(tmp_path / "x.h5"))


@pytest.mark.parametrize("column", ["positions", "stored"])
@pytest.mark.parametrize("kind", ["records", "steps", "slots"])
def test_a_legend_that_does_not_add_up_is_refused(kind, column, kinds, tmp_path):
    """One less in a row that is right by itself."""
    forged = Forged.read(kinds[kind])
    rows = forged.parts["legend"].rows()
    row = next(k for k in range(len(rows)) if 1 < rows["stored"][k] < rows["positions"][k])
    rows[column][row] -= 1
    forged.parts["legend"].put(rows)
    with pytest.raises(DamagedDatabase, match="the legend does not add up"):
        DatabaseFile(forged.write(tmp_path / "x.h5"))


def test_junk_behind_the_end_is_seen(kinds, tmp_path):
    for kind, path in kinds.items():
        longer = tmp_path / f"{kind}.h5"
        longer.write_bytes(path.read_bytes() + b"\0")
        with pytest.raises(DamagedDatabase, match="bytes, and says that it has"):
            DatabaseFile(longer)


def test_swapped_frames_are_noticed(solved, tmp_path):
    path = Path(shutil.copy(solved("connect4:4,4"), tmp_path / "four.h5"))
    forged = Forged.read(path)
    one, two, *_ = forged.parts["records"].contents
    forged.parts["records"].contents[:2] = two, one
    forged.signed = False
    forged.write(path)
    with open_database(path) as database:
        first = int(database.file.contents.blocks.positions[0])
        with pytest.raises(DamagedDatabase, match="a frame is not where it belongs"):
            database.get(first)
    assert "a frame is not where it belongs" in retrograde("verify", path, "--quick", status=1).stderr


def test_a_file_is_read_through_without_its_rules(tmp_path):
    (tmp_path / "heap.py").write_text(HEAP)
    path = solve(load_game("./heap.py"), tmp_path / "heap.h5")
    (tmp_path / "heap.py").unlink()
    with DatabaseFile(path) as file:
        digest = file.digest
    assert f"the file is as it was written, digest {digest}\n" in retrograde("verify", path, "--quick").stdout
    assert json.loads(retrograde("verify", path, "--quick", "--json").stdout)["digest"] == digest
    assert digest in retrograde("info", path).stdout


def test_a_frame_from_elsewhere_fails_the_digest(kinds, tmp_path):
    for kind, path in kinds.items():
        forged = Forged.read(path)
        forged.attributes["digest"] = "0" * 64
        forged.signed = False
        forged.write(tmp_path / f"{kind}.h5")
        with DatabaseFile(tmp_path / f"{kind}.h5") as file, pytest.raises(DamagedDatabase, match="digest"):
            file.check()


def test_links_lead_nowhere_else(kinds, tmp_path):
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
    for number, link in enumerate([h5py.ExternalLink("pipe", "/records"), h5py.SoftLink("/legend")]):
        for name in ("records", "tiers"):
            forged = Forged.read(kinds["records"])
            forged.links[name] = link
            with pytest.raises(DamagedDatabase, match=f"has no dataset {name}"):
                DatabaseFile(forged.write(tmp_path / f"{number}.h5"))


# What is no file


@pytest.mark.thorough
@pytest.mark.skipif(os.name != "posix", reason="kinds of files of POSIX")
@pytest.mark.long
def test_one_bad_file_hinders_no_other(kinds, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    shutil.copy(kinds["records"], home / "tictactoe.h5")
    os.mkfifo(home / "pipe.h5")
    (home / "folder.h5").mkdir()
    (home / "gone.h5").symlink_to(home / "nowhere")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(home / "socket.h5"))
        (home / "chess,KQK.h5").write_bytes(kinds["slots"].read_bytes()[:5000])
        (home / "empty.h5").write_bytes(b"")
        for path in huge(kinds, home):
            path.rename(home / f"chess,{path.name}")
        shown = process("list", env=environment(home))
        assert "tictactoe" in shown.stdout
        assert shown.returncode == 0, shown.stderr
        for name in ("pipe", "folder", "socket", "empty"):
            result = process("info", home / f"{name}.h5", env=environment(home))
            assert result.returncode == 1
            assert "fault of retrograde" not in result.stderr
        result = process("solve", "chess:KRK", env=environment(home))
        assert result.returncode == 0, result.stderr
        assert list_databases(home)


def test_tiers_are_not_taken_from_a_database_that_says_more_than_scores_can(kinds, tmp_path):
    forged = Forged.read(kinds["slots"])
    rows = forged.parts["legend"].rows()
    rows["remoteness"][-1] = 70_000
    forged.parts["legend"].put(rows)
    forged.write(tmp_path / "chess,KQK.h5")
    assert solve(load_game("chess:KQK"), tmp_path / "other.h5").read_bytes() == kinds["slots"].read_bytes()


# Fuzz


def everything(path, game, dice):
    """Ask a database for all that may be asked, by hook or by crook."""
    with open_database(path, game=game) as database:
        summary(database)
        database.file.check()
        positions = [row.example for row in database.file.legend] + [dice.randrange(1 << 62) for _ in range(20)]
        for position in positions:
            database.get(position)
        database.lookup(positions)
        Solution(database).value(database.file.legend[0].example)
        if dice.random() < 0.1:
            verify(database, 1, interpreted=False)


def fuzz(kinds, folder, seed, count):
    """Try so many forged files of each kind."""
    for kind, path in kinds.items():
        original = Forged.read(path)
        with open_database(path) as database:
            game = database.game
        for number in range(count):
            dice = Random(f"{kind} {seed} {number}")
            forged = original.copy()
            for _ in range(dice.choice([1, 1, 2, 4])):
                if forged.parts:
                    mutate(forged, dice)
            file = folder / "forged.h5"
            try:
                forged.write(file)
            except (ValueError, TypeError, OSError, KeyError):
                continue  # HDF5 itself does not write that
            with suppress(RetrogradeError):
                everything(file, game, dice)


@pytest.mark.thorough
@pytest.mark.long
def test_forged_files_end_in_an_answer_or_one_line(kinds, tmp_path):
    before = psutil.Process().memory_info().rss
    fuzz(kinds, tmp_path, "short", 40)
    assert psutil.Process().memory_info().rss < before + 300e6


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_many_forged_files_end_in_an_answer_or_one_line(seed, kinds, tmp_path):
    fuzz(kinds, tmp_path, seed, 2000)


# Version 1


@pytest.mark.parametrize("kind", ["records", "steps", "slots"])
def test_version_1_is_refused_in_one_line(kind, kinds, tmp_path):
    forged = Forged.read(kinds[kind])
    forged.attributes["format_version"] = 1
    for name in ("checks", "digest"):
        del forged.attributes[name]
    path = forged.write(tmp_path / "older.h5")
    with pytest.raises(VersionTooOld, match=r"older\.h5' has format 1, which is no longer read; solve the game again$"):
        open_database(path)
