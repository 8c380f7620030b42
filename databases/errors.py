"""The errors of databases. Each message says which file is affected and what to do."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from retrograde.games import RetrogradeError


class NoDatabase(RetrogradeError, FileNotFoundError):
    """The file does not exist."""


class NotADatabase(RetrogradeError, ValueError):
    """The file is something else."""


class IsCertificate(NotADatabase):
    """The file is a certificate, but a database of all positions is wanted."""


class DamagedDatabase(RetrogradeError, OSError):
    """The database differs from what was written."""


class UnreadableVersion(RetrogradeError, ValueError):
    """The database has a format version that this version of retrograde does not read."""


class VersionTooNew(UnreadableVersion):
    """The format version is newer than this version of retrograde."""


class VersionTooOld(UnreadableVersion):
    """The format version is one that is no longer read."""


class OtherRules(RetrogradeError, ValueError):
    """The database was made with rules other than those at hand."""


class NotInDatabase(RetrogradeError, KeyError):
    """Play from the start never reaches the position."""

    __str__ = Exception.__str__  # KeyError's own puts quotes around the sentence


class NotInBook(NotInDatabase):
    """The opening book lacks the position. Play may still reach it."""


class CannotWrite(RetrogradeError, OSError):
    """The database could not be written."""


class DiskFull(CannotWrite):
    """The database could not be written because the disk is full."""


@contextmanager
def expect_disk(what: str) -> Iterator[None]:
    """Raise CannotWrite if the operating system refuses to write *what*, which a solve resumes from."""
    try:
        yield
    except RetrogradeError:
        raise
    except OSError as error:
        kind = DiskFull if error.errno in (errno.ENOSPC, errno.EDQUOT) else CannotWrite
        raise kind(f"cannot write {what}: {(error.strerror or str(error)).lower()}; what is done is kept") from error


class InUse(RetrogradeError, BlockingIOError):
    """Another process is writing to the same place."""


class OpenElsewhere(InUse, DamagedDatabase):
    """The database cannot be read now, because another program has it open for writing."""
