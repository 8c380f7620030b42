"""The server: a page for people, and JSON for programs, of databases that are only read.

    /                           the page; for who does not ask for HTML, GamesCrafters' list of games
    /<game>/<variant>/…         GamesCrafters' web API       (gamescrafters.py)
    /standard?fen=…             Lichess' tablebase API       (lichess.py)
    /api/…                      what the page asks for       (view.py)
    /openapi.json               what all of it takes and gives

All of it is answered by GET and HEAD, for the hosts in hosts.py only. GamesCrafters' and Lichess' APIs may be read by
pages from anywhere, the rest only by our own page (border.py). No request names a file, or code (library.py). Requests
are answered one after another, on one thread: each takes a few milliseconds at most.
"""

import logging
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

from fastapi import FastAPI, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from fastapi.staticfiles import StaticFiles
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from retrograde.cli.web import gamescrafters, lichess, view
from retrograde.cli.web.border import Border
from retrograde.cli.web.hosts import Hosts
from retrograde.cli.web.library import Library, Unavailable
from retrograde.databases import NoDatabase, NotADatabase, NotInDatabase, OtherRules, VersionTooNew
from retrograde.games import RetrogradeError, VariantError

STATIC = Path(__file__).parent / "static"
LONGEST_TEXT = 400

log = logging.getLogger(__name__)


def as_json(answer: BaseModel) -> Response:
    """Return an answer that is a model already, and need not be validated once more."""
    return Response(answer.model_dump_json(), media_type="application/json")


class Error(BaseModel):
    """Why there is no answer."""

    error: str


ERRORS: dict[int | str, dict[str, Any]] = {
    400: {"model": Error, "description": "the request makes no sense"},
    404: {"model": Error, "description": "there is no such game, variant or position here"},
    421: {"model": Error, "description": "the request is for another host"},
    422: {"model": Error, "description": "a parameter is missing or of the wrong kind"},
    500: {"model": Error, "description": "the server failed, or the rules of the game did"},
    503: {"model": Error, "description": "a database cannot be read at the moment"},
}

ERRORS_AS_JSON: dict[int | str, dict[str, Any]] = {
    status: {
        "description": about["description"],
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
    }
    for status, about in ERRORS.items()
}
"""For answers that are no JSON themselves."""

Text = Annotated[str, Query(max_length=LONGEST_TEXT)]


def make_app(variants: Sequence[str] = (), hosts: Hosts | None = None) -> FastAPI:
    """Return the server for the variants given, or for all that have databases; for the loopback's names by default."""
    library = Library(variants)
    app = FastAPI(
        title="retrograde", version=version("retrograde"), description=__doc__ or "", responses=ERRORS,
        docs_url=None, redoc_url=None,
    )  # fmt: skip
    app.state.library = library
    app.mount("/static", StaticFiles(directory=STATIC), "static")

    app.add_middleware(Border, hosts=hosts or Hosts())
    answer_errors(app)
    offer_page(app, library)
    offer_lichess(app, library)
    offer_gamescrafters(app, library)
    return app


def answer_errors(app: FastAPI) -> None:
    """Let errors be answered in one line of JSON."""

    @app.exception_handler(RetrogradeError)
    @app.exception_handler(OSError)
    async def explain(request: Request, error: Exception) -> JSONResponse:
        status = status_of(error)
        if status == 503 and not isinstance(error, Unavailable):  # found late; its words name folders of this machine
            log.error("no answer to %a: %a", str(request.url), str(error))
            return JSONResponse({"error": "a database cannot be read now; this server's own output says more"}, status)
        return JSONResponse({"error": str(error)}, status)

    @app.exception_handler(HTTPException)
    async def explain_path(request: Request, error: HTTPException) -> JSONResponse:
        headers = {"Allow": "GET, HEAD"} if error.status_code == 405 else error.headers
        return JSONResponse({"error": str(error.detail).lower()}, error.status_code, headers)

    @app.exception_handler(RequestValidationError)
    async def explain_parameters(request: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        return JSONResponse({"error": f"{first['loc'][-1]}: {first['msg'].lower()}"}, 422)


def offer_page(app: FastAPI, library: Library) -> None:
    """Offer the page, and what it asks for."""

    @app.get("/", response_model=list[gamescrafters.GameEntry])
    async def games(request: Request) -> Any:
        """The page, or where HTML is not asked for, the list of games."""
        if "text/html" in request.headers.get("accept", ""):
            return FileResponse(STATIC / "index.html")
        return gamescrafters.games(library)

    @app.get("/api/variants")
    async def variants_served() -> list[view.Variant]:
        """All variants that are served."""
        return [view.variant(facts) for facts in library.all()]

    @app.get("/api/position", response_model=view.Position)
    async def position(
        variant: str, position: Text | None = None, last: Text | None = None, line: bool = False
    ) -> Response:
        """A position with its picture and its moves; the start if none is given, or one by chance, `random`.

        *last* are the places that the last move touched, by their numbers, joined by commas: they are marked.
        """
        solution = library.solution(variant)
        return as_json(view.position(solution, view.place_of(solution, position), last, line))

    @app.get("/api/reply")
    async def reply(
        variant: str, position: Text, skill: Annotated[float, Query(ge=0, le=1)] = 1.0, seed: int | None = None
    ) -> view.Reply:
        """The move of a player, who is perfect as often as *skill* says."""
        solution = library.solution(variant)
        return view.reply(solution, view.place_of(solution, position), skill, seed)

    @app.get("/api/board")
    async def board(variant: str) -> view.BoardParts:
        """What positions are set up with: the men, the players, the empty board and the start."""
        return view.parts(library.solution(variant))

    @app.get("/api/setup")
    async def set_up(variant: str, pieces: Text, turn: Text = "") -> view.SetUp:
        """The position that looks like this: *pieces* has a sign for each place, *turn* is that of who is to move."""
        return view.set_up(library.solution(variant), pieces, turn)

    @app.get("/api/counts")
    async def counts(variant: str) -> list[view.Count]:
        """How many positions there are of each value and remoteness."""
        return view.counts(library.solution(variant))


def offer_lichess(app: FastAPI, library: Library) -> None:
    """Offer Lichess' tablebase API."""

    @app.get("/standard", response_model=lichess.Answer)
    async def standard(fen: Text) -> Response:
        """What is known of a position of chess, as Lichess' tablebase tells it."""
        return as_json(lichess.standard(library, fen))


def offer_gamescrafters(app: FastAPI, library: Library) -> None:
    """Offer GamesCrafters' web API."""

    @app.get("/{game}/")
    async def game(game: str) -> gamescrafters.GameAnswer:
        """A game and its variants."""
        answer = gamescrafters.game(library, game)
        if answer is None:
            raise NoDatabase(f"no variant of {game!r} is served here")
        return answer

    @app.get("/{game}/{variant}/")
    async def variant_about(game: str, variant: str) -> gamescrafters.VariantAnswer:
        """A variant and its start."""
        return gamescrafters.variant(library.solution(gamescrafters.variant_text(game, variant)))

    @app.get("/{game}/{variant}/positions/", response_model=gamescrafters.PositionAnswer)
    async def variant_position(game: str, variant: str, p: Text) -> Response:
        """A position and its moves."""
        solution = library.solution(gamescrafters.variant_text(game, variant))
        return as_json(gamescrafters.position(solution, view.place_of(solution, p)))

    @app.get("/{game}/{variant}/instructions/", response_class=PlainTextResponse, responses=ERRORS_AS_JSON)
    async def variant_instructions(game: str, variant: str) -> str:
        """How the game is played, as Markdown."""
        return gamescrafters.instructions(library.solution(gamescrafters.variant_text(game, variant)))


def status_of(error: Exception) -> int:
    """Return the status that an error is answered with.

    >>> [status_of(error) for error in (NoDatabase(""), RetrogradeError(""), Unavailable(""), OSError(""))]
    [404, 400, 503, 503]
    """
    if isinstance(error, NoDatabase | NotInDatabase | VariantError):
        return 404
    return 503 if isinstance(error, Unavailable | OSError | NotADatabase | OtherRules | VersionTooNew) else 400
