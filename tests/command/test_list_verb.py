"""The verb list: what there is to run, and what has been run."""

import json
from pathlib import Path

import pytest

from tests.support.lab import Lab, make_lab


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    lab = make_lab(tmp_path)
    lab.scenario()
    lab.suite()
    return lab


def test_list_shows_versions_and_what_is_missing(lab: Lab) -> None:
    lab.engine("one", "unable")
    lab.engine("gone", None)
    shown = lab.call("list").stdout
    assert "One 1.0" in shown and "missing: not built" in shown
    cells = lab.call("list", "cells", "lab").stdout
    assert "one/base/readseq" in cells and "keeps no order" in cells
    document = json.loads(lab.call("list", "engines", "--json").stdout)
    assert [e["version"] for e in document["engines"]] == ["1.0", None]
