"""Caches the digests of the installed games on disk: it takes a tenth of a second to find what rules reach.

A file in `__pycache__` has the digests, with a hash of the sources of all installed games and of the Python version. So
after an edit of any of these files, all digests are computed again.
"""

import json
import os
import re
import sys
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from importlib.util import cache_from_source
from pathlib import Path
from secrets import token_hex
from typing import Any

from retrograde.games.contract.snapshot import KEPT

GAMES = Path(__file__).resolve().parents[1]
FILE = Path(cache_from_source(__file__)).with_suffix(".json")
"""Where Python keeps the bytecode of this module."""
DIGEST = re.compile("[0-9a-f]{32}")


def cached_digest(cls: type, kind: str, compute: Callable[[], str]) -> str:
    """Return a *kind* of digest of a class of rules. It is computed if it is not on file, or if the class is not of an
    installed game."""
    if not is_installed(cls):
        return compute()
    sources_hash, name = hash_of_sources(), f"{cls.__module__}.{cls.__qualname__} {kind}"
    digests = read(FILE, sources_hash)
    if name not in digests:
        digests[name] = compute()
        if hash_of_sources() == sources_hash:  # no file was edited meanwhile
            write(FILE, sources_hash, digests)
    return digests[name]


def is_installed(cls: type) -> bool:
    """Return whether a class is one that a module of this package defines."""
    module = sys.modules.get(cls.__module__)
    file = Path(getattr(module, "__file__", None) or os.devnull).resolve()
    return GAMES in file.parents and getattr(module, cls.__qualname__, None) is cls


def hash_of_sources() -> str:
    """Return a hash of the sources of all installed games, and of the Python version. Sources that were read before
    count as they were then."""
    imported = {
        str(module.__file__): vars(module)[KEPT]
        for name, module in list(sys.modules.items())
        if name.startswith("retrograde.games") and KEPT in vars(module)
    }
    digest = sha256(sys.version.encode())
    for file in sorted(GAMES.rglob("*.py")):
        source = imported.get(str(file)) or file.read_bytes()
        digest.update(f"{file.relative_to(GAMES).as_posix()} {len(source)}\n".encode() + source)
    return digest.hexdigest()


def read(file: Path, sources_hash: str) -> dict[str, str]:
    """Return the digests in a file; none if it was written for other sources, or cannot be read."""
    with suppress(OSError, ValueError, RecursionError):
        content: Any = json.loads(file.read_text("utf-8"))
        if isinstance(content, dict) and content.get("sources") == sources_hash:
            digests = content.get("digests")
            if isinstance(digests, dict) and all(DIGEST.fullmatch(str(digest)) for digest in digests.values()):
                return digests
    return {}


def write(file: Path, sources_hash: str, digests: dict[str, str]) -> None:
    """Write a file of digests, if Python may write bytecode there."""
    if sys.dont_write_bytecode:
        return
    new = file.with_name(f"{file.name}.{os.getpid()}-{token_hex(4)}")
    try:
        new.write_text(json.dumps({"sources": sources_hash, "digests": digests}, indent=1), "utf-8")
        os.replace(new, file)
    except OSError:
        with suppress(OSError):
            new.unlink(missing_ok=True)
