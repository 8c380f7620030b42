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

MADE_WITH = "retrograde 0.2.0, zstd 1.5.7, HDF5 2.0.0, h5py 3.16.0"

PINNED = {
    # variant and how it is solved: digest of what is in the file, digest of the file
    ("tictactoe", "interpreted"): (
        "897af7d75af0fedc2488118ef47496d637ad0c080c2e4b3d00ce1fab53a7e055",
        "13acbd2515571f500a513ddacd33ee34c9caad7e10acc95e5e1ec84dcc3f11d8",
    ),
    ("tentozero", "interpreted"): (
        "e633e8f21f51b8c041eaa58024f4fbf99904f1d64e4f1799725b01513582a01c",
        "77a5e466c5413057ee4e1743bd61e89a8f17298577eb55abab49fa5a36ed3d37",
    ),
    ("mutorere", "compiled"): (
        "940c2c2c59eadb9520adf3df5b0c90a6f8408ded38ec7715d1f72f65eef21638",
        "f8acffbc357a6f4a7a362d97c12d11bec8172dbf242a23555a46584838b4a71d",
    ),
    ("dodgem", "compiled"): (
        "c22bfa49e4bbd026865cce34c46f83203f43787aa23e59cf4a97d799e27860a2",
        "3becd9ce9d7c4759de134d0b889c41bb50f7bb0145a59a4b57b636ad29f990e7",
    ),
    ("lgame", "compiled"): (
        "40b67990707d1459f26cee8d25f2e70d021708ef4eb14263364980eca7f242dc",
        "5463034d0037c01ed45066b9dd513317694c682c36fffe0a000172e22189e709",
    ),
    ("hareandhounds", "compiled"): (
        "2982c86e51d710753c88866dbac68b9ca548ec1aa7364cdbb9980a43a3cf2708",
        "16fa0a99599321ed2d35e0ba5e4d8402b2a1b3dc19b9daf6c0013c98081d67e2",
    ),
    ("connect4:4,4", "compiled"): (
        "582a662d0ee13b8705ce65955372c41c7426d208e49ae37a1b4452d70722c266",
        "1acfd640ce5fd25dd206f8256d806b50ed08d8cadb4c2d163b5b300333645117",
    ),
    ("connect4:5,3", "compiled"): (
        "3f69952e83025925ca9bfa201c88ccec66c7a631facddd5b573205bbe66e0203",
        "bb88db3b1ca28d779622779a2567eb8f9215893ba5ab80ef410ab92e98510200",
    ),
    ("connect4:4,3,3", "streamed"): (
        "23a7c54b7afaa29375da033c7f7451f65c061c922dae283b1b9756c7028cc1a1",
        "ac531e29cb9bd7bed08a0f7f52b8ebd3967dbe767ee2cd2808635f52f2a78b98",
    ),
    ("connect4:4,4", "streamed"): (
        "20841aeb5f47a0d2d2ecf64e6f357c78271816f733febc8eaa4db944c072d4ec",
        "514c4ee730e2cd7afc9daa2dfb5d721f74db16c2139688e179ad326188e91bf0",
    ),
    ("chess:KQK", "numbered"): (
        "69b09cc5e096897438beb62df9e5610c922ac6cfeeb943fa0b1bb377bbb79d92",
        "385e797a550103fbfd150d44f2db1d6f3dfe7169b338152e266919a3b188da7f",
    ),
    ("chess:KPK", "numbered"): (
        "0193c4f6bcc9b0223508b5902b2cd33576c4bac831b44f7acb9bbd293ef9386a",
        "596c4a9e94f693c3f7992bdaeba23db136a7973942f28e90db70e9c9c359f749",
    ),
    ("chess:KK", "interpreted"): (
        "64269b728e48c0f0ffbc0cf877d63b566acb36f52a0af08fd5447faa1d0455f9",
        "ae0dec253ea516c4e292c49269dc2822df3ccffa6b5479159f395ecb7a00bc20",
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
    plain = dataset.get_create_plist().get_nfilters() == 0
    return b"".join(frame if plain else zstandard.ZstdDecompressor().decompress(frame) for frame in frames)


LARGER = {"dodgem", "lgame", "hareandhounds", "connect4:5,3"}
"""Variants that are solved as smaller ones are."""


@pytest.mark.parametrize(
    ("variant", "how"),
    [pytest.param(*each, marks=pytest.mark.thorough if each[0] in LARGER else ()) for each in PINNED],
)
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


COMPACT = "47f623b02d7906572832c421fb8515440d1eca34a03c9d6f5215dab1ccbdb519"
"""The digest of the compact file of KQK, made with the versions above: they decide the order of slots."""


@pytest.mark.long
def test_bytes_of_compact_files_are_what_they_were(solved, tmp_path):
    with open_database(solved("chess:KQK")) as database:
        path = make_compact(database, tmp_path / "compact.h5")
    with DatabaseFile(path) as file:
        made_with = file.made_with
    if made_with == MADE_WITH:
        assert sha256(path.read_bytes()).hexdigest() == COMPACT
