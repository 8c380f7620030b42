"""What is too large for the wire goes through files, and the bytes are the same, also where tasks are run twice."""

import pickle
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings

from retrograde.databases import CannotWrite
from retrograde.games.catalog import load_game
from retrograde.solver.engine import solve
from retrograde.solver.methods.listed import cycles
from retrograde.solver.methods.listed.predecessors import lists
from retrograde.solver.methods.numbered import by_slots, seeds
from retrograde.solver.runtime import parcels
from retrograde.solver.runtime.cluster.executor import ClusterExecutor
from retrograde.solver.runtime.parcels import Parcel, pack, unpack
from retrograde.solver.runtime.scratch import DamagedScratch
from retrograde.solver.runtime.sizes import Sizes
from tests.helpers import tangle
from tests.helpers.marks import thorough_but
from tests.helpers.solving import graphs


class ByWire(ClusterExecutor):
    """Tasks as on a cluster, pickled both ways, but on two threads of this process; each is run twice, as if the first
    worker had been lost before it could tell of it."""

    workers = 2
    apart = False

    def __init__(self):
        super().__init__()
        self.threads = ThreadPoolExecutor(2)
        self.most = self.large = 0
        """The most bytes that went over the wire at once, and how many parcels were named there."""

    def send(self, name, args, function, *packed) -> "Future":
        return self.threads.submit(self.run, pickle.dumps((function, packed)))

    def run(self, sent):
        for _ in range(2):
            function, args = pickle.loads(sent)
            told = function(*args)
        back = pickle.dumps(told)
        self.most = max(self.most, len(sent), len(back))
        self.large += isinstance(told, Parcel)
        return pickle.loads(back)


@pytest.fixture(scope="module")
def by_wire():
    executor = ByWire()
    with executor.threads:
        yield executor


@pytest.fixture
def in_many_tasks(monkeypatch):
    """Solve small games in many tasks, and send all but nothing over the wire."""
    monkeypatch.setattr(parcels, "LEAST", 1)
    monkeypatch.setattr(cycles, "BLOCK", 8)
    monkeypatch.setattr(seeds, "BLOCK", 8)
    monkeypatch.setattr(by_slots, "FRONTIER_SENT", 2)
    monkeypatch.setattr(lists, "FRONTIER", 2)


WAYS = {
    "listed": (tangle.Tangle(), "listed"),
    "listed, with parents": (tangle.TangleWithParents(), "listed"),
    "numbered": (tangle.DenseTangle(), "numbered"),
    "numbered, without parents": (tangle.DenseTangleWithoutParents(), "numbered"),
}


@pytest.mark.long
@pytest.mark.usefixtures("solver_alone", "in_many_tasks")
@pytest.mark.parametrize("way", thorough_but(WAYS, "listed"))
@settings(max_examples=4)
@given(start=graphs)
def test_random_games_with_cycles_have_the_bytes_of_threads(way, tmp_path_factory, by_wire, start):
    game, way = WAYS[way]
    folder = tmp_path_factory.mktemp("games")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tangle.Tangle, "start", start)
        threads = solve(game, folder / "threads.h5", method=way, workers=1, fresh=True).read_bytes()
        for sizes in (Sizes(), Sizes(predecessors_in_scratch=True, scores_in_scratch=True)):
            path = solve(game, folder / "wire.h5", method=way, fresh=True, sizes=sizes, executor=by_wire)
            assert path.read_bytes() == threads
    assert sorted(file.name for file in folder.iterdir()) == ["threads.h5", "wire.h5"]


@pytest.mark.long
@pytest.mark.parametrize(
    ("variant", "way"), [("dodgem", "listed"), pytest.param("morris:4", "numbered", marks=pytest.mark.thorough)]
)
def test_no_more_than_names_and_a_few_numbers_go_over_the_wire(variant, way, tmp_path, monkeypatch):
    monkeypatch.setattr(parcels, "LEAST", 1 << 8)
    monkeypatch.setattr(cycles, "BLOCK", 1 << 7)
    executor = ByWire()
    with executor.threads:
        solve(load_game(variant), tmp_path / "wire.h5", method=way, executor=executor)
    assert executor.large > 5 and executor.most < 1 << 12


@pytest.mark.parametrize("length", [0, 1, 5000, 50_000])
def test_what_was_packed_is_there_as_often_as_it_is_opened(length, tmp_path):
    content = {"arrays": [np.arange(length), np.arange(length, dtype=np.uint8)[::2], np.zeros(3, np.uint16)], "more": 7}
    sent = pack(content, tmp_path)
    assert isinstance(sent, Parcel) == (length >= 5000) == bool(list(tmp_path.iterdir()))
    for _ in range(2):
        found = unpack(pickle.loads(pickle.dumps(sent)))
        assert found["more"] == 7
        for array, other in zip(content["arrays"], found["arrays"], strict=True):
            assert array.dtype == other.dtype and (array == other).all()
            assert other.flags.aligned and other.flags.writeable, "kernels are compiled anew for others"
    assert not isinstance(pack(content, None), Parcel)


@pytest.mark.parametrize("harm", ["a bit", "its end", "all"])
def test_a_parcel_that_is_damaged_is_not_taken(harm, tmp_path):
    sent = pack(np.arange(10_000), tmp_path)
    whole = sent.path.read_bytes()
    changed = {"a bit": whole[:5000] + bytes([whole[5000] ^ 1]) + whole[5001:], "its end": whole[:-1]}
    sent.path.write_bytes(changed.get(harm, b""))
    with pytest.raises(DamagedScratch, match="is damaged; the same command goes on"):
        sent.open()
    sent.drop()
    with pytest.raises(DamagedScratch, match="is damaged"):
        sent.open()


def test_where_a_parcel_cannot_be_written_one_line_says_so(tmp_path):
    (tmp_path / "parcels").touch()
    with pytest.raises(CannotWrite, match=r"cannot write to '.*parcels': .*; what is done is kept"):
        pack(np.arange(10_000), tmp_path / "parcels")
