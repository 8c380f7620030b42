"""The sizes by which a solve is cut and chosen."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Sizes:
    """How large things may be, and how long they may take. None of them decides a value; `in_memory` decides which kind
    of database there will be, and no other a byte of it.
    """

    interpreted_seconds: float = 0.2
    """Games that are explored in less time of a processor are not compiled."""
    uncompiled_seconds: float = 2.5
    """The same, about, of games whose machine code is not kept: to compile them takes from two seconds to eight."""
    interpreted_slots: int = 25_000
    """Games with a numbering of more slots are compiled at once."""
    listed_slots: int = 1000
    """Games with chance that number their positions are explored where they have no more slots than that."""
    in_memory: int = 4_000_000
    """Records, symmetric positions counted once, from which games are solved in a stream, if they can be, and stored as
    steps. A smaller database stores the positions as well: it is small either way, and can tell what play never
    reaches."""
    plies_bits: tuple[int, ...] = (14, 30)
    """Bits for the remoteness in a score; the more are used where the fewer have been too few."""
    journal_seconds: float = 0.5
    """The most work that is lost when a solve is killed, where what is done between two pauses takes no longer."""
    links_seconds: float = 60.0
    """Seconds of looking for links of a tier after which they are put aside in scratch files, so that a kill does not
    lose them, where memory suffices for them."""
    links_in_scratch: bool = False
    """Whether links of tiers with cycles lie in scratch files, where they do only for want of memory otherwise."""
    links_at_most: int | None = None
    """Bytes of scratch files that the links of a tier may take, where there is a way without them; None for what is
    free on the disk, less a margin."""
    lists_in_scratch: bool = False
    """Whether positions that are listed lie in scratch files, where they do only for want of memory otherwise."""
    scores_in_scratch: bool = False
    """Whether the scores of all slots lie in a scratch file, where they do only for want of memory otherwise."""
    ranged_slots: int = 1 << 20
    """Slots of a tier from which these lie in ranges, where workers are other processes: of fewer the process that
    solves is sooner done with its own arrays."""
    range_bits: int = 21
    """Slots in such a range, as a power of two, at most."""
    beside_slots: int = 1 << 18
    """Slots of a tier up to which it is solved beside others: one of more has tasks for all workers."""
    stream_children: int = 1 << 21
    """Children in a task of a streamed solve, at most, where memory allows."""
    stream_least_children: int = 1 << 14
    """The same where it does not."""
    stream_positions: int = 1 << 15
    """Positions in a task of solving in a stream, at least, where there are so many."""
    stream_milestone: int = 4
    """Blocks of a list between two positions of it that are remembered."""
    chunk_words: int = 1 << 15
    """Words of sets that are made together and put aside together where a game is solved word by word, at least."""
    sent_words: int = 1 << 19
    """Words in a task of such a solve for another process, at least: with fewer a worker is done in less than a 20th
    of a second, and a wave that has no more is soon done by the process that solves."""
    estimate_seconds: float = 2.0
    """Seconds of streaming after which it is estimated how much there will be: of less it is not worth while."""
