"""Finds the packages: folders at the top level that install as `retrograde.*`, and all packages below them.

`packages.find` in pyproject.toml cannot put a name before those it finds. All else stands there.
"""

from setuptools import find_packages, setup

FOLDERS = ("games", "databases", "solver", "cli")
found = find_packages(include=[pattern for folder in FOLDERS for pattern in (folder, f"{folder}.*")])
setup(packages=["retrograde", *(f"retrograde.{name}" for name in found)])
