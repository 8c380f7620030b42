"""What all tests share: databases, each solved once."""

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from retrograde.databases import database_path
from retrograde.games.catalog import load_game, variant
from retrograde.solver import engine
from retrograde.solver.engine import solve


@pytest.fixture(scope="session", autouse=True)
def own_configuration(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep the record of rule files that were solved with out of the person's own."""
    folder = str(tmp_path_factory.mktemp("configuration"))
    with pytest.MonkeyPatch.context() as patch:
        for name in ("XDG_CONFIG_HOME", "APPDATA"):
            patch.setenv(name, folder)
        yield


@pytest.fixture(scope="session")
def solved(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return a function from the text of a variant to the path of its database, which is made when first asked for."""
    home = tmp_path_factory.mktemp("databases")

    @cache
    def path_of(text: str) -> Path:
        game = load_game(text)
        return solve(game, database_path(variant(game), home))

    return path_of


@pytest.fixture
def solver_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let broken rules come to the solver, which is to find them itself: nothing looks at them before and after."""
    for name in ("refuse_broken", "verify_sample"):
        monkeypatch.setattr(engine, name, lambda *_: None)
