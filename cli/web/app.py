"""The server: a page for people, and JSON for programs, from databases.

    /                           the page: the gallery, and with ?v=… a game; for clients that do not accept HTML,
                                GamesCrafters' list of games
    /<game>/<variant>/…         GamesCrafters' web API       (gamescrafters.py)
    /standard?fen=…             Lichess' tablebase API, /standard/mainline too (lichess.py)
    /api/…                      what the page requests       (view.py, gallery.py), in the forms of answers.py
    /openapi.json               the description of all of these

All answer GET and HEAD. Two requests of the page, to solve a game and to stop solving it (solves.py), are POST. The
server answers only for the hosts in hosts.py. Pages from anywhere may read the APIs of GamesCrafters and Lichess; only
our own page may read the rest (border.py). No request names a file or code (library.py).

Requests run in parallel on three kinds of threads, so that no request waits for a slow one of another kind: one thread
for everything that databases answer, a few milliseconds each; one for searches of games without a database; and others
for lists of variants and pictures, which need no open database.
"""

import logging
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

from fastapi import FastAPI, Header, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from fastapi.staticfiles import StaticFiles
from pydantic import BaseModel
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware

from retrograde.cli.web import answers, gallery, gamescrafters, lichess, view
from retrograde.cli.web.answers import answer_text
from retrograde.cli.web.border import Border
from retrograde.cli.web.hosts import Hosts
from retrograde.cli.web.library import SECONDS, Library, Unavailable
from retrograde.cli.web.metric_texts import count_at
from retrograde.cli.web.shelf import installed_games
from retrograde.cli.web.solves import Busy, NotSolvedHere, Solves
from retrograde.databases import NoDatabase, NotADatabase, NotInDatabase, OtherRules, UnreadableVersion
from retrograde.games import RetrogradeError, VariantError
from retrograde.solver.play.oracle import Oracle

STATIC = Path(__file__).parent / "static"
LONGEST_TEXT = 400
LARGE = 4 << 10
"""Answers of more bytes are compressed, if the client accepts that."""
COMPRESSION = 4
"""The level of gzip: higher levels take longer than they save on any line."""
LONGEST_GAME = 5000
"""The greatest length of the moves of a game, in characters."""

SOLVE, CANCEL = "/api/solve", "/api/cancel"
"""The requests that change something, and so are POST."""

log = logging.getLogger(__name__)


def as_json(answer: object, bare: bool = False) -> Response:
    """Return a model or a dataclass as an answer, without validating it again; with *bare*, without fields that are
    None."""
    text = answer.model_dump_json(exclude_none=bare) if isinstance(answer, BaseModel) else answer_text(answer)
    return Response(text, media_type="application/json")


class Error(BaseModel):
    """Why there is no answer."""

    error: str


ERRORS: dict[int | str, dict[str, Any]] = {
    400: {"model": Error, "description": "the request makes no sense"},
    403: {"model": Error, "description": "this server solves no games, or not for who asks"},
    404: {"model": Error, "description": "there is no such game, variant or position here"},
    409: {"model": Error, "description": "another game is being solved"},
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
"""Descriptions of errors for routes whose answers are not JSON."""

Text = Annotated[str, Query(max_length=LONGEST_TEXT)]
Moves = Annotated[str, Query(max_length=LONGEST_GAME)]
Count = Annotated[int, Query(ge=0, le=1_000_000)]
Token = Annotated[str | None, Header(alias="x-retrograde", max_length=100)]


def make_app(
    variants: Sequence[str] = (), hosts: Hosts | None = None, allow_solve: bool = False, seconds: float = SECONDS
) -> FastAPI:
    """Return the server for the variants given, or for all that have databases. Without *hosts*, it answers for the
    loopback's names.

    If other machines can reach it, it solves games, and searches those without a database, only if *allow_solve*.
    Variants that are given are always searched. A search takes *seconds*.
    """
    hosts = hosts or Hosts()
    may_compute = allow_solve or not hosts.are_open
    library = Library(variants, seconds, may_compute)
    solves = Solves(allowed=may_compute, shows_errors=not hosts.are_open)
    app = FastAPI(
        title="retrograde", version=version("retrograde"), description=__doc__ or "", responses=ERRORS,
        docs_url=None, redoc_url=None,
    )  # fmt: skip
    app.state.library, app.state.solves = library, solves
    app.mount("/static", StaticFiles(directory=STATIC), "static")

    app.add_middleware(GZipMiddleware, minimum_size=LARGE, compresslevel=COMPRESSION)
    app.add_middleware(Border, hosts=hosts)
    answer_errors(app)
    offer_page(app, library)
    offer_databases(app, library)
    offer_games(app, library)
    offer_gallery(app, library, solves)
    offer_lichess(app, library)
    offer_gamescrafters(app, library)
    return app


def answer_errors(app: FastAPI) -> None:
    """Answer errors with one line of JSON."""

    @app.exception_handler(RetrogradeError)
    @app.exception_handler(OSError)
    async def explain(request: Request, error: Exception) -> JSONResponse:
        status = status_of(error)
        if status == 503 and not isinstance(error, Unavailable):  # its message names folders of this machine
            log.error("no answer to %a: %a", str(request.url), str(error))
            return JSONResponse({"error": "a database cannot be read now; this server's own output says more"}, status)
        return JSONResponse({"error": str(error)}, status)

    @app.exception_handler(HTTPException)
    async def explain_path(request: Request, error: HTTPException) -> JSONResponse:
        allowed = "POST" if request.url.path in (SOLVE, CANCEL) else "GET, HEAD"
        headers = {"Allow": allowed} if error.status_code == 405 else error.headers
        return JSONResponse({"error": str(error.detail).lower()}, error.status_code, headers)

    @app.exception_handler(RequestValidationError)
    async def explain_parameters(request: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        return JSONResponse({"error": f"{first['loc'][-1]}: {first['msg'].lower()}"}, 422)


def offer_page(app: FastAPI, library: Library) -> None:
    """Add the routes of the page."""

    @app.get("/", response_model=list[gamescrafters.GameEntry])
    def games(request: Request) -> Any:
        """The page, or the list of games for clients that do not accept HTML."""
        if "text/html" in request.headers.get("accept", ""):
            return FileResponse(STATIC / ("index.html" if request.query_params.get("v") else "gallery.html"))
        return gamescrafters.games(library)

    @app.get("/api/variants")
    def variants_served() -> list[answers.Variant]:
        """All variants that are served."""
        return [view.variant(facts) for facts in library.all()]

    @app.get("/api/position", response_model=answers.Position)
    async def position(
        variant: str, position: Text | None = None, line: bool = False, search: bool = False,
        count: Count | None = None,
    ) -> Response:  # fmt: skip
        """A position with its picture and its moves; by default the start, or a random one for `random`.

        With *line*, the answer has best play. Without a database, it has what is known already; with *search*, what a
        search of some seconds finds. *count* is the number of plies without progress, if the position does not say it.
        It matters only if the result of a rule about them is known, such as the fifty-move rule of chess.
        """
        name = await library.answer(lambda: lichess.variant_at(library, variant, position))
        seconds = library.seconds if search else 0.0

        def answer(oracle: Oracle) -> answers.Position:
            start, plies = view.position_in(oracle, position), count_at(oracle, position, count)
            return view.show_position(oracle, start, line, seconds, plies)

        return as_json(await library.ask(name, answer))

    @app.get("/api/reply")
    async def reply(
        variant: str, position: Text, skill: Annotated[float, Query(ge=0, le=1)] = 1.0, seed: int | None = None,
        count: Count | None = None,
    ) -> answers.PlayerMove:  # fmt: skip
        """The move of a player who is perfect as often as *skill* says, or a random chance move."""

        def answer(oracle: Oracle) -> answers.PlayerMove:
            start, plies = view.position_in(oracle, position), count_at(oracle, position, count)
            return view.reply(oracle, start, skill, seed, plies)

        return await library.ask(variant, answer)

    @app.get("/api/board")
    async def board(variant: str) -> answers.BoardParts:
        """What positions are set up with: the pieces, the players, the empty board and the start."""
        return await library.ask(variant, view.parts)

    @app.get("/api/setup")
    async def set_up(variant: str, pieces: Text, turn: Text = "") -> answers.SetUp:
        """The position with these *pieces*, a sign for each place; *turn* is the sign of the player to move."""
        return await library.ask(variant, lambda oracle: view.set_up(oracle, pieces, turn))


def offer_databases(app: FastAPI, library: Library) -> None:
    """Add the routes of what is known of a whole database."""

    @app.get("/api/database")
    async def database(variant: str) -> answers.DatabaseAbout:
        """How many positions there are of each value and remoteness, and facts about the database's file."""
        return await library.ask(variant, view.database)

    @app.get("/api/download", response_class=FileResponse, responses=ERRORS_AS_JSON)
    async def download(variant: str) -> FileResponse:
        """The database of a variant, unchanged."""
        solution = await library.answer(lambda: library.solution(variant))
        path = solution.database.file.path
        whole = {"content-encoding": "identity"}  # a database is compressed already, and need not be again
        return FileResponse(path, filename=path.name, media_type="application/x-hdf5", headers=whole)


def offer_games(app: FastAPI, library: Library) -> None:
    """Add the routes for a whole game: its positions, the value of its moves, and its text."""

    @app.get("/api/game", response_model=answers.PlayedGame)
    async def game_played(variant: str, position: Text | None = None, moves: Moves = "") -> Response:
        """The positions of a game, from the start or a position, by the names of its moves, separated by commas."""
        name = await library.answer(lambda: lichess.variant_at(library, variant, position))
        text = "" if position == "random" else position or ""

        def answer(oracle: Oracle) -> answers.PlayedGame:
            start, plies = view.position_in(oracle, position), count_at(oracle, position, None)
            return view.show_game(oracle, start, view.moves_in(moves), text, plies)

        return as_json(await library.ask(name, answer))

    @app.get("/api/scorecard")
    async def scorecard(
        variant: str, position: Text, moves: Text, count: Count | None = None
    ) -> list[answers.MoveVerdict]:
        """What each of some moves from a position was worth, and what would have been better."""

        def answer(oracle: Oracle) -> list[answers.MoveVerdict]:
            start, plies = view.position_in(oracle, position), count_at(oracle, position, count)
            return view.scorecard(oracle, start, view.moves_in(moves), plies)

        return await library.ask(variant, answer)

    @app.get("/api/pgn", response_class=PlainTextResponse, responses=ERRORS_AS_JSON)
    async def pgn(
        variant: str, position: Text, moves: Moves = "", first: Text = "?", second: Text = "?", finished: bool = False,
        count: Count = 0,
    ) -> str:  # fmt: skip
        """A game of chess as PGN, between players with these names."""

        def answer(oracle: Oracle) -> str:
            start = view.position_in(oracle, position)
            return view.pgn(oracle, start, view.moves_in(moves), (first, second), finished, count)

        return await library.ask(variant, answer)


def offer_gallery(app: FastAPI, library: Library, solves: Solves) -> None:
    """Add the routes of the gallery, and those for solving small games."""

    @app.get("/api/gallery")
    def gallery_shown() -> gallery.Gallery:
        """All variants that are solved, and the games that are installed."""
        return gallery.gallery(library, solves)

    @app.get("/api/about")
    async def about(variant: Text) -> gallery.VariantStatus:
        """Why a variant does not open, and what to do."""
        return await library.answer(lambda: gallery.variant_status(library, solves, variant))

    @app.get("/api/picture", response_class=Response, responses=ERRORS_AS_JSON)
    async def picture(variant: Text) -> Response:
        """A picture of a variant's start, as SVG."""
        if variant.partition(":")[0] in installed_games():
            svg = await run_in_threadpool(gallery.picture, variant)
        else:
            svg = await library.answer(lambda: gallery.picture_by_database(library.solution(variant)))
        return Response(svg, media_type="image/svg+xml")

    @app.get("/api/solves")
    async def solves_in_progress() -> list[gallery.SolveProgress]:
        """How far the requested solves have come."""
        return gallery.progress_of_solves(solves)

    @app.post(SOLVE)
    async def solve(variant: Text, x_retrograde: Token = None) -> gallery.SolveProgress:
        """Solve a small game in its own process; the header must have the token that the gallery gave."""
        solves.check(x_retrograde)
        if library.games:
            raise NotSolvedHere("this server serves some variants only, and solves none")
        return gallery.progress_of_solve(solves.begin(variant))

    @app.post(CANCEL)
    async def cancel(variant: Text, x_retrograde: Token = None) -> list[gallery.SolveProgress]:
        """Stop solving a game; finished work is kept."""
        solves.check(x_retrograde)
        solves.cancel(variant)
        return gallery.progress_of_solves(solves)


def offer_lichess(app: FastAPI, library: Library) -> None:
    """Add the routes of Lichess' tablebase API."""

    @app.get("/standard", response_model=lichess.LichessPosition)
    async def standard(fen: Text) -> Response:
        """What is known of a position of chess, in the form of Lichess' tablebase."""
        return as_json(await library.answer(lambda: lichess.standard(library, fen)))

    @app.get("/standard/mainline", response_model=lichess.Mainline)
    async def mainline(fen: Text) -> Response:
        """Best play from a position of chess, in the form of Lichess' tablebase; ours goes by the distance to mate."""
        return as_json(await library.answer(lambda: lichess.mainline(library, fen)))


def offer_gamescrafters(app: FastAPI, library: Library) -> None:
    """Add the routes of GamesCrafters' web API for one game. `offer_page` has "/", the list of games. Call this last:
    "/{game}/" matches every path of one word."""

    @app.get("/{game}/")
    async def game(game: str) -> gamescrafters.UniGame:
        """A game and its variants."""
        answer = await library.answer(lambda: gamescrafters.game(library, game))
        if answer is None:
            what = f"no variant of {game!r} is served here"
            if library.of_game(gamescrafters.game_name(game)):
                what = f"GamesCrafters' API lists no games of chance or for several players, such as {game!r}"
            raise NoDatabase(what)
        return answer

    @app.get("/{game}/{variant}/")
    async def variant_about(game: str, variant: str) -> gamescrafters.UniVariant:
        """A variant and its start."""
        text = gamescrafters.variant_text(game, variant)
        return await library.answer(lambda: gamescrafters.variant(library.solution(text)))

    @app.get("/{game}/{variant}/positions/", response_model=gamescrafters.UniPosition)
    async def variant_position(game: str, variant: str, p: Text) -> Response:
        """A position and its moves."""

        def answer() -> gamescrafters.UniPosition:
            solution = library.solution(gamescrafters.variant_text(game, variant))
            return gamescrafters.show_position(solution, gamescrafters.read(solution, p))

        return as_json(await library.answer(answer), bare=True)  # that API leaves out fields without a value

    @app.get("/{game}/{variant}/instructions/")
    async def variant_instructions(game: str, variant: str) -> gamescrafters.UniInstructions:
        """How the game is played, as Markdown."""
        text = gamescrafters.variant_text(game, variant)
        return await library.answer(lambda: gamescrafters.instructions(library.solution(text)))


def status_of(error: Exception) -> int:
    """Return the HTTP status for an error.

    >>> [status_of(error) for error in (NoDatabase(""), RetrogradeError(""), Unavailable(""), OSError(""))]
    [404, 400, 503, 503]
    """
    if isinstance(error, NotSolvedHere | Busy):
        return 403 if isinstance(error, NotSolvedHere) else 409
    if isinstance(error, NoDatabase | NotInDatabase | VariantError):
        return 404
    return 503 if isinstance(error, Unavailable | OSError | NotADatabase | OtherRules | UnreadableVersion) else 400
