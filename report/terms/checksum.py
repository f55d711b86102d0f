"""The checksum that ends each file and line of a run folder.

It is the last key of its JSON object: the first 16 hexadecimal digits of the SHA-256
of all bytes before that key.  It reveals damage and careless edits; it is not a
signature, because anyone can compute it again.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any

KEY = "checksum"
_DIGITS = 16
_END = re.compile(rb'"checksum": ?"([0-9a-f]{16})"\n?\}\n?')


def with_checksum(text: str) -> str:
    """Return the text of a JSON object with its checksum as one more key.

    REQUIRES: the object has at least one key, and the text ends with its brace.
    """
    body = text.removesuffix("}")
    content = body.rstrip()
    space = body[len(content) :]  # in an indented text, a new line
    begun = f"{content},{space}{' ' if space else ''}"
    digest = _digest(begun.encode())
    return f'{begun}"{KEY}":{" " if space else ""}"{digest}"{space}}}'


def is_intact(text: bytes, document: Mapping[str, Any]) -> bool:
    """Return True if a parsed object has no checksum, or the right one."""
    if KEY not in document:
        return True
    begin = text.rfind(b'"checksum"')
    end = _END.fullmatch(text, begin) if begin > 0 else None
    return end is not None and end[1].decode() == _digest(text[:begin])


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:_DIGITS]
