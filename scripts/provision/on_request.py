"""Engines that are compiled only on request, because compiling them takes long.

Until then the distribution's library is used, if it is or can be installed.  Once one
is compiled, every set-up that shares the cache uses it.
"""

from collections.abc import Collection, Sequence

from report.config.pinned_source import PinnedSource
from scripts.provision import engine_list, packages
from scripts.provision.prefixes import Prefix
from scripts.provision.problem import SetupError
from scripts.provision.setup_screen import Screen


def check(sources: Sequence[PinnedSource], requested: Collection[str]) -> None:
    """Raise SetupError if `--with` names an engine that is not compiled on request."""
    engines = sorted({s.engine for s in sources if s.on_request})
    for name in sorted(set(requested) - set(engines)):
        raise SetupError(
            f"--with {name}: expected {' or '.join(engines)}; "
            "no other engine is compiled on request"
        )


def compiled(planned: Sequence[Prefix], requested: Collection[str]) -> list[Prefix]:
    """Return the prefixes to compile and use.

    They are those that are always compiled, requested, or already in the cache.
    """
    return [
        prefix
        for prefix in planned
        if not prefix.source.on_request
        or prefix.source.engine in requested
        or prefix.is_present
    ]


def system_sources(
    planned: Sequence[Prefix], requested: Collection[str]
) -> list[PinnedSource]:
    """Return the sources for which the distribution's library is used instead."""
    packages_compiled = {p.source.package for p in compiled(planned, requested)}
    return [p.source for p in planned if p.source.package not in packages_compiled]


def print_costs(prefixes: Sequence[Prefix], screen: Screen) -> None:
    """Print what compiling will cost, for each requested engine not yet compiled."""
    for prefix in prefixes:
        source = prefix.source
        if source.on_request and not prefix.is_built:
            screen.say(f"{source.package} {source.version}: {source.on_request}")


def installable(
    sources: Sequence[PinnedSource], screen: Screen
) -> list[packages.Requirement]:
    """Return the libraries to install from the distribution.

    If none can be installed from here, warn about each and return [].
    """
    names = [engine_list.development_package(source) for source in sources]
    absent = packages.missing(packages.development_packages(names))
    why = packages.why_not_installable() if absent else ""
    if not why:
        return absent
    for requirement in absent:
        screen.warn(
            f"Skipped the engine that needs {requirement.package}, which is not "
            f"installed ({why}); install it, or see --with in scripts/setup --help"
        )
    return []
