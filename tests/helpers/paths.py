"""Where the project and the data of its tests are."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
"""The folder of the project."""
