"""Engines that are compiled when asked for only, because that takes long.

Until then the distribution's library serves, where it is installed or can be.
Once compiled, they are used by every set-up that shares the cache.
"""

from collections.abc import Collection, Sequence

from report.config.pinned_source import PinnedSource
from scripts.provision import engine_list, packages
from scripts.provision.prefixes import Prefix
from scripts.provision.problem import SetupError
from scripts.provision.setup_screen import Screen


def check(sources: Sequence[PinnedSource], asked: Collection[str]) -> None:
    """Refuse `--with` an engine for which it means nothing."""
    known = sorted({s.engine for s in sources if s.on_request})
    for name in sorted(set(asked) - set(known)):
        raise SetupError(f"--with {name}: one of {', '.join(known)} is accepted")


def compiled(planned: Sequence[Prefix], asked: Collection[str]) -> list[Prefix]:
    """Return what is compiled: always, asked for, or compiled before."""
    return [
        prefix
        for prefix in planned
        if not prefix.source.on_request
        or prefix.source.engine in asked
        or prefix.is_built
    ]


def others(planned: Sequence[Prefix], asked: Collection[str]) -> list[PinnedSource]:
    """Return the sources of which the distribution's library is used."""
    own = {prefix.source.package for prefix in compiled(planned, asked)}
    return [p.source for p in planned if p.source.package not in own]


def tell_costs(prefixes: Sequence[Prefix], screen: Screen) -> None:
    """Say what compiling costs of each that was asked for and is not there."""
    for prefix in prefixes:
        source = prefix.source
        if source.on_request and not prefix.is_built:
            screen.say(f"{source.package} {source.version}: {source.on_request}")


def installable(
    sources: Sequence[PinnedSource], screen: Screen
) -> list[packages.Requirement]:
    """Return what to install of the distribution's; warn of what cannot be."""
    names = [engine_list.development_package(source) for source in sources]
    absent = packages.missing(packages.development_packages(names))
    why = packages.why_not_installable() if absent else ""
    if not why:
        return absent
    for requirement in absent:
        screen.warn(
            f"Left out: the engine of {requirement.package}, which is not there "
            f"({why}); install it, or see scripts/setup --help, --with"
        )
    return []
