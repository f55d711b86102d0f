"""`scripts/setup --checksums ENGINE`: the checksums of sources, ready to be pasted."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

from report.config.engine_file import DEFAULT_ENGINES, ON_REQUEST
from report.config.pinned_source import PinnedSource
from report.config.source_table import sources_of
from report.config.toml_table import (
    ConfigError,
    TomlTable,
    read_toml,
    toml_files,
    unknown,
)
from scripts.basis.cache import sha256_of
from scripts.basis.problem import SetupError
from scripts.basis.setup_screen import Screen
from scripts.provision import fetch


def unchecked_sources(name: str, configs: Path) -> list[PinnedSource]:
    """Return the sources of an engine, which need no checksums yet.

    Raises SetupError.
    """
    names: list[str] = []
    try:
        for table in _tables(configs):
            if table.text("name") == name:
                sources = list(sources_of(table, checks_sums=False))
                if not sources:
                    raise SetupError(f"{table.file}: engine {name!r} has no source")
                return sources
            names.append(table.text("name"))
    except ConfigError as error:
        raise SetupError(str(error)) from None
    raise SetupError(unknown("engine", name, names))


def _tables(configs: Path) -> list[TomlTable]:
    files = [configs / DEFAULT_ENGINES]
    if (configs / ON_REQUEST).is_dir():
        files += toml_files(configs / ON_REQUEST)
    return [table for file in files for table in read_toml(file).tables("engine")]


def lines(sources: Sequence[PinnedSource], log: Path, screen: Screen) -> list[str]:
    """Fetch sources, without verifying them; return the lines of their checksums.

    Nothing that was fetched is kept.  Raises SetupError.
    """
    found: list[str] = []
    log.parent.mkdir(parents=True, exist_ok=True)
    log.unlink(missing_ok=True)
    for source in sources:
        with tempfile.TemporaryDirectory(prefix="kvmatrix-") as name:
            cache = Path(name)
            incoming = cache / "incoming"
            incoming.mkdir()
            with screen.step(f"Fetching {source.package} {source.version}"):
                fetch.deliver([source], cache, incoming, log)
            files = sorted(path for path in incoming.iterdir() if path.is_file())
            found += [f"# {source.package}: {source.origin}", "[engine.source.sha256]"]
            found += [f'"{file.name}" = "{sha256_of(file)}"' for file in files]
    return found
