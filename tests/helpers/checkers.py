"""English draughts, slow and obvious: what the endings of draughts are held against.

A board is a dict from cells, (row, column) from the top left, to pieces: b and w are men, B and W kings. Black's men go
down the board. Nothing here is shared with the rules of the program, but how PDN writes a position.
"""

from itertools import combinations, product

FORWARD = {"b": (1,), "w": (-1,), "B": (1, -1), "W": (1, -1)}


def cell_of(square, rows):
    """Return the cell of a square's number."""
    row, column = divmod(square - 1, rows // 2)
    return row, 2 * column + (row % 2 == 0)


def square_of(cell, rows):
    """Return the number of a cell."""
    return cell[0] * (rows // 2) + cell[1] // 2 + 1


def dark(cell, rows):
    """Tell whether a cell is a dark one of the board."""
    return 0 <= cell[0] < rows and 0 <= cell[1] < rows and sum(cell) % 2 == 1


def start(rows):
    """Return the board at the start; Black moves first."""
    full = rows // 2 * (rows // 2 - 1)
    board = {cell_of(square, rows): "b" for square in range(1, full + 1)}
    return board | {cell_of(rows * rows // 2 + 1 - square, rows): "w" for square in range(1, full + 1)}


def crowned(piece, cell, rows):
    """Return what a piece is that has come to a cell."""
    return piece.upper() if cell[0] == (rows - 1 if piece == "b" else 0) else piece


def jumps(board, cell, piece, rows):
    """Yield the ways in which a piece that stands on a cell, off the board meanwhile, can capture on: cells, board."""
    for down, right in product(FORWARD[piece], (-1, 1)):
        over, to = (cell[0] + down, cell[1] + right), (cell[0] + 2 * down, cell[1] + 2 * right)
        if dark(to, rows) and to not in board and board.get(over, piece).lower() != piece.lower():
            rest = {place: other for place, other in board.items() if place != over}
            if crowned(piece, to, rows) != piece:
                yield [to], rest | {to: piece.upper()}
                continue
            further = list(jumps(rest, to, piece, rows))
            for cells, after in further:
                yield [to, *cells], after
            if not further:
                yield [to], rest | {to: piece}


def moves(board, turn, rows):
    """Return the moves of a colour, b or w, as their names and the boards after them."""
    captures, steps = [], []
    for cell, piece in board.items():
        if piece.lower() != turn:
            continue
        rest = {place: other for place, other in board.items() if place != cell}
        for cells, after in jumps(rest, cell, piece, rows):
            captures.append(("x".join(str(square_of(one, rows)) for one in [cell, *cells]), after))
        for down, right in product(FORWARD[piece], (-1, 1)):
            to = cell[0] + down, cell[1] + right
            if dark(to, rows) and to not in board:
                steps.append((f"{square_of(cell, rows)}-{square_of(to, rows)}", rest | {to: crowned(piece, to, rows)}))
    return captures or steps


def perft(board, turn, rows, depth):
    """Return how many games of so many plies there are."""
    if depth == 0:
        return 1
    other = "w" if turn == "b" else "b"
    return sum(perft(after, other, rows, depth - 1) for _, after in moves(board, turn, rows))


def text_of(board, turn, rows):
    """Return a position as PDN has it."""
    sides = {
        colour: ",".join(
            f"{'K' * piece.isupper()}{square}"
            for square, piece in sorted((square_of(cell, rows), piece) for cell, piece in board.items())
            if piece.lower() == colour
        )
        for colour in "wb"
    }
    return f"{turn.upper()}:W{sides['w']}:B{sides['b']}"


def boards_of(pieces, rows):
    """Yield all boards with these pieces, given as text such as `wWb`."""
    if not pieces:
        yield {}
        return
    piece, count = pieces[0], pieces.count(pieces[0])
    cells = [cell_of(square, rows) for square in range(1, rows * rows // 2 + 1)]
    cells = [cell for cell in cells if crowned(piece, cell, rows) == piece]
    for rest in boards_of(pieces.replace(piece, ""), rows):
        for chosen in combinations([cell for cell in cells if cell not in rest], count):
            yield rest | dict.fromkeys(chosen, piece)


def solution(endings, rows):
    """Return what all positions with some pieces are worth, by their texts: (value, plies), or ("draw", None).

    *endings* are texts of pieces, and must have among them all that can follow. In each round those positions are
    decided that are as many plies from the end.
    """
    children = {
        text_of(board, turn, rows): [
            text_of(after, "w" if turn == "b" else "b", rows) for _, after in moves(board, turn, rows)
        ]
        for pieces in endings
        for board in boards_of(pieces, rows)
        for turn in "wb"
    }
    worth: dict[str, tuple[str, int]] = {}
    undecided, plies = set(children), 0
    decided = None
    while decided or plies < 2:
        decided = {}
        for text in undecided:
            found = [worth.get(child) for child in children[text]]
            if ("lose", plies - 1) in found:
                decided[text] = "win", plies
            elif all(one and one[0] == "win" for one in found):
                decided[text] = "lose", plies
        worth |= decided
        undecided -= set(decided)
        plies += 1
    return worth | dict.fromkeys(undecided, ("draw", None))
