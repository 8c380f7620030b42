"""The rule files that a user has solved games with. A database's name may lead to no other rule files.

A database says which variant it holds, but its author may have written anything there. So that name alone never leads
to a file. Rules come from the installed games, from a path in the command, or from this record. The
record is in the user's own configuration, not beside the databases, which other people may write to::

    {"heap": [{"file": "/home/ada/heap.py", "digests": {"/home/ada/heap.py": "5f2c…", "/home/ada/piles.py": "90aa…"},
               "rules": ["71be…", "c08d…"]}]}

A rule file counts only while it, and all files that it imports from its folder, are byte for byte the same. Then it
imports nothing else from that folder. *rules* are the digests of its rules, whenever a game was solved with it.

Programs that define a game and solve it are on record as `program:heap`. They are never imported, because that would
run them; the record serves to name them.
"""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from retrograde.games.identity.folders import NoHome, config_folder

MOST_BYTES = 1 << 20
"""The record is never longer; a longer file is not ours."""
MOST_FILES = 8
"""The number of rule files remembered for one name. The oldest is forgotten first."""
MOST_RULES = 32
"""The number of digests of rules remembered for one file."""

Entry = dict[str, Any]


def record_path() -> Path:
    """Return the path of the record, whether or not it exists; raise NoHome if there is no home folder."""
    return config_folder() / "rules.json"


def remember(name: str, sources: Mapping[Path, bytes], rules: str) -> None:
    """Record the files of a game's rules and their contents, the rule module first, if that can be written.

    *rules* is the digest of the rules.
    """
    digests = {str(path.resolve()): sha256(source).hexdigest() for path, source in sources.items()}
    file = next(iter(digests))
    record = read_record()
    others = [other for other in record.get(name, []) if other["file"] != file]
    earlier = [one for other in record.get(name, []) if other["file"] == file for one in other.get("rules", [])]
    known = [one for one in earlier if one != rules]
    entry = {"file": file, "digests": digests, "rules": [*known, rules][-MOST_RULES:]}
    if record.get(name) == [*others, entry]:
        return
    record[name] = [*others, entry][-MOST_FILES:]
    with suppress(OSError, NoHome):
        path = record_path()
        new = path.with_name(f"{path.name}.{os.getpid()}")
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with new.open("w", encoding="utf-8") as stream:
                stream.write(json.dumps(record, indent=1))
                stream.flush()
                os.fsync(stream.fileno())  # a power cut must not leave an empty record
            os.replace(new, path)
        finally:
            new.unlink(missing_ok=True)


def trusted_files(name: str) -> Iterator[tuple[Path, set[Path]]]:
    """Yield the rule modules of that name that have not changed, the latest first, each with all its files."""
    for entry in reversed(read_record().get(name, [])):
        with suppress(OSError):
            if all(sha256(Path(path).read_bytes()).hexdigest() == digest for path, digest in entry["digests"].items()):
                yield Path(entry["file"]), set(map(Path, entry["digests"]))


def read_record() -> dict[str, list[Entry]]:
    """Return the record; an empty one if there is none, or if other users could have written it."""
    try:
        with open(record_path(), "rb") as stream:
            status = os.fstat(stream.fileno())
            if os.name == "posix" and (status.st_uid != os.geteuid() or status.st_mode & 0o022):  # others can write it
                return {}
            record = json.loads(stream.read(MOST_BYTES))
        return record if is_record(record) else {}
    except (OSError, ValueError, RecursionError, NoHome):
        return {}


def is_record(record: Any) -> bool:
    """Return whether parsed JSON has the form of a record."""
    return isinstance(record, dict) and all(
        isinstance(entry, dict)
        and isinstance(digests := entry.get("digests"), dict)
        and all(isinstance(text, str) for pair in digests.items() for text in pair)
        and entry.get("file") in digests
        and isinstance(rules := entry.get("rules", []), list)
        and all(isinstance(text, str) for text in rules)
        for entries in record.values()
        for entry in (entries if isinstance(entries, list) else [None])
    )
