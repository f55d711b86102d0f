"""Edits of a folder as a stranger makes them: whatever has a checksum has a right one.

In values, the tokens of canaries.py are their paths.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from report.model.ab_folder import ab_plan_of
from report.model.plan_document import plan_of, sha256_of_settings
from report.terms.documents import ResultsError
from scripts.planning.engine_program import Program
from tests.strangers.canaries import Canaries
from tests.strangers.cuts import write_cut
from tests.support.resealed import edit_document, edit_lines, edit_plan

Keys = Sequence[str | int]
_PLANS = {"run.json": plan_of, "ab.json": ab_plan_of, "durability.json": None}
_CUT = "cut.json"


@dataclass(frozen=True)
class Edit:
    """A change of a folder; `name` is a file or folder in it."""

    name: str

    def apply(self, folder: Path, canaries: Canaries) -> None:
        """Make the change."""
        raise NotImplementedError


@dataclass(frozen=True)
class Change(Edit):
    """A change of one value in the documents of a file.

    A key "?two" stands for the item of a list whose name or setting is "two".
    """

    keys: Keys
    value: Any = None

    def apply(self, folder: Path, canaries: Canaries) -> None:
        """Change the value, and reseal what has a checksum."""
        self.apply_value(folder, canaries.named(self.value))

    def apply_value(self, folder: Path, value: Any) -> None:
        """Change the value to one without tokens."""

        def change(document: dict[str, Any]) -> None:
            *above, last = self.keys
            place: Any = document
            for key in above:
                place = place[_index(place, key)]
            self.change_in(place, _index(place, last), value)

        def change_plan(plan: dict[str, Any]) -> None:
            change(plan)
            _reseal(self.name, plan)

        if self.name == _CUT:
            write_cut(folder, change)
        elif self.name in _PLANS:
            edit_plan(folder, change_plan)
        else:
            (file,) = folder.glob(self.name)
            edit_document(file, change)

    def change_in(self, place: Any, key: Any, value: Any) -> None:
        """Change an object or a list at a key."""
        raise NotImplementedError


class Set(Change):
    """Set a value."""

    def change_in(self, place: Any, key: Any, value: Any) -> None:
        """Set the value."""
        place[key] = value


class Add(Change):
    """Extend a list, an object or a text."""

    def change_in(self, place: Any, key: Any, value: Any) -> None:
        """Add to the value, which may be missing."""
        old = place.get(key, type(value)()) if isinstance(place, dict) else place[key]
        place[key] = {**old, **value} if isinstance(value, dict) else old + value


class Drop(Change):
    """Remove a value."""

    def change_in(self, place: Any, key: Any, _value: Any) -> None:
        """Remove the value."""
        del place[key]


@dataclass(frozen=True)
class Disguise(Edit):
    """Let a row that is not built be one behind a plug-in, which is a canary."""

    name: str = "absent"

    def apply(self, folder: Path, canaries: Canaries) -> None:
        """Give the row what a built one has, and take its lines away."""
        library = canaries.places["@library"]
        drivers = folder.parents[1] / "build/drivers"
        program = Program(drivers / "db_bench_plugin", library)

        def disguise(plan: dict[str, Any]) -> None:
            by_name = {engine["name"]: engine for engine in plan["engines"]}
            describe = {**by_name["one"]["describe"], "engine": self.name}
            by_name[self.name].update(
                missing="",
                plugin=str(library),
                describe=describe,
                binary_sha256=program.sha256(),
            )
            for scenario in plan["scenarios"]:
                scenario["flags"][self.name] = scenario["flags"]["one"]
            _reseal("run.json", plan)

        def leave_out(lines: list[dict[str, Any]]) -> None:
            lines[:] = [line for line in lines if line["engine"] != self.name]

        edit_plan(folder, disguise)
        Reorder().apply(folder, canaries)
        edit_lines(folder / "measurements.jsonl", leave_out)


@dataclass(frozen=True)
class Reorder(Edit):
    """Let the order of run.json have just what is due, after other edits."""

    name: str = "run.json"

    def apply(self, folder: Path, canaries: Canaries) -> None:
        """Leave units out, and append those that are missing."""

        def reorder(document: dict[str, Any]) -> None:
            plan = plan_of(document, folder)
            due = {
                (repetition, index)
                for index, cell in enumerate(plan.cells)
                for repetition in range(
                    1, 2 if plan.obstacle(cell) else plan.rounds + 1
                )
            }
            order, listed = [], set()
            for repetition, indexes in document["order"]:
                kept = [i for i in indexes if (repetition, i) in due]
                listed |= {(repetition, i) for i in kept}
                order += [[repetition, kept]] if kept else []
            order += [
                [repetition, [index]] for repetition, index in sorted(due - listed)
            ]
            document["order"] = order

        edit_plan(folder, reorder)


def _index(place: Any, key: str | int) -> str | int:
    if isinstance(key, str) and key.startswith("?"):
        names = [item.get("setting") or item["name"] for item in place]
        return names.index(key[1:])
    return key


def _reseal(name: str, plan: dict[str, Any]) -> None:
    """Recompute the checksum of the settings, if the plan can be read."""
    read = _PLANS[name]
    if read is None or "settings_sha256" not in plan:
        return
    try:
        plan["settings_sha256"] = sha256_of_settings(read(plan, Path(name)))
    except (ResultsError, KeyError, TypeError, ValueError):
        return


@dataclass(frozen=True)
class Link(Edit):
    """A link in place of a file or folder, which need not exist.

    `to` is a token, or "@own": the file itself becomes a canary elsewhere.
    """

    to: str = "@own"
    how: str = "absolute"  # or "relative"

    def apply(self, folder: Path, canaries: Canaries) -> None:
        """Replace the file or folder."""
        path = folder / self.name
        if self.to == "@own":
            target = canaries.adopt(path)
        else:
            target = canaries.places[self.to]
            _make_room(path)
        if self.how == "relative":
            target = Path(os.path.relpath(target, path.parent))
        path.symlink_to(target)


@dataclass(frozen=True)
class Loop(Edit):
    """A link to itself."""

    def apply(self, folder: Path, canaries: Canaries) -> None:
        """Replace the file or folder."""
        path = folder / self.name
        _make_room(path)
        path.symlink_to(path.name)


@dataclass(frozen=True)
class SecondName(Edit):
    """A hard link: the file has a second name among the canaries."""

    def apply(self, folder: Path, canaries: Canaries) -> None:
        """Replace the file, or create it."""
        path = folder / self.name
        path.parent.mkdir(exist_ok=True)
        if not path.exists():
            path.touch()
        os.link(canaries.adopt(path), path)


@dataclass(frozen=True)
class Pipe(Edit):
    """A pipe in place of a file: whoever waits at it waits for ever."""

    def apply(self, folder: Path, canaries: Canaries) -> None:
        """Replace the file."""
        path = folder / self.name
        _make_room(path)
        os.mkfifo(path)


@dataclass(frozen=True)
class Within(Edit):
    """Edits of the folder `name` below the folder."""

    edits: tuple[Edit, ...]

    def apply(self, folder: Path, canaries: Canaries) -> None:
        """Make the edits."""
        forge(folder / self.name, self.edits, canaries)


@dataclass(frozen=True)
class Named(Edit):
    """Another name of the folder itself."""

    def apply(self, folder: Path, canaries: Canaries) -> None:
        """Rename the folder."""
        folder.rename(folder.with_name(canaries.named(self.name)))


def _make_room(path: Path) -> None:
    """Create the folders above a path, and remove what is there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir() and not path.is_symlink():
        path.rename(path.with_name(f"{path.name}-before"))
    path.unlink(missing_ok=True)


def forge(folder: Path, edits: Iterable[Edit], canaries: Canaries) -> Path:
    """Make the edits in their order; return the folder, which may have another name."""
    for edit in edits:
        edit.apply(folder, canaries)
        if isinstance(edit, Named):
            folder = folder.with_name(canaries.named(edit.name))
    return folder
