from retrograde.games import LOSE, UNDECIDED, Game


class Heap(Game):
    """Take one, two or three from the heap; the player who takes the last one wins."""

    size: int = 10

    @property
    def start(self):
        return self.size

    def generate_moves(self, heap):
        yield from range(1, min(3, heap) + 1)

    def do_move(self, heap, taken):
        return heap - taken

    def primitive(self, heap):
        return LOSE if heap == 0 else UNDECIDED
