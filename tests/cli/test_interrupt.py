"""Ctrl-C ends every command with status 130, whatever it is at, and rules that go on for ever are named."""

import os
import signal
import subprocess
import sys
import time

import pytest

from retrograde.solver.runtime.scratch import clear_abandoned
from tests.helpers.command_line import COMMAND, LATE, Child, environment, retrograde
from tests.helpers.paths import ROOT

pytestmark = [pytest.mark.long, pytest.mark.skipif(os.name == "nt", reason="there is no SIGINT to send there")]

LOOP = """
from pathlib import Path

from retrograde.games import LOSE, UNDECIDED, Game


class Loop(Game):
    size: int = 400_000
    bad: int = 1234

    @property
    def start(self):
        return self.size

    def generate_moves(self, heap):
        here = heap
        while here == self.bad:
            here = heap
        yield 1
        if heap > 500:
            yield 250

    def do_move(self, heap, taken):
        return heap - taken

    def primitive(self, heap):
        return LOSE if heap == 0 else UNDECIDED
"""


def interrupted(*args, home, code=None, seconds=None):
    """Start a command, or Python code; send it SIGINT when it says that it is ready, or after some seconds.

    Returns its status and what it says.
    """
    command = [sys.executable, "-c", code] if code else [*COMMAND, *map(str, args)]
    with Child(command, env=environment(home), stdout=-1, stderr=-1, text=True, cwd=home) as process:
        if seconds is None:
            assert process.stdout.readline() == "ready\n"
        else:
            time.sleep(seconds)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=LATE)
    return process.returncode, errors


@pytest.fixture
def loop(tmp_path):
    path = tmp_path / "loop.py"
    path.write_text(LOOP)
    return path


def test_rules_that_loop_interpreted_are_named_by_their_line(loop, tmp_path):
    ready = LOOP.replace("here = heap\n        while", "here = heap\n        self.tell(heap)\n        while") + (
        "\n    def tell(self, heap):\n        if heap == self.bad:\n            print('ready', flush=True)\n"
    )
    loop.write_text(ready)
    status, errors = interrupted("solve", f"{loop}:size=1000,bad=1", home=tmp_path)
    assert status == 130
    first, last = ready[: ready.index("self.tell")].count("\n") + 1, ready[: ready.index("yield")].count("\n") + 1
    lines = range(first, last + 1)
    told = [f"retrograde: interrupted; the rules were at {loop}, line {line}, in generate_moves()\n" for line in lines]
    assert errors in told or "in tell()" in errors


def test_rules_that_loop_compiled_are_named_by_their_position(tmp_path):
    code = (
        "import sys, threading, time\n"
        "import numpy as np\n"
        "from retrograde.cli.interrupt import WATCH\n"
        "from retrograde.games.catalog import load_game\n"
        "from retrograde.solver.rules.running_kernels import watch_kernel\n"
        "WATCH.start()\n"
        "trouble = np.zeros(2, np.int64)\n"
        "with watch_kernel(load_game('tictactoe'), trouble):\n"
        "    trouble[1] = 77\n"
        "    while True:\n"
        "        try:\n"
        "            print('ready', flush=True)\n"
        "            time.sleep(100)\n"
        "        except KeyboardInterrupt:\n"
        "            pass\n"
    )
    told = "retrograde: interrupted; the rules of tictactoe go on and on at position 77\n"
    assert interrupted(home=tmp_path, code=code) == (130, told)


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_so_they_are_in_a_real_solve(workers, loop, tmp_path):
    code = (
        "from retrograde.cli.interrupt import WATCH\n"
        "from retrograde.games.catalog import load_game\n"
        "from retrograde.solver.engine import solve\n"
        "WATCH.start()\n"
        f"solve(load_game({str(loop)!r}), 'loop.h5', method='compiled', workers={workers})\n"
    )
    status, errors = interrupted(home=tmp_path, code=code, seconds=20)
    assert (status, errors) == (130, "retrograde: interrupted; the rules of loop go on and on at position 1234\n")


def test_what_swallows_the_interrupt_is_interrupted_again(tmp_path):
    code = (
        "import time\n"
        "from retrograde.cli import main\n"
        "from retrograde.cli.commands.list import command\n"
        "swallowed = []\n"
        "def stubborn(**_):\n"
        "    print('ready', flush=True)\n"
        "    while len(swallowed) < 2:\n"
        "        try:\n"
        "            time.sleep(100)\n"
        "        except KeyboardInterrupt:\n"
        "            swallowed.append(1)\n"
        "    time.sleep(100)\n"
        "command.callback = stubborn\n"
        "import sys\n"
        "sys.argv = ['retrograde', 'list']\n"
        "main()\n"
    )
    assert interrupted(home=tmp_path, code=code) == (130, "retrograde: interrupted\n")


def test_it_is_told_where_a_destructor_has_taken_it(tmp_path):
    code = (
        "import signal, sys, time\n"
        "from retrograde.cli import main\n"
        "from retrograde.cli.commands.list import command\n"
        "class Deaf:\n"
        "    def __del__(self):\n"
        "        signal.raise_signal(signal.SIGINT)\n"
        "def run(**_):\n"
        "    Deaf()\n"
        "    time.sleep(100)\n"
        "command.callback = run\n"
        "sys.argv = ['retrograde', 'list']\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment(tmp_path), capture_output=True, text=True, timeout=LATE
    )
    assert (done.returncode, done.stderr) == (130, "retrograde: interrupted\n")


@pytest.mark.slow
@pytest.mark.parametrize("delay", [0.3, 0.5, 0.8, 1.2, 1.8, 2.5, 3.5])
@pytest.mark.parametrize("args", [("solve", "connect4:5,5"), ("check", "connect4:5,5"), ("solve", "{loop}")])
def test_commands_end_whenever_it_comes(args, delay, loop, tmp_path):
    args = [arg.format(loop=loop) for arg in args]
    status, _ = interrupted(*args, home=tmp_path, seconds=delay)
    assert status in (130, 0, -signal.SIGINT)  # the last while Python itself begins or ends


# Rules that would end the process


@pytest.mark.parametrize(
    ("where", "complaint"),
    [
        ("import os; os._exit(0)", "Fault: rules must not end the process, as os._exit() does"),
        ("raise SystemExit", "leaves.py, line 1: SystemExit: "),
        ("raise KeyboardInterrupt", "the rules raise KeyboardInterrupt: "),
    ],
)
@pytest.mark.parametrize("command", ["check", "solve", "games"])
def test_rules_that_leave_when_imported_are_one_line(command, where, complaint, tmp_path):
    path = tmp_path / "leaves.py"
    path.write_text(f"{where}\n{LOOP}")
    result = retrograde(command, path, status=1)
    assert complaint in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_child_that_hangs_is_killed_where_its_test_fails(tmp_path):
    with pytest.raises(subprocess.TimeoutExpired), Child([sys.executable, "-c", "input()"], stdin=-1) as process:
        process.wait(timeout=0.1)
    assert process.returncode == -signal.SIGKILL


@pytest.mark.thorough
def test_the_tests_of_ctrl_c_pass_where_a_script_in_the_background_ignores_it():
    code = (
        "import os, signal, sys\n"
        "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "os.execv(sys.executable, [sys.executable, '-m', 'pytest', '-n', '0', *sys.argv[1:]])\n"
    )
    tests = [
        "tests/solver/conformance/test_precheck.py",
        "tests/cli/test_interrupt.py",
        "-k",
        "ctrl_c_is_told or swallows",
    ]
    root = ROOT
    done = subprocess.run([sys.executable, "-c", code, *tests], cwd=root, capture_output=True, text=True, timeout=LATE)
    assert "2 passed" in done.stdout, done.stdout


@pytest.mark.long
def test_a_command_ends_though_a_thread_holds_the_lock_of_h5py():
    """As the search of `uci` may, which opens databases while it is compiled."""
    code = (
        "import sys, threading, time\n"
        "import h5py\n"
        "from h5py._objects import phil\n"
        "from retrograde.cli import main\n"
        "from retrograde.cli.uci.clock import in_background\n"
        "held = threading.Event()\n"
        "def hold():\n"
        "    with phil:\n"
        "        held.set()\n"
        "        time.sleep(1000)\n"
        "kept = [h5py.h5s.create_simple((1,))]\n"
        "in_background(hold)\n"
        "held.wait()\n"
        "sys.argv = ['retrograde', 'games', '--json']\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60, check=False, cwd=ROOT)
    assert done.returncode == 0 and done.stdout.startswith(b"[")


# SIGTERM


def terminated(code, home, background=False):
    """Start Python code; send it SIGTERM when it says that it is ready. Return its status and what it says."""

    def ignore():
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    command = [sys.executable, "-c", code]
    with Child(
        command, env=environment(home), stdout=-1, stderr=-1, text=True, cwd=home,
        preexec_fn=ignore if background else None,
    ) as process:  # fmt: skip
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=LATE)
    return process.returncode, errors


COMMAND_THAT_WAITS = """
import sys, time
from pathlib import Path
from retrograde.cli import main
from retrograde.cli.commands.list import command
def run(**_):
    with open("half", "w"):
        try:
            print("ready", flush=True)
            while True:
                time.sleep(100)
        finally:
            Path("half").unlink()
command.callback = run
sys.argv = ["retrograde", "list"]
main()
"""


@pytest.mark.parametrize("background", [False, True])
def test_sigterm_cleans_up_as_ctrl_c_does(background, tmp_path):
    assert terminated(COMMAND_THAT_WAITS, tmp_path, background) == (143, "retrograde: interrupted\n")
    assert not (tmp_path / "half").exists()


def test_sigterm_for_a_child_process_ends_only_the_child(tmp_path):
    """Also if it comes as soon as the child is there."""
    fork = (
        "    import os, signal\n"
        "    ends = set()\n"
        "    for _ in range(100):\n"
        "        if (child := os.fork()) == 0:\n"
        "            time.sleep(1000)\n"
        "        os.kill(child, signal.SIGTERM)\n"
        "        ends.add(os.waitpid(child, 0)[1])\n"
        "    print(*ends, file=sys.stderr)\n"
    )
    code = COMMAND_THAT_WAITS.replace("def run(**_):\n", f"def run(**_):\n{fork}")
    assert terminated(code, tmp_path) == (143, f"{int(signal.SIGTERM)}\nretrograde: interrupted\n")


def test_a_scratch_folder_whose_process_is_gone_is_removed(tmp_path):
    code = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "from retrograde.solver.runtime.scratch import Scratch, temporary_scratch\n"
        "with temporary_scratch(Path.cwd()) as folder:\n"
        "    Scratch(folder, 0).begin(fresh=True)\n"
        "    print('ready', flush=True)\n"
        "    time.sleep(1000)\n"
    )
    (tmp_path / "tmpnew.scratch").mkdir()  # another process is about to lock it
    (tmp_path / "old.h5.lock").touch()
    with Child([sys.executable, "-c", code], cwd=tmp_path, env=environment(tmp_path), stdout=-1, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        clear_abandoned(tmp_path)
        assert len(list(tmp_path.glob("tmp*.scratch"))) == 2
        assert not (tmp_path / "old.h5.lock").exists()
        process.kill()
    clear_abandoned(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["tmpnew.scratch"]
    os.utime(tmp_path / "tmpnew.scratch", (0, 0))
    retrograde("remove", tmp_path / "none.h5", status=1)
    assert not list(tmp_path.iterdir())
