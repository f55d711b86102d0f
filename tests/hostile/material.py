"""Valid inputs, and edits that damage them.

A Material is the files of one input: documents with a schema, or lines of documents.
An Edit changes one value or some bytes of one file; it is plain data, so that a corpus
can keep it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from report.terms.checksum import KEY, with_checksum
from tests.hostile.json_tokens import Path, change, copied, text_of, written
from tests.hostile.schema_walk import Spot, schema, spots

PLAIN, SEALED, STALE = "plain", "sealed", "stale"
# "plain": without checksums, as in runs from before there were any; "sealed": with
# checksums made again after the edits, as a forger would; "stale": with the old ones.
MODES = (PLAIN, SEALED, STALE)
VALUE_EDITS = ("set", "drop", "double", "rename")
BYTE_EDITS = (
    *("flip", "cut", "insert", "erase"),
    *("drop line", "double line", "swap lines", "join lines"),
)
# A file or folder is replaced by a link: to a canary, or to itself, which is moved.
LINK_EDITS = ("link", "move")


@dataclass(frozen=True)
class Edit:
    """One change: of a value at `path` in a document, or of bytes from `at`."""

    file: str
    do: str
    line: int = 0  # from 0, of a file of lines
    path: Path = ()
    value: str = ""  # a token of json_tokens
    at: int = 0  # a byte, or a line; modulo their number
    bit: int = 0

    @property
    def is_of_bytes(self) -> bool:
        """True if the bytes are changed after the documents are written."""
        return self.do in BYTE_EDITS

    @property
    def is_link(self) -> bool:
        """True if a file or folder is replaced after all files are written."""
        return self.do in LINK_EDITS

    def document(self) -> dict[str, Any]:
        """Return the edit as JSON, without what has its default."""
        default = Edit(self.file, self.do)
        named = {k: v for k, v in vars(self).items() if v != getattr(default, k)}
        return {"file": self.file, "do": self.do, **named}

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Edit:
        """Return the edit that document() wrote."""
        return cls(**{**document, "path": tuple(document.get("path", ()))})


@dataclass(frozen=True)
class FilePart:
    """A file: its schema, its documents, and whether each of these is one line."""

    file: str
    schema: str
    documents: tuple[Any, ...]
    has_lines: bool = False
    last_schema: str = ""  # of the last line, if it is another
    rules: dict[str, Any] | None = None  # instead of a schema in report/schema/
    write: Callable[[Any], str] = written
    more_values: tuple[str, ...] = ()  # tokens to try at every spot

    def schema_of(self, line: int) -> str:
        """Return the schema of a document."""
        is_last = line == len(self.documents) - 1
        return self.last_schema if is_last and self.last_schema else self.schema

    @cached_property
    def bodies(self) -> tuple[str, ...]:
        """The documents as JSON."""
        return tuple(map(self.write, self.documents))


@dataclass
class Material:
    """The files of a valid input; the first is the plan if they carry checksums."""

    parts: tuple[FilePart, ...]
    has_checksums: bool = False
    places: tuple[str, ...] = ()  # what else a folder can have: files and folders
    _spots: dict[tuple[str, int], tuple[Spot, ...]] = field(default_factory=dict)

    @property
    def modes(self) -> tuple[str, ...]:
        """The ways in which checksums can be left."""
        return MODES if self.has_checksums else (PLAIN,)

    def part(self, file: str) -> FilePart:
        """Return a file by its name."""
        return next(part for part in self.parts if part.file == file)

    def spots(self, file: str, line: int) -> tuple[Spot, ...]:
        """Return the spots of a document."""
        part = self.part(file)
        key = file, line % len(part.documents)
        if key not in self._spots:
            document, name = part.documents[key[1]], part.schema_of(key[1])
            self._spots[key] = spots(part.rules or schema(name), document, name)
        return self._spots[key]

    def contents(self, edits: Sequence[Edit], mode: str = PLAIN) -> dict[str, bytes]:
        """Return the content of every file after these edits."""
        bodies = {part.file: self._edited(part, edits) for part in self.parts}
        if mode != PLAIN:
            bodies = self._checksummed(bodies, is_stale=mode == STALE)
        contents = {
            file: "".join(f"{text}\n" for text in texts).encode(
                "utf-8", "surrogatepass"
            )
            for file, texts in bodies.items()
        }
        for edit in edits:
            if edit.is_of_bytes:
                contents[edit.file] = edited_bytes(contents[edit.file], edit)
        return contents

    def _edited(self, part: FilePart, edits: Sequence[Edit]) -> list[str]:
        bodies = list(part.bodies)
        mine = [e for e in edits if e.file == part.file and e.do in VALUE_EDITS]
        for line in {e.line % len(bodies) for e in mine}:
            document = copied(part.documents[line])
            for edit in mine:
                if edit.line % len(bodies) == line:
                    document = change(document, edit.do, edit.path, edit.value)
            bodies[line] = part.write(document)
        return bodies

    def _checksummed(
        self, bodies: Mapping[str, list[str]], *, is_stale: bool
    ) -> dict[str, list[str]]:
        """Return the texts with checksums; all but the plan also name the plan's."""
        plan = self.parts[0]
        honest_plan = with_checksum(plan.bodies[0])
        stored = honest_plan if is_stale else _with_checksum(bodies[plan.file][0])
        reference = _digest_of(stored) or _digest_of(honest_plan)
        sealed = {}
        for part in self.parts:
            texts = []
            for honest, body in zip(part.bodies, bodies[part.file], strict=True):
                if part is not plan:
                    honest, body = (_referring(b, reference) for b in (honest, body))
                text = _with_checksum(body)
                if is_stale and body != honest and (digest := _digest_of(text)):
                    old = _digest_of(with_checksum(honest))
                    text = text.removesuffix(f'{digest}"}}') + f'{old}"}}'
                texts.append(text)
            sealed[part.file] = texts
        return sealed


def _referring(body: str, plan: str) -> str:
    return body if not body.startswith("{") else f'{{"plan": "{plan}", {body[1:]}'


def _with_checksum(body: str) -> str:
    """Return an object with a checksum; a text that is no object stays as it is."""
    if not (body.startswith("{") and body.endswith("}") and len(body) > 2):
        return body
    return with_checksum(body)


def _digest_of(text: str) -> str:
    before, _, end = text.rpartition(f'"{KEY}":')
    return end.strip(' "}') if before else ""


def edited_bytes(content: bytes, edit: Edit) -> bytes:
    """Return the bytes after an edit of bytes or of whole lines."""
    size = max(1, len(content))
    at = edit.at % size
    if edit.do == "flip":
        flipped = bytes(b ^ (1 << edit.bit % 8) for b in content[at : at + 1])
        return content[:at] + flipped + content[at + 1 :]
    if edit.do == "cut":
        return content[:at]
    if edit.do == "erase":
        return content[:at] + content[at + 1 + edit.bit :]
    if edit.do == "insert":
        text = text_of(edit.value).encode("utf-8", "surrogatepass")
        return content[:at] + text + content[at:]
    lines = content.splitlines(keepends=True)
    if not lines:
        return content
    first, second = edit.at % len(lines), edit.bit % len(lines)
    if edit.do == "drop line":
        del lines[first]
    elif edit.do == "double line":
        lines.insert(second, lines[first])
    elif edit.do == "swap lines":
        lines[first], lines[second] = lines[second], lines[first]
    elif edit.do == "join lines":
        lines[first] = lines[first].removesuffix(b"\n")
    return b"".join(lines)


def renamed(material: Material, run: str) -> Material:
    """Return the same run under another name."""
    parts = tuple(
        replace(
            part,
            documents=tuple(
                {**d, "run": run} if "run" in d else d for d in part.documents
            ),
        )
        for part in material.parts
    )
    return replace(material, parts=parts, _spots={})
