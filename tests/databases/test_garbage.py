"""Pauses of the garbage collector."""

import gc
from contextlib import ExitStack

from retrograde.databases.remote import without_garbage_collector


def test_the_garbage_collector_is_paused_and_goes_on_only_if_it_ran_before():
    for before in (True, False, True):
        (gc.enable if before else gc.disable)()
        with without_garbage_collector():
            with without_garbage_collector():
                assert not gc.isenabled()
            assert not gc.isenabled()
        assert gc.isenabled() == before


def test_pauses_may_overlap():
    """As those of two threads do."""
    first, second = ExitStack(), ExitStack()
    first.enter_context(without_garbage_collector())
    second.enter_context(without_garbage_collector())
    first.close()
    assert not gc.isenabled()
    second.close()
    assert gc.isenabled()
