"""Searches that select moves: forward pruning and singular extension, compiled and as a slow and obvious recursion."""

from dataclasses import dataclass
from random import Random

import pytest

from retrograde.databases import open_database
from retrograde.games import CHANCE, LOSE, UNDECIDED, WIN, Game
from retrograde.games.catalog import load_game
from retrograde.games.contract.game import mover, same_mover
from retrograde.solver.metrics.models.model import NoModel
from retrograde.solver.metrics.models.names import model_named
from retrograde.solver.play.match import play
from retrograde.solver.play.player import NoPlayer, make_player
from retrograde.solver.play.solution import Solution
from retrograde.solver.rules.examine import NotForSearch
from retrograde.solver.search.depth.names import depth_search_for, read_name
from retrograde.solver.search.depth.scores import FAR, POINT, Selection
from retrograde.solver.search.depth.searcher import PointSearch, ValueSearch
from tests.helpers import gamble
from tests.helpers.tangle import Tangle, position_of
from tests.helpers.textbook_points import mean, promising

pytestmark = pytest.mark.long

SELECTIONS = [Selection(2), Selection(0, 150), Selection(3, 300), Selection(1, 1)]


class Estimated(Tangle):
    """A random graph in which every position has an estimate, and one in eight is not quiet."""

    def estimate(self, position):
        return self.random(position, 50) % 900 - 450

    def quiet(self, position):
        return self.random(position, 51) % 8 != 0


class Paying(gamble.Gamble):
    """A random graph on which moves pay, chance moves, and every position has an estimate."""

    def reward(self, position, move, player):
        return (self.random(position, 40 + move) % 5 - 2) * (1 - player)

    def estimate(self, position):
        return self.random(position, 50) % 900 - 450


@dataclass(frozen=True)
class SelectiveSearch:
    """Minimax that selects moves. The depth is in half plies where singular moves are extended, else in plies."""

    game: Game
    selection: Selection
    by_points: bool = False
    quiescence: int = 0

    @property
    def ply(self):
        return 2 if self.selection.margin else 1

    def score(self, position, depth):
        """Return the score of a position for the player to move."""
        game, me = self.game, max(0, mover(self.game, position))
        end = game.primitive(position)
        if end != UNDECIDED:
            return self.paid(position, None, me) if self.by_points else {WIN: FAR, LOSE: -FAR}.get(end, 0)
        if depth <= -self.quiescence * self.ply or (depth <= 0 and game.quiet(position)):
            return game.estimate(position) / (POINT if self.by_points else 1)
        moves, singular = promising(game, position), False
        if mover(game, position) == CHANCE:
            odds = [game.odds(position, move) for move in moves]
            return mean(odds, [self.of_move(position, move, depth - self.ply) for move in moves])
        if depth >= 2 * self.ply:
            moves, singular = self.select(position, moves, depth)
        scores = [self.of_move(position, move, depth - self.ply) for move in moves]
        if singular:
            scores[0] = self.of_move(position, moves[0], depth - 1)
        return max(scores)

    def select(self, position, moves, depth):
        """Return the moves that are kept, the best first, and whether that one is singular."""
        shallow = {move: self.of_move(position, move, depth // 2 - self.ply) for move in moves}
        moves = sorted(moves, key=lambda move: -shallow[move])
        gap = self.selection.margin * (1 / POINT if self.by_points else 1)
        singular = gap > 0 and (len(moves) == 1 or shallow[moves[0]] - shallow[moves[1]] >= gap)
        return moves[: self.selection.keep or None], singular

    def of_move(self, position, move, depth):
        child = self.game.do_move(position, move)
        score = self.score(child, depth)
        score = score if same_mover(self.game, position, child) else -score
        if self.by_points:
            return score + self.paid(position, move, max(0, mover(self.game, position)))
        return score - (score > FAR // 2) + (score < -FAR // 2)

    def paid(self, position, move, player):
        pays = self.game.payoff if move is None else lambda position, player: self.game.reward(position, move, player)
        return pays(position, player) - (pays(position, 1 - player) if self.game.players == 2 else 0)


def tangles(count):
    """Return the first positions of random graphs in which the game goes on."""
    chance, found = Random(count), []
    while len(found) < count:
        position = position_of(chance.randrange(1 << 20), 0, chance.randrange(2), 0, 20)
        if Estimated().primitive(position) == UNDECIDED:
            found.append(position)
    return found


@pytest.mark.as_python
@pytest.mark.parametrize("selection", SELECTIONS)
def test_values_are_those_of_the_plain_recursion(selection):
    game = Estimated()
    search = ValueSearch(game, selection=selection)
    slow, whole = SelectiveSearch(game, selection, quiescence=8), ValueSearch(game)
    others = 0
    for position in tangles(30):
        for depth in (1, 2, 3, 4, 5):
            expected = {
                move: slow.of_move(position, move, slow.ply * (depth - 1)) for move in game.generate_moves(position)
            }
            assert dict(search.scores(position, depth)) == expected
            assert search.find(position, depth).score == max(expected.values())
            others += expected != dict(whole.scores(position, depth))
    assert others > 3  # selecting makes a difference


@pytest.mark.thorough
@pytest.mark.parametrize("selection", SELECTIONS)
def test_points_are_those_of_the_plain_recursion(selection):
    game = Paying()
    search, slow = PointSearch(game, selection=selection), SelectiveSearch(game, selection, True)
    chance = Random(5)
    for _ in range(30):
        position = gamble.position_of(chance.randrange(1 << 20), 6, 0, False, 20)
        if game.turn(position) == CHANCE:
            continue
        for depth in (1, 2, 3, 4):
            for move, score in search.scores(position, depth):
                assert score == pytest.approx(slow.of_move(position, move, slow.ply * (depth - 1)))


@pytest.mark.as_python
def test_a_search_that_drops_moves_decides_nothing():
    """In tic-tac-toe a search of the last seven plies sees all ends, but not the replies that it has dropped."""
    game = load_game("tictactoe")
    whole, selective = ValueSearch(game), ValueSearch(game, selection=Selection(keep=2))
    late = game.read("X../.O./...")
    assert whole.find(late, 7).to_the_end
    assert not selective.find(late, 7).to_the_end
    assert ValueSearch(game, selection=Selection(margin=1)).find(late, 7).to_the_end  # drops no move
    won = game.read("XX./OO./...")
    assert whole.find(won, 9).depth == 1
    assert whole.is_decided(FAR - 1) and not selective.is_decided(FAR - 1)


def test_names_of_players():
    assert read_name("depth:4,singular=50,best=3").selection == Selection(3, 50)
    assert read_name("paranoid:4,best=3")[2:] == (True, Selection(3, 0), False)
    assert read_name("time:0.5,best=3")[1:] == (0.5, False, Selection(3, 0), False)
    assert read_name("depth:4,book,best=3") == (4, None, False, Selection(3, 0), True)
    for name in (
        "depth:4,",
        "depth:4,best",
        "depth:4,book,book",
        "depth:4,book=1",
        "depth:4,best=0",
        "depth:4,best=3,best=3",
        "depth:4,worst=3",
        "depth,best=3",
    ):
        assert read_name(name) is None, name


class Trio(Paying):
    """The same graph for three players."""

    players = 3


def test_who_does_not_select():
    with pytest.raises(NotForSearch, match="only `paranoid` searches"):
        depth_search_for(Trio(), selection=Selection(3))
    assert depth_search_for(Trio(), paranoid=True, selection=Selection(3)).scoring.selection == (3, 0)
    with pytest.raises(NoModel):
        model_named("depth:4,best=3", load_game("tictactoe"))


@pytest.mark.as_python
def test_players_that_select_make_legal_moves(solved):
    with open_database(solved("connect4:4,3")) as database:
        solution, chance = Solution(database), Random(1)
        players = [make_player(name, solution, chance) for name in ("depth:4,best=2", "depth:4,singular=3")]
        assert len(play(solution, solution.game.start, players).moves) > 6
        with pytest.raises(NoPlayer, match="depth:4,best=0"):
            make_player("depth:4,best=0", solution, chance)
