"""Every kind of input with its surfaces, and one attempt: write, read, judge."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from tests.fake_drivers.kinds import shim
from tests.hostile import continuing, surfaces
from tests.hostile.contract import (
    Broken,
    check_names_key,
    check_untouched,
    limited_effort,
)
from tests.hostile.json_tokens import CANARIES, let_canaries_be_in, text_of
from tests.hostile.material import (
    BYTE_EDITS,
    LINK_EDITS,
    PLAIN,
    SEALED,
    STALE,
    VALUE_EDITS,
    Edit,
    Material,
    renamed,
)
from tests.hostile.schema_walk import Spot, breaks, is_json, is_too_deep
from tests.hostile.spot_values import values_of
from tests.hostile.surfaces import InputPlaces, Surface
from tests.hostile.toml_inputs import is_toml
from tests.hostile.valid_inputs import OTHER, inputs
from tests.strangers.canaries import Canaries, library

# Surfaces that do not read every file, or end well without one that is broken.
_PARTIAL = (
    *("list runs", "samples", "list", "list cells", "list json"),
    *("dry run", "dry run json", "plan", "replay", "merge", "fleet block"),
)
_PRINTED = ("description", "answer")  # what a program prints: no file of a folder
# Text without a schema, in which any line may be skipped.
_TEXTS = ("stat_lines", "result_table", "go_benchmark", "ycsb")
ACCEPTED, REFUSED = "accepted", "refused"


@dataclass(frozen=True)
class Case:
    """An input: edits of a valid one, and the surface that reads it."""

    subject: str
    surface: str
    edits: tuple[Edit, ...]
    mode: str = PLAIN

    def document(self) -> dict[str, Any]:
        """Return the case as JSON."""
        return {**vars(self), "edits": [edit.document() for edit in self.edits]}

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Case:
        """Return the case that document() wrote."""
        edits = tuple(map(Edit.of, document["edits"]))
        return cls(**{**document, "edits": edits})


SURFACES: dict[str, dict[str, Surface]] = {
    "run": surfaces.RUN_SURFACES,
    "mix": surfaces.RUN_SURFACES,
    "ab": surfaces.AB_SURFACES,
    "history": surfaces.HISTORY_SURFACES,
    "google": surfaces.kept_surfaces("google.json"),
    "stat_lines": surfaces.kept_surfaces("stats.txt"),
    "result_table": surfaces.kept_surfaces("report.tsv"),
    "go_benchmark": surfaces.kept_surfaces("go.txt"),
    "ycsb": surfaces.YCSB_SURFACES,
    "description": surfaces.DESCRIPTION_SURFACES,
    "answer": surfaces.ANSWER_SURFACES,
    "configs": surfaces.CONFIG_SURFACES,
    "lab": surfaces.LAB_SURFACES,
    "durability": continuing.DURABILITY_SURFACES,
    "fleet": continuing.FLEET_SURFACES,
    "shard": continuing.SHARD_SURFACES,
    "cut": continuing.CUT_SURFACES,
}


class Bench:
    """A temporary folder in which inputs are written and read, one after the other."""

    def __init__(self, root: Path) -> None:
        self.root = root
        write(renamed(inputs()["run"], OTHER).contents(()), root / "valid" / OTHER)
        write(inputs()["history"].contents(()), root / "history")
        drivers = root / "build/drivers"
        drivers.mkdir(parents=True)
        executable = drivers / "db_bench_one"
        executable.write_text(shim("honest", "one"))
        executable.chmod(0o755)
        self.canaries = Canaries.placed(root / "canaries", library())

    def attempt(self, case: Case) -> str:
        """Return ACCEPTED or REFUSED.  Raises Broken if the contract does not hold."""
        let_canaries_be_in(str(self.canaries.home))
        material = inputs()[case.subject]
        plan = material.parts[0].documents[0]
        name = str(plan.get("run")) if material.has_checksums else "it"
        scratch = self.root / "scratch"
        folder = self.root / "runs" / name
        for old in (scratch, folder.parent):
            shutil.rmtree(old, ignore_errors=True)
        lab = continuing.lab_of(case.subject, self.root, folder)
        write(material.contents(case.edits, case.mode), folder)
        for edit in case.edits:
            link(folder, edit, self.canaries)
        quiet = self.canaries.state()
        scratch.mkdir()
        places = InputPlaces(
            folder=folder,
            other=self.root / "valid" / OTHER,
            history=self.root / "history",
            scratch=scratch,
            build=self.root / "build",
            lab=lab,
        )
        try:
            with limited_effort():
                message = SURFACES[case.subject][case.surface](places)
        finally:
            shutil.rmtree(folder.parent)
            touched = self.canaries.touched(quiet)
            if touched or any(edit.is_link for edit in case.edits):
                self.canaries = self.canaries.replaced(library())
        check_untouched(touched)
        check_refusal(case, material, message)
        return REFUSED if message else ACCEPTED


def write(contents: Mapping[str, bytes], folder: Path) -> None:
    """Write the files of an input into a new folder."""
    for name, content in contents.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def link(folder: Path, edit: Edit, canaries: Canaries) -> None:
    """Replace a file or folder by a link, if the edit does that and it is there."""
    path = folder / edit.file
    above = [p for p in path.parents if p.is_relative_to(folder) and p != folder]
    is_hidden = any(p.is_symlink() or (p.exists() and not p.is_dir()) for p in above)
    if not edit.is_link or path.is_symlink() or is_hidden:
        return
    if edit.do == "move" and path.exists():
        target = canaries.adopt(path)
    else:
        target = Path(json.loads(text_of(edit.value)))
        if path.is_dir():
            shutil.rmtree(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
    path.symlink_to(target)


def check_refusal(case: Case, material: Material, message: str) -> None:
    """Raise Broken if one edit breaks the schema, and the message lacks its key."""
    if case.surface in _PARTIAL or case.subject in _TEXTS or len(case.edits) != 1:
        return
    (edit,) = case.edits
    if edit.is_link or edit.file == "plan.json":  # nodes read that, each its own
        return
    if case.mode == STALE and not edit.is_of_bytes and not _is_same(material, edit):
        if not message:
            raise Broken("accepted", "a file whose checksum is wrong", "stale")
        return
    if edit.is_of_bytes or _is_toml_alone(material, edit):
        return
    spot = _spot_of(material, edit)
    if spot and case.subject == "google" and not (spot.parts or is_json(edit.value)):
        return  # other programs write NaN, which is no JSON; only what is read counts
    if spot and breaks(spot, edit.do, edit.value):
        if not message:
            problem = f"what the schema forbids: {edit.do} {edit.path} {edit.value}"
            raise Broken("accepted", problem, f"schema {edit.path}")
        if _is_read(material, edit, spot):
            check_names_key(message, _named_key(edit))


# Of a run, a line or a document: what a checksum adds a second time.
_ADDED = ("plan", "checksum")


def _is_same(material: Material, edit: Edit) -> bool:
    return material.contents((edit,)) == material.contents(())


def _is_toml_alone(material: Material, edit: Edit) -> bool:
    """Return True for a value that JSON cannot write, such as 0b1: no rule is known."""
    rules, text = material.part(edit.file).rules, text_of(edit.value)
    return bool(rules) and not is_json(edit.value) and is_toml(text)


def _spot_of(material: Material, edit: Edit) -> Spot | None:
    found = material.spots(edit.file, edit.line)
    return next((spot for spot in found if spot.path == edit.path), None)


def _is_read(material: Material, edit: Edit, spot: Spot) -> bool:
    """Return True if the file is valid JSON or TOML, so that its rules judge it."""
    if material.part(edit.file).rules:
        is_deep = is_too_deep(spot, edit.value)
        return edit.do != "double" and not is_deep and is_toml(text_of(edit.value))
    try:
        return (
            edit.do != "double"
            and edit.path[0] not in _ADDED
            and not breaks(
                Spot(spot.path, (), spot.value, spot.present), edit.do, edit.value
            )
        )
    except RecursionError:
        return False


def _named_key(edit: Edit) -> str:
    """Return the last key of a path that is a name."""
    return next(str(key) for key in reversed(edit.path) if isinstance(key, str))


@cache
def _spot_edits(subject: str, file: str, line: int) -> st.SearchStrategy[Edit]:
    """Return edits of one document, at every spot alike."""
    material = inputs()[subject]
    part = material.part(file)
    return st.sampled_from(material.spots(file, line)).flatmap(
        lambda spot: st.builds(
            Edit,
            st.just(file),
            st.sampled_from(("set",) * 5 + VALUE_EDITS),
            st.just(line),
            st.just(spot.path),
            st.one_of(
                st.sampled_from([*values_of(spot), *part.more_values]),
                st.sampled_from([*CANARIES]),
                st.sampled_from(_allowed(spot)),
                _free_values(),
            ),
        )
    )


def _allowed(spot: Spot) -> list[str]:
    """Return the values that the schema allows: they reach what comes after it."""
    values = values_of(spot)
    return [v for v in values if not breaks(spot, "set", v)] or [*values]


@cache
def _free_values() -> st.SearchStrategy[str]:
    """Return JSON texts that no list names: numbers, texts, small structures."""
    simple = st.one_of(
        st.integers(-(2**70), 2**70), st.floats(), st.text(max_size=40), st.none()
    )
    nested = st.recursive(
        simple,
        lambda inner: st.one_of(
            st.lists(inner, max_size=4),
            st.dictionaries(st.text(max_size=8), inner, max_size=4),
        ),
        max_leaves=8,
    )
    from json import dumps

    return nested.map(dumps)


@cache
def _byte_edits(file: str) -> st.SearchStrategy[Edit]:
    number = st.integers(0, 2**20)
    return st.builds(
        Edit,
        st.just(file),
        st.sampled_from(("flip",) * 4 + BYTE_EDITS),
        value=st.sampled_from(
            ['"', "{", "}", "\n", "\r", "\\", "@nul", "@raw control"]
        ),
        at=number,
        bit=st.integers(0, 40),
    )


@cache
def _link_edits(files: tuple[str, ...]) -> st.SearchStrategy[Edit]:
    """Return edits that replace a file or folder by a link to another one."""
    targets = ("@canary file", "@canary folder", "@canary device", "@canary to be")
    return st.builds(
        Edit,
        st.sampled_from(files),
        st.sampled_from(LINK_EDITS),
        value=st.sampled_from(targets),
    )


@cache
def cases(subject: str) -> st.SearchStrategy[Case]:
    """Return cases of one kind of input."""
    material = inputs()[subject]
    documents = [(p.file, n) for p in material.parts for n in range(len(p.documents))]
    files = [part.file for part in material.parts]
    by_file = st.sampled_from(files).flatmap(
        lambda file: st.sampled_from([d for d in documents if d[0] == file])
    )
    edit = st.one_of(
        by_file.flatmap(lambda key: _spot_edits(subject, *key)),
        by_file.flatmap(lambda key: _spot_edits(subject, *key)),
        st.sampled_from(files).flatmap(_byte_edits),
        *([] if subject in _PRINTED else [_link_edits((*files, *material.places))]),
    )
    return st.builds(
        Case,
        st.just(subject),
        st.sampled_from(list(SURFACES[subject])),
        st.lists(edit, min_size=1, max_size=3).map(tuple),
        st.sampled_from(_weighted(material)),
    )


def _weighted(material: Material) -> tuple[str, ...]:
    """Return the modes; the one that reaches the deepest code is the most frequent."""
    return (
        (PLAIN, PLAIN, SEALED, SEALED, SEALED, STALE)
        if material.has_checksums
        else (PLAIN,)
    )


Attempt = Callable[[Case], str]
