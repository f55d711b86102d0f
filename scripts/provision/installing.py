"""Installing what an engine is made of: compiled sources, libraries, toolchains."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from report.config.config_types import EngineConfig
from report.config.pinned_source import CrateSource, JarSource, PinnedSource
from scripts.basis.cache import cache_dir, claim, locked
from scripts.basis.problem import SetupError
from scripts.basis.setup_screen import Screen
from scripts.provision import (
    engine_list,
    fetch,
    languages,
    packages,
    prefixes,
    presets,
)
from scripts.provision.recipe import Compiler, find_compiler


@dataclass(frozen=True)
class Workshop:
    """Where and how libraries are made."""

    planned: Mapping[str, prefixes.Prefix]  # by package
    flags: str
    compiler: Compiler
    cache: Path
    is_system: bool  # take the distribution's libraries instead
    log: Path  # of installing packages
    screen: Screen

    def is_made(self, source: PinnedSource) -> bool:
        """Return True if a source is installed from its pin in any case."""
        return not self.is_system or isinstance(source, JarSource)


def workshop(
    root: Path,
    sources: Iterable[PinnedSource],
    screen: Screen,
    *,
    is_system: bool = False,
    more_flags: str = "",
) -> Workshop:
    """Return the workshop of a checkout.  Raises SetupError."""
    flags = f"{presets.read_flags(root / 'CMakePresets.json')} {more_flags}".rstrip()
    compiler, cache = find_compiler(os.environ), cache_dir(os.environ)
    planned = prefixes.plan(list(sources), flags, compiler, cache)
    return Workshop(
        planned={prefix.source.package: prefix for prefix in planned},
        flags=flags,
        compiler=compiler,
        cache=cache,
        is_system=is_system,
        log=root / "build/logs/packages.log",
        screen=screen,
    )


def requirements(
    sources: Sequence[PinnedSource], shop: Workshop
) -> list[packages.Requirement]:
    """Return the packages of the distribution that sources need."""
    made = [source for source in sources if shop.is_made(source)]
    taken = [source for source in sources if not shop.is_made(source)]
    names = [engine_list.development_package(source) for source in taken]
    required = list(packages.development_packages(names))
    downloads = shop.cache / "downloads"
    if fetch.is_missing(CrateSource, made, downloads):
        required += packages.FETCHING_CRATES
    if fetch.is_missing(JarSource, made, downloads):
        required += packages.FETCHING_JARS
    return required


def libraries_of(
    sources: Sequence[PinnedSource], shop: Workshop
) -> list[engine_list.EngineLibrary]:
    """Compile what is missing, check the rest, and return what CMake must know.

    `sources` has all that each of them needs.  Raises SetupError.
    """
    planned = [shop.planned[s.package] for s in sources if shop.is_made(s)]
    taken = [source for source in sources if not shop.is_made(source)]
    prefixes.check_all(planned)
    if not all(prefix.is_built for prefix in planned):
        claim(shop.cache)
        waiting = "Waiting for another set-up that uses the same cache ..."
        with locked(shop.cache / "lock", lambda: shop.screen.warn(waiting)):
            prefixes.build_all(
                *(planned, shop.flags, shop.compiler, shop.cache),
                *(os.environ, shop.screen),
            )
    return [*engine_list.system(taken), *engine_list.bundled(planned, shop.flags)]


def install(
    engine: EngineConfig, sources: Sequence[PinnedSource], shop: Workshop
) -> list[engine_list.EngineLibrary]:
    """Install all that one engine needs; return its libraries.  Raises SetupError."""
    names = (library.package for library in engine.libraries)
    required = [*requirements(sources, shop), *packages.development_packages(names)]
    if engine.toolchain:
        required += languages.TOOLCHAINS[engine.toolchain].packages
    try:
        packages.ensure(_each_once(required), shop.log, shop.screen)
    except SetupError as error:
        problem = languages.problem(engine.toolchain)
        raise SetupError(f"{problem}\n{error}".lstrip()) from error
    if problem := languages.problem(engine.toolchain):
        raise SetupError(problem)
    made = libraries_of(sources, shop)
    return [*made, *map(engine_list.of_distribution, engine.libraries)]


def _each_once(required: Iterable[packages.Requirement]) -> list[packages.Requirement]:
    return list({requirement.package: requirement for requirement in required}.values())
