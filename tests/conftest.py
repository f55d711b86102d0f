"""Fixtures of tests in several rooms."""

from collections.abc import Iterator

import pytest

from tests.support.short_cells import short_cells_ranked


@pytest.fixture(scope="module")
def ranked_short_cells() -> Iterator[None]:
    """Rank the short cells of synthetic runs in all tests of a module."""
    with short_cells_ranked():
        yield
