"""`retrograde play`: a game between people, the perfect player and other players, in any pairing."""

import shutil
import sys
from collections.abc import Callable
from contextlib import closing
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import click

from retrograde.cli import options
from retrograde.cli.commands.query import read_reachable
from retrograde.cli.common import input_line, player_named, plies_in
from retrograde.cli.render.board import print_board
from retrograde.cli.render.expected import EXPECTATION, print_expectation
from retrograde.cli.render.measures import shared_text
from retrograde.cli.render.moves import (
    check_writes_pgn,
    mover,
    moves_played,
    moves_table,
    names_of_several,
    number_of,
    pgn_of,
    pgn_option,
    scorecard,
    sides_of,
    with_numbers,
)
from retrograde.cli.render.oracles import (
    ask_oracle,
    estimate_line,
    evidence_text,
    open_oracle,
    prospect_of_person,
    show_search,
    time_option,
    verdict,
)
from retrograde.cli.render.pager import page_output
from retrograde.cli.render.words import NOUNS, coloured, heading, prospect_text, wrap
from retrograde.games import DRAW, LOSE, TIE, UNDECIDED, WIN, Value
from retrograde.games.contract.game import metric_of
from retrograde.games.contract.game import mover as player_number
from retrograde.games.contract.naming import variant_title
from retrograde.games.contract.zeroing import PATIENCE, count_after

if TYPE_CHECKING:
    from retrograde.solver.play.oracle import Oracle
    from retrograde.solver.play.player import Player

SECONDS = 3.0

HUMAN = "human"
ROWS_BESIDE = 9
"""Rows of the screen that a position with hints needs besides the board and the moves."""
FEWEST_MOVES = 3
"""Hints show at least this many moves."""
HELP = """\
  a move         by its name, as the list of moves has it
  ?              all moves with their values, and what to expect
  hints          show values with every position, or no more
  line           best play from here to the end
  undo           take your last move back
  swap           play the other side from here on
  resign, quit   end the game
  help           show these commands"""


class Quit(Exception):
    """The person wants to stop."""


@click.command(cls=options.WithPlayers)
@options.source
@click.option(
    "--first",
    metavar="WHO",
    default=HUMAN,
    show_default=True,
    shell_complete=options.complete_players,
    help="Who moves first.",
)
@click.option(
    "--second", metavar="WHO", default="perfect", show_default=True, shell_complete=options.complete_players,
    help="Who moves second.",
)  # fmt: skip
@options.skill
@click.option("--hints", is_flag=True, help="Show the values of all moves with every position.")
@click.option(
    "--from", "position", metavar="POSITION",
    help="First position instead of the start: a position, longest (a longest win), or random.",
)  # fmt: skip
@click.option("--seed", type=int, metavar="N", help="Random seed; the same seed gives the same random play.")
@time_option(SECONDS, "for a move")
@pgn_option("the game")
@options.weights
@options.database
def command(
    source: str, first: str, second: str, skill: float | None, hints: bool, position: str | None, seed: int | None,
    seconds: float, pgn: str | None, weights: str | None, database: str | None,
) -> None:  # fmt: skip
    """Play a solved game against a perfect player, or watch a game.

    If there is no database, the perfect player searches, and says what it has proved. Once it has proved the value of a
    position, it plays only moves that keep this value.

    \b
    WHO is one of these:
      human                 a person at this terminal
      PLAYERS

    In a game for three or more, --second plays for all but the player who moves first.

    A game without a start, such as chess, begins in a random position, unless --from names one.

    \b
    Examples:
      retrograde play tictactoe
      retrograde play connect4:4,4 --first perfect --skill 0.7 --hints
      retrograde play connect4:4,4 --first perfect --second random --seed 1
      retrograde play chess:KRK --from longest --pgn rook.pgn
    """
    from retrograde.solver.play.weights import load_weights

    if skill is not None and "perfect" not in (first, second):
        raise click.UsageError("--skill goes with a perfect player")
    if hints and HUMAN not in (first, second):
        raise click.UsageError("--hints goes with a human player")
    with closing(open_oracle(source, database, seconds)) as oracle:
        oracle.game = load_weights(oracle.game, weights)
        check_writes_pgn(oracle.game, pgn)
        names = [first, second]
        players: list[Player | None] = []
        for turn, name in enumerate(names):
            chance = Random(seed if seed is None else seed + turn)
            player_name = str(skill) if name == "perfect" and skill is not None else name
            players.append(None if name == HUMAN else player_named(player_name, oracle, chance))
        match = Match(oracle, first_position(oracle, position, seed), names, players, hints, Random(seed))
        match.counts = [plies_in(oracle.game, position)] if position else [0]
        if HUMAN in names:
            match.print_title()
        if HUMAN in names and not match.is_over():
            click.echo("enter a move by its name; ? shows all moves with their values, help lists the commands\n")
        finished = resigned = False  # also after Ctrl-C
        try:
            match.play()
            finished = True
        except Resignation:
            resigned = True
        except Quit:
            click.echo("\nthe game stops here")
        finally:
            if pgn is not None:
                text = pgn_of(oracle.game, match.start, match.moves, match.names, finished, match.counts[0], resigned)
                Path(pgn).write_text(text, encoding="utf-8")
        match.print_scorecard()


def first_position(oracle: "Oracle", text: str | None, seed: int | None) -> int:
    """Return the position in which a game begins."""
    from retrograde.solver.play.match import random_position
    from retrograde.solver.play.solution import Solution

    if text == "longest":
        if not isinstance(oracle, Solution):
            raise click.UsageError("a longest win is known only with a database; give --from another position")
        wins = [row for row in oracle.database.file.legend if row.value == WIN]
        if not wins:
            raise click.UsageError("no position of this game is won; give --from another position")
        return max(wins, key=lambda row: row.remoteness).example
    if text is None and oracle.start is not None:
        return oracle.start
    return random_position(oracle, Random(seed)) if text in (None, "random") else read_reachable(oracle, str(text))


class Match:
    """One game in progress: its players, positions and moves."""

    def __init__(
        self, oracle: "Oracle", start: int, names: list[str], players: "list[Player | None]", hints: bool, dice: Random
    ):
        """Begin a game; *dice* is the random generator for chance moves."""
        self.oracle = oracle
        self.start = start
        self.names = names
        self.players = players
        """The players who move first and second; None for a person."""
        self.hints = hints
        self.dice = dice
        game = oracle.game
        self.has_chance = EXPECTATION in (oracle.metric, metric_of(game))
        """Whether the game is about expected payoffs, as with chance. Positions may then come up again."""
        self.puzzle = game.players == 1
        self.several = game.players > 2
        self.sides = sides_of(game, start)
        """Names of the players who move first and second; of several players, the first and all others."""
        if self.several:
            self.sides = names_of_several(game, [start])[max(0, player_number(game, start))], "the other players"
        self.moves: list[int] = []
        self.positions = [start]
        self.counts = [0]
        """The plies without progress at each position, for a rule that makes a draw of long play without progress."""
        self.human_plies: list[int] = []
        """The numbers of the plies that people have played, from 0."""

    @property
    def turn(self) -> int:
        """The player to move: 0 for the player who moved first, 1 for the other."""
        from retrograde.solver.play.match import side_of

        return side_of(self.oracle.game, self.start, self.position, len(self.moves))

    @property
    def position(self) -> int:
        return self.positions[-1]

    @property
    def mover(self) -> str:
        """The name of the player to move: `Red (X)`, `first player`."""
        game = self.oracle.game
        names = names_of_several(game, [self.position]) if self.several else self.sides
        return names[player_number(game, self.position) if self.several else self.turn].removeprefix("the ")

    @property
    def oracle_by_rule(self) -> "Oracle":
        """The oracle for this position. It counts plies without progress if the rule is known."""
        from retrograde.solver.play.oracles.fifty_moves import apply_fifty_move_rule

        return apply_fifty_move_rule(self.oracle, self.position, self.counts[-1])

    def is_over(self) -> bool:
        """Return whether the game is over, also by repetition or by the fifty-move rule."""
        from retrograde.solver.play.match import ENDLESS

        game = self.oracle.game
        if game.primitive(self.position) != UNDECIDED or self.is_too_long():
            return True
        if self.has_chance:
            return False
        same = getattr(game, "without_clock", lambda position: position)  # positions with equal results repeat
        return [*map(same, self.positions)].count(same(self.position)) == ENDLESS

    def is_too_long(self) -> bool:
        """Return whether the game is a draw after too many plies without progress, if such a rule is known."""
        from retrograde.solver.play.oracles.fifty_moves import knows_fifty_move_rule

        return self.counts[-1] >= PATIENCE and knows_fifty_move_rule(self.oracle)

    def add(self, move: int) -> None:
        """Make a move, and record it."""
        game = self.oracle.game
        self.counts.append(count_after(game, self.position, move, self.counts[-1]))
        self.positions.append(game.do_move(self.position, move))
        self.moves.append(move)

    def print_title(self) -> None:
        """Print the name of the game, and which side the person plays."""
        mine = [side for side, name in zip(self.sides, self.names, strict=True) if name == HUMAN]
        who = f", you are {mine[0]}" if len(mine) == 1 and not self.is_over() and not self.puzzle else ""
        click.echo(f"{heading(variant_title(self.oracle.game))}{who}")

    def play(self) -> None:
        """Play the game to its end, and print every position and move."""
        from retrograde.solver.play.answer import is_chances

        game = self.oracle.game
        self.show()
        while not self.is_over():
            if is_chances(game, self.position):
                self.roll()
                continue
            player = self.players[self.turn]
            if player is None:
                click.echo()
                while (move := self.ask()) is None and self.players[self.turn] is None:
                    pass
                if move is None:
                    continue  # sides have been swapped
                self.human_plies.append(len(self.moves))
                click.echo()
            else:
                with show_search(self.oracle):
                    move = player(self.oracle_by_rule, self.position)
                ply = f"{number_of(game, self.start, len(self.moves))} {game.move_name(self.position, move)}"
                click.echo(f"\n{heading(ply)}  {self.mover}, {self.names[self.turn]}")
                self.print_evidence()
                click.echo()
            self.add(move)
            self.show()
        self.print_result()

    def roll(self) -> None:
        """Make a random chance move, and print how likely it was."""
        from retrograde.solver.play.answer import odds_of
        from retrograde.solver.play.match import roll

        game, odds = self.oracle.game, odds_of(self.oracle.game, self.position)
        move = roll(game, self.position, self.dice)
        name = game.move_name(self.position, move)
        click.echo(f"\n{heading(f'chance: {name}')}  {odds[move]} in {sum(odds.values())}\n")
        self.add(move)
        self.show()

    def show(self) -> None:
        """Print the position and, with hints before a person's move, the moves and their values."""
        game, oracle = self.oracle.game, self.oracle
        hints = self.hints and self.players[self.turn] is None and not self.is_over()
        last = game.draw_move(self.positions[-2], self.moves[-1]) if self.moves else ()
        with show_search(oracle):
            choices = self.oracle_by_rule.moves(self.position) if hints else ()
        print_board(game, self.position, choices, last)
        if hints:
            click.echo()
            rows = shutil.get_terminal_size().lines - ROWS_BESIDE - game.show(self.position).count("\n")
            self.print_moves(max(FEWEST_MOVES, rows) if sys.stdout.isatty() else None)

    def print_evidence(self) -> None:
        """Print what the computer knows of the position, and how, unless a database knows everything."""
        if self.oracle.source != "database":
            bounds = self.oracle.probe(self.position, 0)
            if not bounds.proved:
                click.echo(estimate_line(self.oracle.estimate(self.position)), nl=False)
            if not bounds.proved and not bounds.evidence.nodes:
                return  # a depth-limited search has chosen the move
            click.echo(f"{verdict(bounds, mover(self.oracle.game, self.position))} ({evidence_text(bounds)})")

    def print_moves(self, most: int | None = None) -> None:
        """Print what to expect, and the moves, best first, with their values; at most *most* moves."""
        answer = ask_oracle(self.oracle_by_rule, self.position, with_line=False)
        if self.oracle.metric == EXPECTATION:
            print_expectation(answer)
            return
        if self.several and answer.bounds.value in (WIN, TIE, LOSE):
            click.echo(shared_text(*answer.bounds.outcome, self.mover))
        else:
            click.echo(prospect_of_person(answer.bounds, answer.distance, self.puzzle))
        click.echo(estimate_line(answer.estimate), nl=False)
        click.echo(moves_table(answer, most))

    def print_all_moves(self) -> None:
        with page_output():
            self.print_moves()

    # People

    def ask(self) -> int | None:
        """Ask the person at the terminal for a move; return None after another command."""
        text = prompt_line(f"{self.mover}, your move: ")
        legal = {self.oracle.game.move_name(self.position, move): move for move in self.legal()}
        if text in legal:
            return legal[text]
        commands: dict[str, Callable[[], None]] = {
            "?": self.print_all_moves,
            "help": partial(click.echo, HELP),
            "hints": self.switch_hints,
            "line": self.print_line,
            "undo": self.undo,
            "swap": self.swap,
            "resign": self.resign,
            "quit": self.quit,
        }
        aliases = {"q": "quit", "exit": "quit", "h": "help", "u": "undo"}
        if action := commands.get(aliases.get(text, text)):
            action()
            return None
        try:
            return self.oracle.game.move(self.position, text)
        except ValueError as error:
            near = get_close_matches(text, [name for name in commands if name != "?"], 1)
            click.echo(f"no move {text!r} here; did you mean {near[0]}?" if near else str(error))
            return None

    def legal(self) -> list[int]:
        return list(self.oracle.game.generate_moves(self.position))

    def switch_hints(self) -> None:
        self.hints = not self.hints
        if self.hints:
            self.print_all_moves()
        else:
            click.echo("no more hints")

    def print_line(self) -> None:
        """Print best play from here."""
        with show_search(self.oracle):
            self.oracle.probe(self.position)
            names = [choice.name for choice in self.oracle_by_rule.line(self.position)]
        if not names:
            dice = "no one line is best: the dice have a say"
            click.echo(dice if self.has_chance else "best play from here is not known")
            return
        line = with_numbers(self.oracle.game, self.start, names, len(self.moves))
        click.echo(wrap(f"Best play  {line}", 11))

    def undo(self) -> None:
        """Take back the person's last move, and what came after it."""
        if not self.human_plies:
            click.echo("there is nothing to take back")
            return
        ply = self.human_plies.pop()
        del self.moves[ply:], self.positions[ply + 1 :], self.counts[ply + 1 :]
        click.echo()
        self.show()
        click.echo()

    def swap(self) -> None:
        if self.puzzle:
            click.echo("there is no other side")
            return
        self.names.reverse()
        self.players.reverse()
        side = self.names.index(HUMAN)
        click.echo(f"{self.sides[side]} {'are' if self.several and side else 'is'} you")

    def resign(self) -> None:
        if self.puzzle:
            click.echo("\n" + coloured(LOSE, "given up"))
            raise Resignation
        winner, loser = self.sides[1 - self.turn], self.sides[self.turn]
        text = f"{self.mover} resigns" if self.several else f"{winner} wins: {loser} resigns"
        click.echo("\n" + coloured(LOSE, text))
        raise Resignation

    def quit(self) -> None:
        raise Quit

    # The end

    def print_result(self) -> None:
        """Print how the game has ended."""
        game, value = self.oracle.game, self.oracle.game.primitive(self.position)
        if value == UNDECIDED:
            self.print_early_draw()
        elif self.several and not self.moves:  # the first position was already over
            click.echo("\n" + shared_text(value, 0, self.mover))
        elif not self.moves:
            click.echo("\n" + prospect_text(value, 0, mover(game, self.position), ending=game.ending(self.position)))
        else:
            how = f": {game.ending(self.position)}" if game.ending(self.position) else ""
            self.print_end(value, f"after {moves_played(game, len(self.moves))}{how}")

    def print_early_draw(self) -> None:
        """Print why the game is a draw although its last position is undecided: by a rule, or by repetition."""
        from retrograde.solver.play.match import ENDLESS

        after = f" after {moves_played(self.oracle.game, len(self.moves))}:" if self.moves else ""
        if self.is_too_long():
            click.echo("\n" + coloured(TIE, f"a draw{after} by the fifty-move rule"))
        else:
            click.echo("\n" + coloured(TIE, f"a draw{after} this position has come up {ENDLESS} times"))

    def print_end(self, value: Value, after: str) -> None:
        """Print the result of a game with moves whose last position has a *value*; *after* says how long it took."""
        from retrograde.solver.play.ending import points_decide

        game = self.oracle.game
        if self.has_chance:
            click.echo("\n" + coloured(value, f"over {after}"))
            paid = [str(self.paid(player)) for player in range(game.players)]
            click.echo(f"paid: {', '.join(paid)}")
        elif self.puzzle and value in (WIN, LOSE):
            click.echo("\n" + coloured(value, f"{'solved' if value == WIN else 'a dead end'} {after}"))
        elif self.several:
            self.print_shares(after)
        elif points_decide(game):
            self.print_points(after)
        elif value in (TIE, DRAW):
            click.echo("\n" + coloured(TIE, f"a {NOUNS[value]} {after}"))
        else:
            self.print_winner(self.turn if value == WIN else 1 - self.turn, after)

    def print_winner(self, winner: int, after: str) -> None:
        """Print who has won, and after how many moves; in red if a person has lost to a program."""
        person_lost = self.names[1 - winner] == HUMAN and self.names[winner] != HUMAN
        click.echo("\n" + coloured(LOSE if person_lost else WIN, f"{self.sides[winner]} wins {after}"))

    def print_shares(self, after: str) -> None:
        """Print which players have got the most, and what each has got; in red if a person has lost."""
        from retrograde.solver.play.ending import leaders_of, shares_of

        game = self.oracle.game
        shares = shares_of(game, self.start, self.moves)
        leaders, names = leaders_of(shares), names_of_several(game, self.positions)
        score = " : ".join(map(str, shares))
        if len(leaders) == game.players:
            click.echo("\n" + coloured(TIE, f"a tie {after}: {score}"))
            return
        first = max(0, player_number(game, self.start))
        winning = {self.names[int(player != first)] for player in leaders}
        person_lost = HUMAN in self.names and HUMAN not in winning
        verb = "wins" if len(leaders) == 1 else "get the most"
        text = f"{' and '.join(names[player] for player in leaders)} {verb} {after}: {score}"
        click.echo("\n" + coloured(LOSE if person_lost else WIN, text))

    def print_points(self, after: str) -> None:
        """Print which of two players has more points, in a game that points decide."""
        from retrograde.solver.play.match import points_of

        points = points_of(self.oracle.game, self.start, self.moves)
        if points[0] == points[1]:
            click.echo("\n" + coloured(TIE, f"a tie {after}: {points[0]} to {points[1]}"))
        else:
            winner = 1 if points[1] > points[0] else 0
            self.print_winner(winner, f"{after}: {max(points)} to {min(points)}")

    def paid(self, player: int) -> int:
        """Return what the moves and the end have paid a player."""
        game = self.oracle.game
        played = zip(self.positions, self.moves, strict=False)
        return game.payoff(self.position, player) + sum(game.reward(*position_move, player) for position_move in played)

    def print_scorecard(self) -> None:
        """Print the value of each of the person's moves, and better moves."""
        if self.human_plies and not self.has_chance:
            click.echo("\n" + scorecard(self.oracle, self.positions, self.moves, self.human_plies, self.counts))


class Resignation(Quit):
    """The person has resigned."""


def prompt_line(prompt: str) -> str:
    """Return a line that is not empty; raise Quit at the end of input."""
    while True:
        click.echo(prompt, nl=False)
        try:
            line = input_line()
        except KeyboardInterrupt:
            click.echo()  # the terminal has printed ^C after the prompt
            raise
        if not line:
            raise Quit
        if not sys.stdin.isatty():
            click.echo(line.rstrip("\n"))  # so that a transcript looks as on a terminal
        if line.strip():
            return line.strip()
