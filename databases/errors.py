"""What can go wrong with a database, each with a sentence that says which file and what to do."""

import errno

from retrograde.games import RetrogradeError


class NoDatabase(RetrogradeError, FileNotFoundError):
    """There is no such file."""


class NotADatabase(RetrogradeError, ValueError):
    """A file that is something else."""


class IsCertificate(NotADatabase):
    """A certificate where a database of all positions is wanted."""


class DamagedDatabase(RetrogradeError, OSError):
    """A database that is not as it was written."""


class VersionTooNew(RetrogradeError, ValueError):
    """A database of a later format than this version of retrograde knows."""


class OtherRules(RetrogradeError, ValueError):
    """A database made with other rules than those at hand."""


class NotInDatabase(RetrogradeError, KeyError):
    """A position that play from the start never reaches."""

    __str__ = Exception.__str__  # KeyError's own puts quotes around the sentence


class NotInBook(NotInDatabase):
    """A position that an opening book has not: it says nothing of whether play reaches it."""


class CannotWrite(RetrogradeError, OSError):
    """A database that could not be written."""


class DiskFull(CannotWrite):
    """The same for want of room on the disk."""


def refused(what: str, error: OSError) -> CannotWrite:
    """Return the error to raise where the operating system refuses to write something that a solve goes on from."""
    kind = DiskFull if error.errno in (errno.ENOSPC, errno.EDQUOT) else CannotWrite
    return kind(f"cannot write {what}: {(error.strerror or str(error)).lower()}; what is done is kept")


class InUse(RetrogradeError, BlockingIOError):
    """Another process is writing to the same place."""


class OpenElsewhere(InUse, DamagedDatabase):
    """A database that cannot be read now, because another program has it open for writing."""
