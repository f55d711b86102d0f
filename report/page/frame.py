"""The frame of every HTML page: one file, complete without a network and scripts.

A page is a template that extends templates/frame.html.j2, which lists the blocks to
fill.  rendered() is pure: the same arguments give the same bytes on every machine.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2
from jinja2.bccache import Bucket
from markupsafe import Markup, escape

from report.page import axes, raw_data
from report.terms import numbers, titles
from report.terms.text_table import unbroken

TEMPLATE_DIR = Path(__file__).with_name("templates")
_PARTS = ("run", "two_builds", "durability")
_FOLDERS = [TEMPLATE_DIR, *(TEMPLATE_DIR / part for part in _PARTS)]
STYLES, SCRIPT = ("style.css", "tools.css"), "script.js"
_INDENT = re.compile(r"^\s*(//.*\n\s*)?", re.MULTILINE)  # and comments, of a script
_AFTER_PART = re.compile(r"(?<=\w)[/_.:=](?=[^\W\d])")


class _Compiled(jinja2.BytecodeCache):
    """What this process has compiled: a page compiles no template of another again."""

    def __init__(self) -> None:
        self._code: dict[str, bytes] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        """Load a template that was compiled before."""
        if code := self._code.get(bucket.key):
            bucket.bytecode_from_string(code)

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep a compiled template."""
        self._code[bucket.key] = bucket.bytecode_to_string()


_COMPILED = _Compiled()


def environment() -> jinja2.Environment:
    """Return an environment for templates/, with the filters that format numbers."""
    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_FOLDERS),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        bytecode_cache=_COMPILED,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    templates.filters.update(
        rounded=numbers.rounded,
        compact=numbers.compact,
        slower=numbers.slower,
        multiplier=numbers.multiplier,
        percent=numbers.percent,
        seconds=numbers.seconds,
        size=numbers.size,
        times=numbers.times,
        plain=plain,
        inside=titles.inside,
        unbroken=unbroken,
        breakable=breakable,
    )
    templates.globals.update(count=numbers.count, axes=axes)
    return templates


def rendered(
    template: jinja2.Template,
    document: Mapping[str, Any] | None,
    styles: Sequence[str] = (),
    **context: Any,
) -> str:
    """Return the page as the text of one HTML file.

    `document` becomes the element "raw", in the form of raw_data.packed(); None
    leaves it out.  `styles` are sheets of templates/ in addition to STYLES.
    """
    script = _INDENT.sub("", _asset(SCRIPT))
    return template.render(
        style=Markup("\n".join(_asset(name) for name in (*STYLES, *styles))),
        script=Markup(script),
        script_hash=content_hash(script),
        raw=Markup(raw_data.script_json(document)) if document else "",
        **context,
    )


def content_hash(script: str) -> str:
    """Return the hash by which the content policy allows the page's only script."""
    digest = hashlib.sha256(script.encode()).digest()
    return "sha256-" + base64.b64encode(digest).decode()


def plain(number: float) -> str:
    """Format a CSS or SVG number: at most two decimals, without trailing zeros."""
    return f"{number:.2f}".rstrip("0").rstrip(".")


def breakable(text: object) -> Markup:
    """Return a name that may be broken into lines after each of its parts."""
    return Markup(_AFTER_PART.sub(r"\g<0><wbr>", str(escape(str(text)))))


def _asset(name: str) -> str:
    return (TEMPLATE_DIR / name).read_text("utf-8").strip()
