"""Tasks need nothing but what they are given: processes that share no memory write the same bytes as threads."""

import multiprocessing
import pickle
import sys
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest

from retrograde.games.catalog import load_game
from retrograde.games.contract.game import RuleError
from retrograde.solver.engine import solve
from retrograde.solver.runtime.arrays import SharedArray
from retrograde.solver.runtime.scratch import DamagedScratch, Scratch, TaskData
from tests.helpers import broken
from tests.helpers.command_line import HEAP
from tests.helpers.marks import thorough
from tests.helpers.solving import small_enough


@pytest.fixture(scope="module")
def processes():
    """Two processes, begun afresh: they know of this one what they are sent, and nothing else."""
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as executor:
        yield executor


@pytest.mark.long
@pytest.mark.parametrize(
    ("variant", "way"),
    [
        pytest.param("connect4:4,3,3", "listed", marks=pytest.mark.thorough),
        ("connect4:4,3,3", "setwise"),
        ("dodgem", "listed"),  # with cycles
        thorough(("mutorere", "listed")),  # with parents()
        thorough(("chess:KQK", "numbered")),
        thorough(("teeko:4,3", "setwise")),  # shape by shape
    ],
)
def test_processes_write_the_same_bytes(variant, way, tmp_path, processes):
    game = load_game(variant)
    options = {"method": way, "sizes": small_enough(way), "fresh": True}
    threads = solve(game, tmp_path / "threads.h5", **options).read_bytes()
    assert solve(game, tmp_path / "processes.h5", executor=processes, **options).read_bytes() == threads
    assert {file.name for file in tmp_path.iterdir()} - {"chess,KK.h5"} == {"processes.h5", "threads.h5"}


@pytest.mark.long
def test_rules_from_a_file_travel_with_those_beside_it(tmp_path, processes):
    (tmp_path / "heap.py").write_text(HEAP.replace("min(3, heap)", "min(piles.MOST, heap)") + "\n\nimport piles\n")
    (tmp_path / "piles.py").write_text("MOST = 3\n")
    game = load_game(f"{tmp_path / 'heap.py'}:size=50")
    (tmp_path / "heap.py").unlink()  # nothing but what was imported counts
    (tmp_path / "piles.py").unlink()
    threads = solve(game, tmp_path / "threads.h5", method="listed").read_bytes()
    assert solve(game, tmp_path / "processes.h5", method="listed", executor=processes).read_bytes() == threads


def test_a_game_that_travels_is_the_same():
    game = load_game("connect4:5,4")
    assert pickle.loads(pickle.dumps(game)) == game
    again = pickle.loads(pickle.dumps(game))
    assert again is pickle.loads(pickle.dumps(game)), "what a game has computed for itself is kept"


def test_a_game_from_a_file_is_made_anew_where_it_is_not_known(tmp_path):
    (tmp_path / "heap.py").write_text(HEAP)
    game = load_game(f"{tmp_path / 'heap.py'}:size=7")
    sent = pickle.dumps(game)
    name = type(game).__module__
    del sys.modules[name]
    again = pickle.loads(sent)
    assert (again.size, list(again.generate_moves(2))) == (7, [1, 2])
    assert type(again).__module__ == name and type(again) is not type(game)


@pytest.mark.long
def test_what_breaks_the_contract_in_a_process_is_told_as_in_a_thread(tmp_path, processes, solver_alone):
    bits = 10
    game = broken.Pairs()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(game), "start", type(game).start + (1 << bits))
        told = []
        for executor in (None, processes):
            with pytest.raises(RuleError) as caught:
                solve(game, tmp_path / "game.h5", method="numbered", executor=executor)
            told.append(str(caught.value))
    assert told[0] == told[1]


def test_an_array_travels_as_the_path_of_a_file(tmp_path):
    shared = SharedArray.zeros(5, np.int64, tmp_path / "array")
    shared.array[:] = range(5)
    sent = pickle.dumps(shared.slice(1, 4))
    assert len(sent) < 600
    there = pickle.loads(sent)
    assert there.array.tolist() == [1, 2, 3]
    shared.array[2] = 77  # what is written is seen
    assert there.array.tolist() == [1, 77, 3]
    assert not SharedArray.zeros(5, np.int64).path


def test_what_all_tasks_are_told_is_written_once_and_read_once(tmp_path):
    scratch = Scratch(tmp_path, 0)
    told = TaskData(list(range(1000)), scratch, "told7")
    assert not list(tmp_path.iterdir()), "nothing is sent yet"
    sent = [pickle.dumps(told) for _ in range(2)]
    assert len(list(tmp_path.iterdir())) == 1 and len(sent[0]) < 600
    there, again = map(pickle.loads, sent)
    assert there.content == told.content and there is again
    assert pickle.loads(pickle.dumps(TaskData("little"))).content == "little", "without files it travels whole"


def test_bytes_put_aside_plain_are_read_where_they_lie(tmp_path):
    scratch = Scratch(tmp_path, 0)
    content = np.arange(100_000, dtype=np.uint64)
    frames = [
        scratch.write("sets1", b"odd"),
        *(scratch.write("sets1", content.view(np.uint8).data, True) for _ in "12"),
    ]
    there = Scratch(tmp_path, 1 << 20)
    assert bytes(there.read(frames[0])) == b"odd"
    for frame in frames[1:]:
        found = np.frombuffer(there.read(frame), np.uint64)
        assert found.flags.aligned and not found.flags.writeable and (found == content).all()
        assert (tmp_path / frame.file).stat().st_size > frame.size == content.nbytes
    assert not there.missing(frames)


def test_the_first_bytes_that_are_put_aside_may_be_held_in_memory(tmp_path):
    scratch = Scratch(tmp_path, 0, held=10)
    contents = {name: name.encode() * 5 for name in "abcd"}
    frames = {name: scratch.write(name, content) for name, content in contents.items()}
    assert sorted(path.name[0] for path in tmp_path.iterdir()) == ["c", "d"]
    scratch.drop("b")
    frames["e"], contents["e"] = scratch.write("e", b"again"), b"again"
    assert len(list(tmp_path.iterdir())) == 2
    assert all(scratch.read(frames[name]) == contents[name] for name in "acde")


@pytest.mark.thorough
@pytest.mark.parametrize("harm", ["a bit", "its end", "its head", "all"])
def test_plain_bytes_that_are_damaged_are_not_taken(harm, tmp_path):
    scratch = Scratch(tmp_path, 0)
    frame = scratch.write("sets1", bytes(range(250)) * 40, True)
    path = tmp_path / frame.file
    whole = path.read_bytes()
    changed = {"a bit": whole[:5000] + bytes([whole[5000] ^ 1]) + whole[5001:], "its end": whole[:-1], "its head": b"R"}
    path.write_bytes(changed.get(harm, b""))
    with pytest.raises(DamagedScratch, match="is damaged"):
        scratch.read(frame)
