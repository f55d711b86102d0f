"""The elements of an HTML page, with their texts in page order."""

from __future__ import annotations

from html.parser import HTMLParser

_VOID = {"meta", "link", "img", "br", "wbr", "col", "input"}
# Open elements that a start tag ends; their end tags are optional in HTML.
_ENDED = {"td": ("td", "th"), "th": ("td", "th"), "tr": ("td", "th", "tr")}


class Element:
    """An element; `parts` are its texts and its children."""

    def __init__(self, tag: str, attrs: dict[str, str], parent: Element | None) -> None:
        self.tag, self.attrs, self.parent = tag, attrs, parent
        self.parts: list[Element | str] = []

    @property
    def classes(self) -> list[str]:
        return self.attrs.get("class", "").split()

    @property
    def text(self) -> str:
        """All text inside, with single spaces between words."""
        return " ".join(" ".join(self._words()).split())

    @property
    def raw(self) -> str:
        """All text inside, unchanged."""
        return "".join(p if isinstance(p, str) else p.raw for p in self.parts)

    def every(self) -> list[Element]:
        """Return this element and everything inside it, in page order."""
        inside = [part for part in self.parts if isinstance(part, Element)]
        return [self, *(e for child in inside for e in child.every())]

    def all(self, tag: str, name: str = "") -> list[Element]:
        """Return the elements of a tag inside this one, or only those of a class."""
        matches = [e for e in self.every()[1:] if e.tag == tag]
        return [e for e in matches if not name or name in e.classes]

    def at(self, anchor: str) -> Element:
        """Return the element with this id."""
        return next(e for e in self.every() if e.attrs.get("id") == anchor)

    def _words(self) -> list[str]:
        if self.tag in ("script", "style"):
            return []
        return [
            word
            for part in self.parts
            for word in ([part] if isinstance(part, str) else part._words())
        ]


class _Parser(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.root = self._here = Element("", {}, None)
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        while self._here.parent and self._here.tag in _ENDED.get(tag, ()):
            self._here = self._here.parent
        element = Element(tag, {n: value or "" for n, value in attrs}, self._here)
        self._here.parts.append(element)
        if tag not in _VOID:
            self._here = element

    def handle_endtag(self, tag: str) -> None:
        here = self._here
        while here.parent is not None and here.tag != tag:
            here = here.parent
        if here.parent is not None:
            self._here = here.parent

    def handle_data(self, data: str) -> None:
        self._here.parts.append(data)


def tree(text: str) -> Element:
    """Return the root of a page."""
    return _Parser(text).root
