"""The auditor is tested by taking flushes away from a recorded good log.

A flush that is removed is as a disk, or an engine, that acknowledges it without
performing it.  Each removal that uncovers an acknowledged write must be reported, and
nothing on the untouched log.
"""

import json
from pathlib import Path

import pytest

from tests.places import BUILD
from tests.support.as_root import in_namespaces

_LEAST_REPORTED = 0.95


@pytest.mark.slow
@pytest.mark.parametrize(
    ("engine", "flags"),
    [("memory", []), ("sqlite3", ["--wal_autocheckpoint=50"])],
)
def test_removed_flushes_are_reported(
    engine: str, flags: list[str], tmp_path: Path
) -> None:
    """At least 95 in 100 that uncover a write, and no alarm on the whole log."""
    program = BUILD / f"drivers/db_bench_{engine}"
    if not program.is_file():
        pytest.skip(f"db_bench_{engine} is not built")
    answer = json.loads(
        in_namespaces(
            *("tests.durability.flush_removal", str(program)),
            *(str(BUILD / "common/block_log"), str(tmp_path), *flags),
        )
    )
    assert answer["untouched"]["tried"] >= 40
    assert answer["untouched"]["reported"] == 0
    removed = answer["removed"]
    assert removed["tried"] >= 40
    assert removed["reported"] >= _LEAST_REPORTED * removed["tried"], removed["missed"]
