"""The compiled loop that finds the greedy player's moves, for two players."""

from retrograde.games.contract.game import CHANCE, UNDECIDED
from retrograde.solver.rules.positions import note, position_in, whole
from retrograde.solver.runtime.kernel import kernel


@kernel
def mark_greedy(game, positions, turns, alternating, appeals, marks, trouble):
    """Write 1 to `marks[row, column]` if move number *row* of position number *column* is greedy; skip chance's
    positions. *appeals* int64[2, rows] is a workspace for what each move brings and how it looks."""
    for column in range(len(positions)):
        mover = turns[column] + 0  # + 0: an int64
        if mover == CHANCE:
            continue
        position = position_in(game, positions, column)
        note(trouble, position)
        # The mover's number after a move. Where players alternate, 0 is always the player to move: then the other one.
        player_after = 1 if alternating else mover
        # Step 1: for each move, what it brings at once and how the position looks after it.
        count = 0
        for move in game.generate_moves(position):
            child = game.do_move(position, move)
            brings = whole(game.reward(position, move, mover)) - whole(game.reward(position, move, 1 - mover))
            looks = 0
            if game.primitive(child) != UNDECIDED:
                brings += whole(game.payoff(child, player_after)) - whole(game.payoff(child, 1 - player_after))
            elif not alternating and max(whole(game.turn(child)), 0) == mover:  # chance counts as player 0
                looks = whole(game.estimate(child))
            else:
                looks = -whole(game.estimate(child))
            appeals[0, count] = brings
            appeals[1, count] = looks
            count += 1
        # Step 2: find the best pair and mark all moves that have it.
        best, looks_best = appeals[0, 0], appeals[1, 0]
        for row in range(1, count):
            if appeals[0, row] > best or (appeals[0, row] == best and appeals[1, row] > looks_best):
                best, looks_best = appeals[0, row], appeals[1, row]
        for row in range(count):
            marks[row, column] = appeals[0, row] == best and appeals[1, row] == looks_best
