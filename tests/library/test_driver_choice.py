"""Which engines a library has."""

import re

import pytest

from scripts.basis.problem import SetupError
from scripts.library.driver_choice import drivers_of
from tests.places import ROOT

LINES = (ROOT / "drivers/CMakeLists.txt").read_text()
LIBRARIES = sorted(set(re.findall(r"LIBRARIES (\w+)", LINES)))


@pytest.mark.parametrize("library", LIBRARIES)
def test_every_library_has_engines_and_headers_of_its_own(library: str) -> None:
    drivers = drivers_of(library, ROOT)
    assert drivers.engines
    assert all(f"add_driver({engine} " in LINES for engine in drivers.engines)
    assert not {"unistd.h", "common/driver.h"} & {*drivers.headers}
    assert drivers.own not in drivers.needed


def test_a_library_is_compiled_with_what_its_pinned_release_needs() -> None:
    leveldb = drivers_of("leveldb", ROOT)
    assert leveldb.own and leveldb.own.package == "leveldb"
    assert [source.package for source in leveldb.needed] == ["snappy"]
    assert "leveldb/db.h" in leveldb.headers
    assert drivers_of("kyotocabinet", ROOT).engines == ("treedb", "hashdb")
    assert drivers_of("lmdb", ROOT).headers == ("lmdb.h",)
    assert drivers_of("tokyocabinet", ROOT).own is None


@pytest.mark.parametrize(
    ("word", "remedy"),
    [("leveldb2", "sqlite3, lmdb"), ("treedb", "of the library kyotocabinet")],
)
def test_what_is_no_library_is_refused(word: str, remedy: str) -> None:
    with pytest.raises(SetupError, match=re.escape(remedy)):
        drivers_of(word, ROOT)
