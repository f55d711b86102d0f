"""The tables of an HTML report as texts, by their anchor and caption."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.support.html_tree import Element, tree


@dataclass
class HtmlTable:
    """A table; `rows` are by engine and column, `anchor` is the last id before it."""

    anchor: str
    caption: str = ""
    header: list[str] = field(default_factory=list)
    rows: dict[str, dict[str, str]] = field(default_factory=dict)
    scopes: list[str] = field(default_factory=list)


class Tables:
    """Every table of a page, hidden ones included."""

    def __init__(self, text: str) -> None:
        self.found: list[HtmlTable] = []
        anchor = ""
        for element in tree(text).every():
            if element.tag in ("div", "section", "article"):
                anchor = element.attrs.get("id") or anchor
            if element.tag == "table":
                self.found.append(_table(anchor, element))

    def at(self, anchor: str, caption: str) -> HtmlTable:
        """Return the table after an anchor whose caption starts with `caption`."""
        (match,) = (
            t
            for t in self.found
            if t.anchor == anchor and t.caption.startswith(caption)
        )
        return match


def _table(anchor: str, element: Element) -> HtmlTable:
    captions = "".join(caption.raw for caption in element.all("caption"))
    scopes = [cell.attrs.get("scope", "") for cell in element.all("th")]
    table = HtmlTable(anchor, captions, scopes=scopes)
    for row in element.all("tr"):
        cells_of_row = [cell for cell in row.every() if cell.tag in ("th", "td")]
        cells = [" ".join(cell.raw.split()) for cell in cells_of_row]
        if not table.header:
            table.header = cells
        elif len(cells) == len(table.header):
            named = dict(zip(table.header[1:], cells[1:], strict=True))
            table.rows.setdefault(cells[0], named)
    return table
