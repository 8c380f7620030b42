"""Files of the format's older versions, 2 to 7, are read as before. They were made by the release that wrote them."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import h5py
import numpy as np
import pytest

from retrograde.databases import CertificateFile, DatabaseFile
from retrograde.databases.layout import VERSION
from retrograde.games.catalog import load_game
from retrograde.solver.engine import solve
from retrograde.solver.runtime.sizes import Sizes
from tests.helpers.apart import Apart, InOneByChance
from tests.helpers.lacking import lacking

OLDER = Path(__file__).parents[1] / "data" / "older"
VERSIONS = {"records": 2, "steps": 2, "slots": 2, "score": 4, "bounds": 5, "words": 6, "compact": 7}


@pytest.mark.parametrize("name", VERSIONS)
def test_all_of_an_older_file_is_checked(name):
    with DatabaseFile(OLDER / f"{name}.h5") as file:
        assert (file.header.version, file.header.storage) == (VERSIONS[name], "")
        file.check()


def test_an_older_certificate_is_read():
    with CertificateFile(OLDER / "replies.h5") as file:
        assert file.header.version == 3
        file.check()


def contents(path):
    """Return what a file holds: its legend, its header's facts but for versions and rules, and all its blocks."""
    with DatabaseFile(path) as file:
        blocks = [flat(file.contents.read_block(number)) for number in range(file.contents.block_count)]
        return list(file.legend), file.start_outcome, file.positions, file.stored, file.start, file.measures, blocks


def flat(block):
    """Return a block's arrays as lists."""
    parts = block if isinstance(block, tuple) else (block,)
    return [np.asarray(part).tolist() if not isinstance(part, int) else part for part in parts]


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "game", "options"),
    [
        ("records", lambda: load_game("tictactoe"), {}),
        ("steps", lambda: load_game("connect4:4,3,3"), {"method": "streamed", "sizes": Sizes(in_memory=1)}),
        ("slots", lambda: load_game("chess:KK"), {}),
        ("score", lambda: load_game("nim"), {"metric": "score"}),
        ("bounds", InOneByChance, {"method": "numbered"}),
        pytest.param("words", Apart, {"method": "numbered"}, marks=pytest.mark.as_python),
    ],
)
def test_an_older_file_says_the_same_as_a_new_one(name, game, options, tmp_path):
    new = solve(game(), tmp_path / "new.h5", **options)
    assert contents(new) == contents(OLDER / f"{name}.h5")
    with DatabaseFile(new) as file:
        assert file.header.version == VERSION


def test_the_program_of_the_format_reads_a_file(tmp_path):
    """With the plugin of zstd for HDF5, as the page says. Once it is loaded, HDF5 writes the filter's name as well."""
    if find_spec("hdf5plugin") is None:
        lacking("hdf5plugin is not installed")
    page = (Path(__file__).parents[2] / "databases" / "FORMAT.md").read_text(encoding="utf-8")
    solve(load_game("tictactoe"), tmp_path / "tictactoe.h5")
    program = page.partition("```python\n")[2].partition("```")[0]
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True)
    printed = done.stdout.splitlines()
    assert printed[0] == "LOSE 0 942" and printed[-1].startswith("remoteness: plies to the end")


def test_any_program_sees_the_tables_of_a_new_file(tmp_path):
    with h5py.File(solve(load_game("tictactoe"), tmp_path / "new.h5")) as file:
        values = h5py.check_enum_dtype(file["legend"].dtype["value"])
        assert values == {"LOSE": 1, "DRAW": 2, "TIE": 3, "WIN": 4}
        assert sum(file["legend"]["positions"]) == file.attrs["positions"] == 5478
        for name, dataset in file.items():
            assert dataset.attrs["description"] and dataset.attrs["unit"], name
            assert (dataset.id.get_create_plist().get_nfilters() == 0) == (name in ("legend", "tiers", "blocks"))
