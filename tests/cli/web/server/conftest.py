"""What the tests of the server share: a folder of databases, and a client of a server of them."""

import pytest

from tests.helpers.serving import SERVED, client_of, fill


@pytest.fixture
def home(solved, tmp_path, monkeypatch):
    """A folder of databases, which is the usual one."""
    folder = tmp_path / "home"
    folder.mkdir()
    fill(folder, solved, SERVED)
    monkeypatch.setenv("RETROGRADE_HOME", str(folder))
    return folder


@pytest.fixture
def client(home):
    return client_of()
