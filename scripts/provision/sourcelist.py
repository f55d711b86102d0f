"""Convert the machine's apt sources to deb-src entries.

apt has two formats: one line per source (*.list) and stanzas (*.sources).  Both are
converted to stanzas with `Types: deb-src` in a separate file, so that the machine's
configuration is never changed.
"""

import re
from collections.abc import Iterable
from pathlib import Path

# Options of the one-line format to keep, and their names as fields of a stanza.
_ONE_LINE_OPTIONS = {
    "signed-by": "Signed-By",
    "trusted": "Trusted",
    "check-valid-until": "Check-Valid-Until",
}
_DROPPED_FIELDS = {"types", "architectures", "enabled"}

Stanza = dict[str, str]


def _fields(paragraph: str) -> Stanza:
    fields: Stanza = {}
    name = ""
    for line in paragraph.splitlines():
        if line.startswith("#") or not line.strip():
            continue
        if line[0] in " \t" and name:
            fields[name] += "\n" + line
        elif ":" in line:
            name, value = line.split(":", 1)
            fields[name] = value.strip()
    return fields


def _is_disabled(fields: Stanza) -> bool:
    return {k.lower(): v.lower() for k, v in fields.items()}.get("enabled") == "no"


def from_stanzas(text: str) -> list[Stanza]:
    """Return deb-src stanzas for the text of a *.sources file."""
    text = re.sub(r"(?m)^#.*\n?", "", text)
    stanzas = []
    for paragraph in re.split(r"\n[ \t]*\n", text):
        fields = _fields(paragraph)
        if any(key.lower() == "uris" for key in fields) and not _is_disabled(fields):
            rest = {k: v for k, v in fields.items() if k.lower() not in _DROPPED_FIELDS}
            stanzas.append({"Types": "deb-src"} | rest)
    return stanzas


def from_lines(text: str) -> list[Stanza]:
    """Return deb-src stanzas for the text of a *.list file."""
    stanzas = []
    pattern = re.compile(r"^deb(?:-src)?\s+(?:\[([^]]*)\]\s+)?(\S+)\s+(\S+)\s*(.*)$")
    for line in text.splitlines():
        match = pattern.match(line.split("#", 1)[0].strip())
        if not match or match[2].startswith("cdrom:"):
            continue
        options, uri, suite, components = match.groups()
        stanza = {"Types": "deb-src", "URIs": uri, "Suites": suite}
        if components.strip():
            stanza["Components"] = components.strip()
        for option in (options or "").split():
            name, _, value = option.partition("=")
            if name.lower() in _ONE_LINE_OPTIONS:
                stanza[_ONE_LINE_OPTIONS[name.lower()]] = value.replace(",", " ")
        stanzas.append(stanza)
    return stanzas


def source_files(etc: Path) -> list[Path]:
    """Return the files in apt's configuration directory that list sources."""
    parts = etc / "sources.list.d"
    files = [etc / "sources.list", *parts.glob("*.list"), *parts.glob("*.sources")]
    return sorted(file for file in files if file.is_file())


def private_list(files: Iterable[Path]) -> str:
    """Return the text of one *.sources file, with deb-src stanzas for all of `files`.

    Duplicates are dropped.
    """
    stanzas: list[Stanza] = []
    for file in files:
        text = file.read_text(encoding="utf-8", errors="replace")
        more = from_stanzas(text) if file.suffix == ".sources" else from_lines(text)
        stanzas += [stanza for stanza in more if stanza not in stanzas]
    return "\n".join(
        "".join(f"{name}: {value}\n" for name, value in stanza.items())
        for stanza in stanzas
    )
