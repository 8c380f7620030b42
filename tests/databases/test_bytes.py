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
        "897af7d75af0fedc2488118ef47496d637ad0c080c2e4b3d00ce1fab53a7e055",
        "0162636720046ec4ecb9794e2da0c4c3b6f72ca4aff8fd9a758952ad394c3321",
    ),
    ("tentozero", "interpreted"): (
        "e633e8f21f51b8c041eaa58024f4fbf99904f1d64e4f1799725b01513582a01c",
        "b839114c387a4fbb169580c001569984992db31d8aaf825ae574a7ca5237c5da",
    ),
    ("mutorere", "compiled"): (
        "940c2c2c59eadb9520adf3df5b0c90a6f8408ded38ec7715d1f72f65eef21638",
        "565b5518596e736eea68051b6381541b6c63b23e04b039adbc7c942c1e1953ac",
    ),
    ("dodgem", "compiled"): (
        "80dd57e25176d20f5546907189d43402c1cda6fec44241f0ada6e07d72e6ae4b",
        "611329dba85205fe0b3ed5a9e99a30c4c86ec2e359fc55f772835585a7601e88",
    ),
    ("lgame", "compiled"): (
        "40b67990707d1459f26cee8d25f2e70d021708ef4eb14263364980eca7f242dc",
        "ce2f37ef9673bb64ad2bf3491e733eaede97469ca56d8a1f7c4f759b1fe6f332",
    ),
    ("hareandhounds", "compiled"): (
        "c35dc6c1e119f44ff6452cc5c54d4b61139958728c04146a98f82dc89b395ec1",
        "0b39c11f87e28b16a62285d46d70448b19b43b731efca62d22f4b44ed5854860",
    ),
    ("connect4:4,4", "compiled"): (
        "8468ce82115214d2b709ab05b01af4be7f4da0cd0489fb4a4ac1ade76342e1bb",
        "4f3d278304f5d11fe93ae41dee7762869d0ca750fce6941aa29e1417feb66a5d",
    ),
    ("connect4:5,3", "compiled"): (
        "3f69952e83025925ca9bfa201c88ccec66c7a631facddd5b573205bbe66e0203",
        "41c6294e484ba37f801c06e6c9bf87bfaa1d5f2b8f87964426d11ceddf7c6742",
    ),
    ("connect4:4,3,3", "streamed"): (
        "a9dfaf11c9a76f9e8e9e47c1b6103d438b73c4d8a9fe692774f3a351c6871614",
        "103edb1091c1e1227f1bfdf68f4cd22604ca086c711ea6b0304e23606f56f45f",
    ),
    ("connect4:4,4", "streamed"): (
        "4bd59e812582270a2942d0a76134b4df4b5a2a456979d0718df4f1dc95f5d526",
        "f4819debf56c36dbcfc1d1221df5212ea35d6150190e6c0f72848087327ef5d9",
    ),
    ("chess:KQK", "numbered"): (
        "965e8a9e242cab1ea5164884fcfcf735bcbf66121615ba3fd4ab881062ca7760",
        "b0b9e9f6ab869815b4cd619687195d9d407f2d17ff61d6d9f952b2f1813d5818",
    ),
    ("chess:KPK", "numbered"): (
        "a2ae335ea9c292edb6907f114c61100d1f419fa4df779236d2495dbc1efbc0e6",
        "c5cd31a5e5a5fdcccd0cabd9cfbeee52016ad22b09b7e89b4681a0865403613f",
    ),
    ("chess:KK", "interpreted"): (
        "5ceb08206f6236a1eaaa08af36b0c19d9c1946cd211593c7519f8e8937b22b0b",
        "c748cc598f5d6dd7a1bedda58e8ecd04bc98f1de4b7f042d8c63a870b30532fb",
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


LARGER = {"dodgem", "hareandhounds", "connect4:5,3"}
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


COMPACT = "67947c24360e608ecfd2e1d6cdeedf60cb84b981362271283486cc8795131fda"
"""The digest of the compact file of KQK, made with the versions above: they decide the order of slots."""


@pytest.mark.long
def test_bytes_of_compact_files_are_what_they_were(solved, tmp_path):
    with open_database(solved("chess:KQK")) as database:
        path = make_compact(database, tmp_path / "compact.h5")
    with DatabaseFile(path) as file:
        made_with = file.made_with
    if made_with == MADE_WITH:
        assert sha256(path.read_bytes()).hexdigest() == COMPACT
