"""Finds the packages, and makes the long description: what pyproject.toml cannot say. All else stands there.

The packages are folders at the top level that install as `retrograde.*`, and all packages below them; `packages.find`
in pyproject.toml cannot put a name before those it finds. The long description is README.md with absolute links, since
where it is shown on its own, relative ones lead nowhere.
"""

import re
import tomllib
from pathlib import Path

from setuptools import find_packages, setup

ROOT = Path(__file__).parent
FOLDERS = ("games", "databases", "solver", "cli")
RELATIVE = re.compile(r"(!?)(\[[^][]*\])\((?!https?:|#)([^)]+)\)")
"""A link to a file of the project: whether it is a picture, its text, its target."""


def absolute(readme: str, repository: str) -> str:
    """Return README.md with links that lead to the repository, those of pictures to the files as they are."""

    def link(match: re.Match[str]) -> str:
        picture, text, target = match.groups()
        return f"{picture}{text}({repository}/{'raw' if picture else 'blob'}/main/{target})"

    return RELATIVE.sub(link, readme)


found = find_packages(include=[pattern for folder in FOLDERS for pattern in (folder, f"{folder}.*")])
urls = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]
setup(
    packages=["retrograde", *(f"retrograde.{name}" for name in found)],
    long_description=absolute((ROOT / "README.md").read_text(encoding="utf-8"), urls["Repository"]),
    long_description_content_type="text/markdown",
)
