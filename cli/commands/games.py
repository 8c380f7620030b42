"""`retrograde games`: lists the games, or describes one of them."""

import inspect
from dataclasses import MISSING, fields
from typing import Any, get_type_hints

import click

from retrograde.cli import options
from retrograde.cli.common import print_json
from retrograde.cli.render.pager import page_output
from retrograde.cli.render.words import faint, heading, indent, reflow, table, wrap
from retrograde.games.catalog import game_class, game_names, load_game, option_text
from retrograde.games.contract.game import Game, RetrogradeError, VariantError, declares, defines
from retrograde.games.contract.naming import title
from retrograde.games.contract.raised import given_start
from retrograde.games.contract.text import printable

KINDS = {int: "whole number", bool: "yes or no", str: "text"}

ABILITIES = {
    "images": "symmetry: equal positions are stored once",
    "tier": "tiers: solved a part at a time",
    "parents": "parents: cycles are solved without a search for them",
    "read": "positions are read from text",
    "show": "positions are shown as pictures",
    "move_name": "moves have names",
}
"""Optional methods, and what each is good for."""
FROM_A_BOARD = ("read", "show", "move_name")
"""The methods that a declared board also gives."""


@click.command()
@click.argument("game", required=False, shell_complete=options.complete_games)
@options.json
def command(game: str | None, as_json: bool) -> None:
    """List the games, or show the rules, options and start of one.

    GAME is a name, or the path of your own file, such as ./mygame.py.

    \b
    Examples:
      retrograde games
      retrograde games connect4
    """
    with page_output(as_json):
        if game is None:
            print_list(as_json)
            return
        facts = describe(game)
        if as_json:
            print_json(facts)
        else:
            print_game(facts)


def print_list(as_json: bool) -> None:
    """Print the name, title and summary of each game, as text or JSON."""
    games = [{"name": name, "title": title_of(name), "summary": summary(name)} for name in game_names()]
    if as_json:
        print_json(games)
        return
    width = max(len(game["name"]) for game in games)
    for game in games:
        title_and_summary = ": ".join(filter(None, [game["title"], game["summary"]]))
        line = wrap(f"{game['name']:<{width}}  {title_and_summary}", width + 2)
        click.echo(heading(line[:width]) + line[width:])
    click.echo(faint("\nmore of one: retrograde games GAME     solve it: retrograde solve GAME"))


def title_of(name: str) -> str:
    """Return a game's name for people; "" if the game cannot be read."""
    try:
        return title(game_class(name))
    except RetrogradeError:
        return ""


def summary(name: str) -> str:
    """Return the first line of a game's rules, or the error that prevents reading them."""
    try:
        return (rules(game_class(name)) or "").partition("\n")[0]
    except RetrogradeError as error:
        return printable(str(error))


def rules(cls: type[Game]) -> str | None:
    """Return the docstring of a game's class, or None if it has only the one that dataclasses generate."""
    text = vars(cls).get("__doc__") or ""
    return None if text.startswith(f"{cls.__name__}(") else printable(inspect.cleandoc(text)) or None


def describe(text: str) -> dict[str, Any]:
    """Return the facts about a game, ready for JSON. The start shown is for the options given after the name."""
    cls = type(load_game(text)) if ":" in text else game_class(text)
    facts: dict[str, Any] = {
        "name": cls.name,
        "title": title(cls),
        "rules": rules(cls),
        "notes": printable(inspect.getdoc(inspect.getmodule(cls)) or "") or None,
        "options": options_of(cls),
        "methods": [
            method for method in ABILITIES if defines(cls, method) or (method in FROM_A_BOARD and declares(cls))
        ],
        "example": example(text.partition(":")[0], cls),
        "start": None,
        "picture": None,
    }
    try:
        game = load_game(text)
    except VariantError:
        return facts  # an option without a default is missing
    defaults = {option["name"]: option["default"] for option in options_of(type(game))}
    for option in facts["options"]:  # the class for larger variants may have a default, as that of the whole cube
        option["default"] = option["default"] or defaults.get(option["name"])
    if (start := given_start(game)) is not None:
        facts.update(start=game.write(start), picture=game.show(start))
    return facts


def options_of(cls: type[Game]) -> list[dict[str, Any]]:
    """Return the name, the type in words, and the default of each option of a game."""
    types = get_type_hints(cls)
    return [
        {
            "name": field.name,
            "type": KINDS.get(types[field.name], "whole numbers joined by +"),
            "default": None if field.default is MISSING else option_text(field.default),
        }
        for field in fields(cls)  # type: ignore[arg-type]  # subclasses are dataclasses, the contract itself is none
    ]


def example(name: str, cls: type[Game]) -> str:
    """Return a variant to try. It is a game's own example, else one with a flag or about half of its numbers."""
    if cls.example:
        return f"{name}:{cls.example}"
    types = get_type_hints(cls)
    defaults: dict[str, Any] = {field.name: field.default for field in fields(cls)}  # type: ignore[arg-type]  # as above
    flags = [option for option in defaults if types[option] is bool]
    numbers = [f"{option}={n // 2 + 1}" for option, n in defaults.items() if types[option] is int and n is not MISSING]
    for choice in (flags[:1], numbers[:2], numbers[:1]):
        try:
            if choice:
                load_game(text := f"{name}:{','.join(choice)}")
                return text
        except VariantError:
            continue
    return name


def print_game(facts: dict[str, Any]) -> None:
    """Print the title and the rules of a game, its options, its start, and what it defines."""
    rules = facts["rules"] or "its rules have no description"
    head = f"{facts['name']}: "
    click.echo(heading(head[:-2]) + wrap(f"{head}{facts['title']}. {rules}")[len(head) - 2 :])
    if facts["options"]:
        click.echo(f"\n{heading('Options')}")
        rows = [
            (option["name"], printable(option["default"] or "(must be given)"), option["type"])
            for option in facts["options"]
        ]
        click.echo(indent(table(rows, "<<<")))
    if facts["picture"] is not None:
        click.echo(f"\n{heading('Start')}")
        click.echo(indent(facts["picture"]))
        if facts["start"] != facts["picture"]:
            click.echo(faint(f"\n  written {facts['start']}"))
    if facts["methods"]:
        click.echo(f"\n{heading('Has')}")
        click.echo(indent("\n".join(ABILITIES[method] for method in facts["methods"])))
    if facts["notes"]:
        click.echo(f"\n{heading('Notes')}")
        click.echo(indent(reflow(facts["notes"])))
    click.echo(f"\n{heading('Example')}\n  retrograde solve {printable(facts['example'])}")
