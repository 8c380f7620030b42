"""The bytes of databases, pinned: whatever is moved or made quicker in the solver, the files stay what they are.

What is in a file is pinned by one digest, and the file by another, which holds only for the versions of zstd, HDF5 and
h5py that it was made with. A change that means to change bytes changes the numbers here, and says so in CHANGELOG.md.
"""

from hashlib import sha256

import pytest
import zstandard

from retrograde.databases import DatabaseFile, open_database
from retrograde.games.catalog import load_game
from retrograde.solver.engine import solve
from retrograde.solver.methods.numbered.compact.write import make_compact
from retrograde.solver.runtime.sizes import Sizes

MADE_WITH = "retrograde 0.1.0, zstd 1.5.7, HDF5 2.0.0, h5py 3.16.0"

PINNED = {
    # variant and how it is solved: digest of what is in the file, digest of the file
    ("tictactoe", "interpreted"): (
        "c3fe6bf83e94c3b85545dd3ef3aff55a538c590a5b5858ecfc2422d2602a8fa3",
        "702b6745c42b51fb3fb032561a78b5932734cedf1b98a9ec1fe6c937f5dd81fd",
    ),
    ("tentozero", "interpreted"): (
        "223875796f54a84fc071fb53faf33892147ba1d6522b3b392b67f4e0aabdabfe",
        "0f0b9da051d7bbb55c5d52c14a700647d19d05d85597820730bd4d01c05a27cf",
    ),
    ("mutorere", "compiled"): (
        "fc24d0db5d45225ea81cf80e469840ccc2e8c4076ef5b7a5f0b013b7542c4abf",
        "b8f831b38695f2213b60bbdf7692277b2bfabde92c1afa20e6324247f8a81fd2",
    ),
    ("dodgem", "compiled"): (
        "85ac96db46a31c34a363d8628cc01d086208855f1ff37a04d29c1fa292fa1f8b",
        "4d80c610cb7c23f03fba7fd6b4ad12f982c03f412385d8551dce25f1107d9693",
    ),
    ("lgame", "compiled"): (
        "7ae1c5ec3d4a7e64a80b2ce61bc58d927c18d76a7f14d55f95aebd9442376219",
        "6b3bb4654a7cb478f6f7e802f43fe95b8b7b5d780ab7ef734c13290826a02e20",
    ),
    ("hareandhounds", "compiled"): (
        "5312f03dcce5e274e8a22a8491b492461ddcd559164298ef3f6ebfc83c6e82ca",
        "68de4d2b6b961b448aaecdb12edb5d3507f405482b3d02cbbe3090e409cf02c5",
    ),
    ("connect4:4,4", "compiled"): (
        "ee7bc288144b1926a40c2b8871eb9af4e300037619e989c5245b7dafbd793a95",
        "4ca76cac7a68409541e6de4d14a809f7f31ed6180c740b6454ee575280b10921",
    ),
    ("connect4:5,3", "compiled"): (
        "1b141a92558f8bc1dc5d8781cf65b1d77f7255ff7313f370d7afa8ff0c82b8aa",
        "629a0ee4c353abf202359074838edc0a6911d313ffd605b4d0322f8c7c458510",
    ),
    ("connect4:4,3,3", "streamed"): (
        "60765c3d89be57c9fcb6120f10682660b4f85b608d3e6ff1fb130734136236ae",
        "5d1e3d95b8d89f18dd0f136337edc05f9ae2a8a8526a5d96cea6924d514c9f9f",
    ),
    ("connect4:4,4", "streamed"): (
        "b6f7f441ec17809192cb8a383a44b724653c5cb5934b6de8050e30cfa64f997a",
        "b1083c801182b2b67a005cc73317e56704de8f7e15e1c9138b544c511d31fcc8",
    ),
    ("chess:KQK", "numbered"): (
        "cd5768f6ae3543d3276c536adef75629dbf5ba18bb3cb960983df54e5b7771a2",
        "44db72f1d0ef023f1534bd9d83e79ef0235ef0f4215b03fc82cca62d67aa934a",
    ),
    ("chess:KPK", "numbered"): (
        "36e0f0e6123f9045444191bf8a3ab47f432b01196f15122819fdead62d45a277",
        "54c0c966fd3c63869d46ac99c70666accff6f80fe9565a199e22215bbe49b069",
    ),
    ("chess:KK", "interpreted"): (
        "152798dacd9aab70f0d57a95716089d9e4794d9ebc0e1e5221ac6194b792604f",
        "d73cd57c3c2ec0808600ad2afae31c12361b68037f39a4f5a17687e77a121a8c",
    ),
}


def contents_of(path):
    """Return a digest of what is in a file: what it says about itself, but for versions and digests, and its frames,
    not compressed."""
    with DatabaseFile(path) as file:
        about = {name: value for name, value in file.attributes.items() if name not in ("made_with", "digest")}
        digest = sha256(repr(sorted(about.items())).encode())
        for name in sorted(file._datasets):
            digest.update(name.encode() + decoded(file, name))
    return digest.hexdigest()


def decoded(file, name):
    """Return the contents of all frames of a dataset."""
    dataset = file._datasets[name]
    (length,), (chunk,) = dataset.get_space().get_simple_extent_dims(), dataset.get_create_plist().get_chunk()
    frames = (dataset.read_direct_chunk((first,))[1] for first in range(0, length, chunk))
    return b"".join(zstandard.ZstdDecompressor().decompress(frame) for frame in frames)


@pytest.mark.parametrize(("variant", "how"), PINNED)
def test_bytes_are_what_they_were(variant, how, tmp_path):
    contents, whole = PINNED[variant, how]
    sizes = Sizes(in_memory=1) if how == "streamed" else Sizes()
    way = "interpreted" if how == "interpreted" else "compiled"
    path = solve(load_game(variant), tmp_path / "database.h5", method=way, sizes=sizes)
    assert contents_of(path) == contents
    with DatabaseFile(path) as file:
        made_with = file.made_with
    if made_with == MADE_WITH:
        assert sha256(path.read_bytes()).hexdigest() == whole


COMPACT = "8177eabd8eab19829a73a3affb747634d8e8a7b9431b60b0c29c07c802807f88"
"""The digest of the compact file of KQK, made with the versions above: they decide the order of slots."""


@pytest.mark.long
def test_bytes_of_compact_files_are_what_they_were(solved, tmp_path):
    with open_database(solved("chess:KQK")) as database:
        path = make_compact(database, tmp_path / "compact.h5")
    with DatabaseFile(path) as file:
        made_with = file.made_with
    if made_with == MADE_WITH:
        assert sha256(path.read_bytes()).hexdigest() == COMPACT
