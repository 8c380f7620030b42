"""Small files of facts as JSON, such as fitted weights and books of estimates."""

import json
from pathlib import Path
from typing import Any

from retrograde.databases.durable import make_folder, sync_folder
from retrograde.databases.errors import CannotWrite


def read_facts(path: Path) -> dict[str, Any]:
    """Return the facts in a file; raise OSError if it cannot be read, ValueError if it is not an object of JSON."""
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
    except RecursionError as error:
        raise ValueError("brackets are nested too deeply") from error
    if not isinstance(facts, dict):
        raise ValueError("it is not an object of JSON")
    return facts


def write_facts(path: Path, facts: dict[str, Any], option: str) -> None:
    """Write a file of facts, whole or not at all. Raise CannotWrite, with the *option* that names another file."""
    part = path.with_name(path.name + ".part")
    try:
        make_folder(path.parent)
        part.write_text(json.dumps(facts, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        part.replace(path)
        sync_folder(path.parent)
    except OSError as error:
        raise CannotWrite(f"cannot write {str(path)!r}: {error.strerror}; name another file with {option}") from error
