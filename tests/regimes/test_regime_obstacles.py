"""Machines that cannot have a regime: what is missing, and its remedy."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from report.terms.regime import BLOCK, DIRECTORY, LOOP, Regime
from scripts.regime import regime_site
from scripts.regime.regime_site import why_no_regime
from tests.support.poor_machine import (
    MISSING,
    Take,
    has_everything,
    no_mkfs,
    no_namespaces,
    not_root,
)

ON_EXT4 = Regime(device=LOOP, file_system="ext4")
ON_XFS = Regime(device=LOOP, file_system="xfs")
ON_BLOCK = Regime(device=BLOCK, file_system="xfs")
IN_DIRECTORY = Regime(device=DIRECTORY)
LIMITED = Regime(memory_limit_bytes=64 << 20)


@pytest.fixture
def hierarchy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Simulate a machine that has everything, with control groups of version 2."""
    has_everything(monkeypatch)
    folder = tmp_path / "groups"
    folder.mkdir()
    (folder / "cgroup.controllers").write_text("cpu memory\n")
    mountinfo = tmp_path / "mountinfo"
    mountinfo.write_text(f"35 24 0:31 / {folder} rw - cgroup2 cgroup2 rw\n")
    monkeypatch.setattr(regime_site, "_MOUNTINFO", mountinfo)
    return folder


@pytest.mark.parametrize(
    ("thing", "regime"),
    [
        *((thing, ON_XFS) for thing in MISSING),
        *((thing, ON_BLOCK) for thing in MISSING if thing != "mkfs"),
        ("root", LIMITED),
    ],
)
def test_what_is_missing_is_named_with_its_remedy(
    hierarchy: Path, monkeypatch: pytest.MonkeyPatch, thing: str, regime: Regime
) -> None:
    take, fault, remedy = MISSING[thing]
    take(monkeypatch)
    why = why_no_regime([Regime(cache="cold"), regime])
    assert fault in why and remedy in why


@pytest.mark.parametrize(
    ("takes", "regimes"),
    [
        ([], [ON_EXT4, ON_XFS, ON_BLOCK, IN_DIRECTORY]),
        ([no_mkfs], [ON_EXT4, ON_BLOCK]),
        ([not_root, no_namespaces], [IN_DIRECTORY, Regime(cache="cold")]),
    ],
)
def test_nothing_is_demanded_that_the_regimes_do_not_need(
    hierarchy: Path,
    monkeypatch: pytest.MonkeyPatch,
    takes: Sequence[Take],
    regimes: Sequence[Regime],
) -> None:
    for take in takes:
        take(monkeypatch)
    assert why_no_regime(regimes) == ""
    assert not list(hierarchy.glob("kvmatrix-*"))


def test_a_machine_without_memory_groups_says_so(
    hierarchy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (hierarchy / "cgroup.controllers").write_text("cpu\n")
    assert "no memory control groups: mount them" in why_no_regime([LIMITED])


def test_groups_that_cannot_be_made_are_an_obstacle_and_leave_nothing(
    hierarchy: Path,
) -> None:
    """As in a container with version 2, whose root group has processes: it is busy."""
    (hierarchy / "cgroup.subtree_control").mkdir()
    why = why_no_regime([LIMITED])
    assert "no memory group can be made there" in why and "--cgroupns=host" in why
    assert not list(hierarchy.glob("kvmatrix-*"))
