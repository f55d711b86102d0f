"""Convert the machine's apt sources to deb-src entries.

apt has two formats: one line per source (*.list) and stanzas (*.sources).  Both are
converted to stanzas with `Types: deb-src` in a separate file, so that the machine's
configuration is never changed.  Other releases of the distribution are taken from
where the machine's own release is.
"""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from scripts.basis.problem import SetupError

# A version may be in any of them: a point release moves it to the first.
_PARTS_OF_A_RELEASE = ("", "-updates", "-security")

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


def _listed(files: Iterable[Path]) -> list[Stanza]:
    """Return deb-src stanzas for all of `files`, without duplicates."""
    stanzas: list[Stanza] = []
    for file in files:
        text = file.read_text(encoding="utf-8", errors="replace")
        more = from_stanzas(text) if file.suffix == ".sources" else from_lines(text)
        stanzas += [stanza for stanza in more if stanza not in stanzas]
    return stanzas


def _suites_of(stanza: Stanza) -> list[str]:
    return {k.lower(): v for k, v in stanza.items()}.get("suites", "").split()


def _of_release(stanzas: Sequence[Stanza], own: str, other: str) -> list[Stanza]:
    """Return the stanzas of the machine's `own` release, for the release `other`.

    Both are code names.  Everything but the suites is the same.  Nothing is returned
    if the machine lists the other release itself.
    """
    if any(other in _suites_of(stanza) for stanza in stanzas):
        return []
    derived = []
    for stanza in stanzas:
        suites = _suites_of(stanza)
        others = [other + part for part in _PARTS_OF_A_RELEASE if own + part in suites]
        if others:
            rest = {k: v for k, v in stanza.items() if k.lower() != "suites"}
            derived.append(rest | {"Suites": " ".join(others)})
    if not any(other in _suites_of(stanza) for stanza in derived):
        raise SetupError(
            f"configs/engines.toml pins source packages of {other!r}, but no package "
            f"source of this machine is of its own release ({own or 'unknown'}), of "
            f"which the one of {other!r} would be a copy; add one with "
            f"'Suites: {other}' to /etc/apt/sources.list.d"
        )
    return derived


def private_list(
    files: Iterable[Path], own: str = "", others: Iterable[str] = ()
) -> str:
    """Return the text of one *.sources file, with deb-src stanzas for all of `files`.

    It has the releases `others` in addition, from where the machine's `own` release
    is.  Duplicates are dropped.  Raises SetupError if that is nowhere.
    """
    stanzas = _listed(files)
    stanzas += [s for other in others for s in _of_release(stanzas, own, other)]
    return "\n".join(
        "".join(f"{name}: {value}\n" for name, value in stanza.items())
        for stanza in stanzas
    )
