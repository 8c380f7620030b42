"""A server of the L-game for tests of the page: it takes long to solve, and most of these tests do without it."""

import pytest

from tests.helpers.serving import Server, fill


@pytest.fixture(scope="module")
def lgame_url(solved, tmp_path_factory):
    """Return the address of a server whose folder has the L-game, and no other database."""
    server = Server(fill(tmp_path_factory.mktemp("lgame"), solved, ["lgame"]))
    yield server.url
    server.stop()
