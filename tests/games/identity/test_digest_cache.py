"""Digests of installed games on disk: they count for the sources that they were made of, and for no others."""

import json
import sys

import pytest

from retrograde.games.catalog import NAMES, load_game
from retrograde.games.identity import digest, digest_cache
from retrograde.games.identity.digest_cache import cached_digest, hash_of_sources, is_installed
from retrograde.games.tictactoe import TicTacToe

OURS, FORGED = "0" * 31 + "1", "0" * 31 + "2"


class Derived(TicTacToe):
    """Rules that are not installed."""


@pytest.fixture(autouse=True)
def file(tmp_path, monkeypatch):
    """Use a file of our own."""
    monkeypatch.setattr(digest_cache, "FILE", tmp_path / "digests.json")
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    return tmp_path / "digests.json"


def computed_again():
    raise AssertionError("computed again")


def test_a_digest_is_computed_once(file):
    assert cached_digest(TicTacToe, "rules", lambda: OURS) == OURS
    assert cached_digest(TicTacToe, "rules", computed_again) == OURS
    assert cached_digest(TicTacToe, "other", lambda: FORGED) == FORGED
    assert [path.name for path in file.parent.iterdir()] == [file.name]


@pytest.mark.parametrize("name", sorted(NAMES.split())[::12])
def test_the_digest_on_disk_is_the_one_computed(name):
    cls = type(load_game(name))
    digest.class_digest.cache_clear()
    first = digest.rules_digest(cls)
    digest.class_digest.cache_clear()
    assert digest.rules_digest(cls) == first == digest.digest_of(digest.what_is_reached(cls))


@pytest.mark.parametrize("change", ["edit", "python", "sources", "digest", "list", "text", "brackets", "folder"])
def test_what_does_not_fit_is_computed_again(file, monkeypatch, change):
    cached_digest(TicTacToe, "rules", lambda: OURS)
    content = json.loads(file.read_text("utf-8"))
    if change == "edit":
        kept = vars(sys.modules[TicTacToe.__module__])
        monkeypatch.setitem(kept, digest_cache.KEPT, b"another source")
    elif change == "python":
        monkeypatch.setattr(sys, "version", "another")
    elif change == "folder":
        file.unlink()
        file.mkdir()
    else:
        content |= {"sources": {"sources": ""}, "digest": {"digests": {"a": "b"}}}.get(change, {})
        texts = {"list": "[]", "text": "{", "brackets": "[" * 100_000}
        file.write_text(texts.get(change, json.dumps(content)), "utf-8")
    assert cached_digest(TicTacToe, "rules", lambda: FORGED) == FORGED
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def test_nothing_is_written_if_a_source_changes_meanwhile(file, monkeypatch):
    def compute():
        monkeypatch.setitem(vars(sys.modules[TicTacToe.__module__]), digest_cache.KEPT, b"edited")
        return OURS

    assert cached_digest(TicTacToe, "rules", compute) == OURS
    assert not file.exists()


def test_nothing_is_written_if_python_writes_no_bytecode(file, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert cached_digest(TicTacToe, "rules", lambda: OURS) == OURS
    assert not file.exists()


def test_rules_that_are_not_installed_are_never_cached(file):
    assert not is_installed(Derived)
    assert cached_digest(Derived, "rules", lambda: OURS) == OURS
    assert cached_digest(Derived, "rules", lambda: FORGED) == FORGED
    assert not file.exists()


def test_all_sources_count():
    before = hash_of_sources()
    assert hash_of_sources() == before
    module = sys.modules["retrograde.games.contract.game"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(vars(module), digest_cache.KEPT, b"edited")
        assert hash_of_sources() != before
    assert hash_of_sources() == before
