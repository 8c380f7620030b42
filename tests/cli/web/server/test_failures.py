"""Damage found late, disks that fail, and the unforeseen: one line each, and all else is served as before."""

import pytest

pytest.importorskip("fastapi")

from retrograde.cli.web import view
from retrograde.databases import DamagedDatabase, database_path
from retrograde.databases.records.read import RecordsReader
from retrograde.games.catalog import load_game
from retrograde.solver.engine import solve
from tests.helpers.marks import thorough
from tests.helpers.serving import FEN, damage, get, served
from tests.helpers.solving import in_one_file

pytestmark = pytest.mark.long


def test_damage_found_late(home, client):
    damage(database_path("chess:KRK", home), "slots")
    assert "chess:KRK" in served(client)
    for path in (f"/api/position?variant=chess:KRK&position={FEN}", f"/chess/KRK/positions/?p={FEN}",
                 f"/standard?fen={FEN}"):  # fmt: skip
        error = get(client, path, 503)["error"]
        assert "cannot be read now" in error and home.name not in error
    assert get(client, "/api/position", variant="tictactoe")["value"] == "tie"


def test_another_database_has_the_ending_as_well(home, client):
    with in_one_file():
        whole = solve(load_game("chess:KPK"), home / "chess,KPK.h5").read_bytes()  # with what a pawn may become
    damage(home / "chess,KPK.h5", "slots")
    assert get(client, "/standard", fen=FEN)["dtm"] == -32
    database_path("chess:KRK", home).unlink()
    get(client, "/standard", 503, fen=FEN)
    pawn = "8/8/8/3k4/8/8/4P3/K7 w"
    get(client, "/standard", 503, fen=pawn)
    (home / "chess,KPK.h5").write_bytes(whole)
    assert get(client, "/standard", fen=pawn)["category"] in ("win", "draw")


@pytest.mark.parametrize("error", [OSError(5, "Input/output error"), DamagedDatabase("/home/alice/x.h5 is damaged")])
def test_an_error_of_the_disk(client, monkeypatch, error):
    def fail(*_):
        raise error

    monkeypatch.setattr(RecordsReader, "read_block", fail)
    answer = get(client, "/api/position", 503, variant="tictactoe")
    assert "cannot be read now" in answer["error"] and "alice" not in answer["error"]


@pytest.mark.parametrize(
    "error", [RuntimeError("secret"), ValueError("secret"), thorough(MemoryError()), SystemExit(3)]
)
def test_the_unforeseen_is_one_line(client, monkeypatch, caplog, error):
    def fail(*_):
        raise error

    monkeypatch.setattr(view, "show_position", fail)
    response = client.get("/api/position", params={"variant": "tictactoe"})
    assert (response.status_code, response.headers["content-type"]) == (500, "application/json")
    assert list(response.json()) == ["error"] and type(error).__name__ in response.json()["error"]
    assert "secret" not in response.text and "Traceback" not in response.text
    assert "Traceback" in caplog.text  # for who runs the server
    assert response.headers["x-content-type-options"] == "nosniff"


def test_what_is_told_to_who_runs_the_server_moves_no_cursor(client, monkeypatch, caplog):
    def fail(*_):
        raise RuntimeError("a\x1b[2Jb")

    monkeypatch.setattr(view, "show_position", fail)
    get(client, "/api/position", 500, variant="tictactoe\x1b"[:-1])
    assert "\\x1b[2J" in caplog.text and "\x1b" not in caplog.text
