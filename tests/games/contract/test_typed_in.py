"""Games that are typed in: in a notebook, at a prompt, on standard input, or defined in the script that runs."""

import subprocess
import sys

import pytest

from tests.helpers.command_line import LATE, environment, process

pytestmark = pytest.mark.long

GAME = """\
from retrograde.games import LOSE, UNDECIDED, Game
import retrograde
LEAST, MOST = 1, (1, 2, 3)

def most(heap):
    return min(MOST[-1], heap)

class Heap(Game):
    size: int = 10

    @property
    def start(self):
        return self.size

    def generate_moves(self, heap):
        yield from range(LEAST, most(heap) + 1)

    def do_move(self, heap, taken):
        return heap - taken

    def primitive(self, heap):
        return LOSE if heap < LEAST else UNDECIDED
"""
SOLVE = """\
path = retrograde.solve(Heap(13), **OPTIONS)
with retrograde.open(path, game=Heap(13)) as solution:
    print(path.name, solution.value(13).remoteness, solution.moves(13)[0].move, type(solution.game).__module__)
"""
AGAIN = "print(retrograde.open('heap:size=13').value(13).remoteness)\n"
CHECK = "report = retrograde.check(Heap(13)); print(report.ok, report.slow)\n"


def solving(options=""):
    """Return the statements that solve the game with some options, and open it."""
    return SOLVE.replace("**OPTIONS", options)


def process_of(text, home, *args):
    """Return a program that has run, whether or not it failed."""
    return subprocess.run(
        [sys.executable, *args], input=text, capture_output=True, text=True, timeout=LATE, env=environment(home)
    )


def run(text, home, *args):
    """Return what a program prints, and what it complains of."""
    done = process_of(text, home, *args)
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def cells(text):
    """Return a program that gives IPython cells, parted by lines of dashes, as a notebook does."""
    return (
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "shell = InteractiveShell.instance()\n"
        f"for cell in {text.split('---')!r}:\n"
        "    shell.run_cell(cell, store_history=True).raise_error()\n"
    )


@pytest.mark.thorough
def test_a_script_names_its_database_after_the_class_and_opens_it_again(tmp_path):
    (tmp_path / "script.py").write_text(GAME + solving() + AGAIN + CHECK)
    told, complaints = run("", tmp_path / "home", tmp_path / "script.py")
    assert told == "heap,size=13.h5 7 1 __main__\n7\nTrue \n"
    assert complaints == ""


@pytest.mark.thorough
def test_another_script_does_not_take_its_database(tmp_path):
    home = tmp_path / "home"
    (tmp_path / "script.py").write_text(GAME + solving())
    run("", home, tmp_path / "script.py")
    other = GAME.replace("LEAST, MOST = 1", "LEAST, MOST = 2")
    what = "\ntry:\n    retrograde.open('heap:size=13')\nexcept Exception as error:\n    print(type(error).__name__)\n"
    (tmp_path / "other.py").write_text(other + what)
    assert run("", home, tmp_path / "other.py")[0] == "OtherRules\n"


@pytest.mark.parametrize("args", [["-"], pytest.param(["-i"], marks=pytest.mark.thorough)])
def test_on_standard_input_a_game_is_solved_interpreted_and_in_memory(args, tmp_path):
    text = GAME + "\n" + solving().replace("with", "\nwith") + "\n" + CHECK
    text = "\n\n".join(["\n".join(line for line in part.splitlines() if line) for part in split(text)]) + "\n"
    told, said = run(text, tmp_path / "home", *args)
    assert "heap,size=13.h5 7 1 __main__\n" in told
    assert "True the rules of heap:size=13 do not compile: " in told
    assert "the source of Heap is not known: nothing keeps the text of Heap; put its rules in a file, heap.py" in said
    assert not (tmp_path / "home").exists()


def split(text):
    """Return a text in the pieces that a prompt takes one by one: statements at the margin with what is below them."""
    pieces = []
    for line in filter(None, text.splitlines()):
        pieces.append(line) if line[0] not in " " or not pieces else pieces.append(pieces.pop() + "\n" + line)
    return pieces


def test_what_cannot_be_solved_interpreted_says_so(tmp_path):
    text = GAME + "try:\n    retrograde.solve(Heap(), metric='nimber')\nexcept Exception as error:\n    print(error)\n"
    told, _ = run(text, tmp_path, "-")
    assert told.endswith("heap.py; nimber needs compiled rules\n")


class TestNotebook:
    """In IPython rules are those that names mean now, whichever cell that was in."""

    @pytest.fixture(autouse=True)
    def ipython(self):
        pytest.importorskip("IPython")

    @pytest.mark.thorough
    def test_a_game_is_solved_opened_and_checked(self, tmp_path):
        text = GAME.replace("\nclass", "---\nclass") + "---" + solving("method='compiled'") + AGAIN + CHECK
        told, complaints = run(cells(text), tmp_path, "-")
        assert told.startswith("heap,size=13.h5 7 1 retrograde_rules_")
        assert told.endswith(".heap\n7\nTrue \n")
        assert complaints == ""

    @pytest.mark.thorough
    def test_another_session_finds_the_database_and_other_rules_do_not(self, tmp_path):
        first = cells(GAME + "---" + solving())
        run(first, tmp_path, "-")
        parts = GAME.replace("\nclass", "---\nclass")
        assert run(cells(f"1 + 1---{parts}---{AGAIN}"), tmp_path, "-")[0].endswith("\n7\n")
        other = f"{parts}---LEAST = 2---{AGAIN}"
        done = process_of(cells(other), tmp_path, "-")
        assert "OtherRules" in done.stdout

    @pytest.mark.thorough
    def test_a_helper_or_a_constant_that_is_defined_again_counts(self, tmp_path):
        solve = "---" + solving("fresh=True")
        again = "---def most(heap):\n    return min(2, heap)\n"
        told, _ = run(cells(GAME + solve + again + solve), tmp_path, "-")
        assert [line.split()[1:3] for line in told.splitlines()] == [["7", "1"], ["9", "1"]]

    @pytest.mark.thorough
    def test_a_class_that_is_defined_again_is_another_one(self, tmp_path):
        solve = "---" + solving("fresh=True")
        twice = GAME.partition("class")[1] + GAME.partition("class")[2].replace("heap < LEAST", "heap < 3")
        told, _ = run(
            cells(f"{GAME}---old = Heap(13)---{twice}{solve}{solve.replace('Heap(13)', 'old')}"), tmp_path, "-"
        )
        assert [line.split()[1] for line in told.splitlines()] == ["5", "7"]

    def test_what_is_made_as_the_program_runs_has_no_source(self, tmp_path):
        text = GAME.replace("MOST = 1, (1, 2, 3)", "MOST = 1, __import__('array').array('q', [1, 2, 3])")
        told, complaints = run(cells(text + "---" + solving()), tmp_path, "-")
        assert told.startswith("heap,size=13.h5 7 1")
        assert "MOST is a array, which is made as the program runs" in complaints

    @pytest.mark.thorough
    def test_a_class_made_with_what_has_changed_since_is_refused_a_source(self, tmp_path):
        text = GAME.replace("size: int = 10", "size: int = 10 + LEAST") + "---LEAST = 3---"
        _, complaints = run(cells(text + solving()), tmp_path, "-")
        assert "what it was made of has changed; define it again" in complaints


@pytest.mark.thorough
def test_the_command_line_says_how_to_open_the_database_of_a_script(tmp_path):
    (tmp_path / "script.py").write_text(GAME + solving())
    run("", tmp_path, tmp_path / "script.py")
    done = process("query", "heap:size=13", env=environment(tmp_path))
    assert (done.returncode, done.stdout) == (1, "")
    assert len(done.stderr.splitlines()) == 1
