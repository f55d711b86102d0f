"""The tables of an HTML report as texts, found by their anchor and caption."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser


@dataclass
class HtmlTable:
    """`rows` are by engine and column; `anchor` is the last id before it."""

    anchor: str
    caption: str = ""
    header: list[str] = field(default_factory=list)
    rows: dict[str, dict[str, str]] = field(default_factory=dict)
    scopes: list[str] = field(default_factory=list)


class Tables(HTMLParser):
    """Every table of a page.  What is hidden from sight is read too."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[HtmlTable] = []
        self._anchor = ""
        self._cells: list[str] = []
        self._inside = False
        self._caption = False
        self.feed(text)
        self.close()

    def at(self, anchor: str, caption: str) -> HtmlTable:
        """The one table of a part of the page whose caption begins like this."""
        (found,) = (
            t
            for t in self.found
            if t.anchor == anchor and t.caption.startswith(caption)
        )
        return found

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        if tag in ("div", "section", "article") and attributes.get("id"):
            self._anchor = str(attributes["id"])
        if tag == "table":
            self.found.append(HtmlTable(self._anchor))
            self._inside = True
        elif tag == "tr":
            self._cells = []
        elif tag in ("th", "td") and self._inside:
            self._cells.append("")
            if tag == "th":
                self.found[-1].scopes.append(attributes.get("scope") or "")
        elif tag == "caption":
            self._caption = True

    def handle_endtag(self, tag: str) -> None:
        if tag == "table":
            self._inside = False
        elif tag == "caption":
            self._caption = False
        elif tag == "tr" and self._inside:
            self._end_row()

    def handle_data(self, data: str) -> None:
        if self._caption:
            self.found[-1].caption += data
        elif self._inside and self._cells:
            self._cells[-1] += data

    def _end_row(self) -> None:
        table = self.found[-1]
        cells = [" ".join(text.split()) for text in self._cells]
        if not table.header:
            table.header = cells
        elif len(cells) == len(table.header):
            named = dict(zip(table.header[1:], cells[1:], strict=True))
            table.rows.setdefault(cells[0], named)
        self._cells = []
