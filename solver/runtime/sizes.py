"""Thresholds for cutting a solve into tasks, and for choosing methods."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Sizes:
    """Sizes and times. None of them changes a value. Only `in_memory` changes the database: its kind of storage."""

    interpreted_seconds: float = 0.2
    """CPU seconds of exploring up to which a game is never compiled."""
    rules_seconds: float = 1.0
    """The same, roughly, if only the rules are to be compiled: that takes about a second."""
    uncompiled_seconds: float = 2.5
    """The same if no machine code is cached: compiling takes two to eight seconds."""
    interpreted_slots: int = 25_000
    """Games with more slots than this are compiled at once."""
    listed_slots: int = 1000
    """Games with chance that number their positions are explored if they have no more slots than this."""
    in_memory: int = 4_000_000
    """Records (symmetric positions counted once) above which a game is solved streamed, if possible, and stored as
    steps.

    A smaller database stores the positions too. It is small either way, and then knows which positions play never
    reaches.
    """
    plies_bits: tuple[int, ...] = (14, 30)
    """Bits for the remoteness in a score. The larger size is used if the smaller overflows."""
    journal_seconds: float = 0.5
    """Seconds between two writes of the journal: about the most work that a kill loses."""
    predecessors_seconds: float = 60.0
    """Seconds of building a tier's predecessor lists after which these go to scratch files.

    So a kill does not lose them. It applies where memory suffices for the lists; otherwise they are in scratch files
    anyway.
    """
    predecessors_in_scratch: bool = False
    """Whether predecessor lists of tiers with cycles go to scratch files even if memory suffices."""
    predecessors_at_most: int | None = None
    """Bytes of scratch files for a tier's predecessor lists, if it can be solved without them. None: the free disk,
    less a margin.
    """
    lists_in_scratch: bool = False
    """Whether listed positions go to scratch files even if memory suffices."""
    scores_in_scratch: bool = False
    """Whether the scores of all slots go to a scratch file even if memory suffices."""
    ranged_slots: int = 1 << 20
    """Slots from which a tier is solved in ranges, if workers are other processes. A smaller tier is solved faster by
    the solving process in its own arrays.
    """
    range_bits: int = 21
    """The most slots in such a range, as a power of two."""
    beside_slots: int = 1 << 18
    """Slots up to which a tier is solved concurrently with others. A larger one has tasks for all workers."""
    stream_children: int = 1 << 21
    """The most children in a task of a streamed solve, if memory allows."""
    stream_least_children: int = 1 << 14
    """The same if memory is short."""
    stream_positions: int = 1 << 15
    """The least positions in a task of a streamed solve's second half, if there are that many."""
    stream_milestone: int = 4
    """Blocks of a list between two positions of it that are kept in memory for searching."""
    chunk_words: int = 1 << 15
    """The least words of sets that the set-wise method makes and spills together."""
    sent_words: int = 1 << 19
    """The least words in a set-wise task for another process. With fewer, a worker takes less than a 20th of a second,
    and the solving process does a wave without that many faster itself.
    """
    estimate_seconds: float = 2.0
    """Seconds of streaming before the total is estimated; shorter solves are not worth an estimate."""
