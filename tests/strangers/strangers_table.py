"""All rows of the table."""

from __future__ import annotations

from functools import cache

from tests.strangers import (
    ab_rows,
    durability_rows,
    fleet_rows,
    link_rows,
    run_rows,
)
from tests.strangers.table_row import Row

_TABLES = (run_rows, ab_rows, durability_rows, fleet_rows, link_rows)


@cache
def every_row() -> tuple[Row, ...]:
    """Return all rows."""
    return tuple(row for table in _TABLES for row in table.table())
