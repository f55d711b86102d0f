"""Ranks for synthetic runs, whose cells have a thousand operations in a millisecond."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from report.verdict import eligibility


@contextmanager
def short_cells_ranked() -> Iterator[None]:
    """Rank cells however short their work is, and however small their data."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(eligibility, "LEAST_TIMED_NS", 0)
        patch.setattr(eligibility, "data_bytes", lambda *_: 0)
        yield


@pytest.fixture(scope="module")
def ranked_short_cells() -> Iterator[None]:
    """Rank the short cells of synthetic runs in all tests of a module."""
    with short_cells_ranked():
        yield
