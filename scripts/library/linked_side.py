"""One side of a comparison: the drivers of a library, linked with one build of it."""

import json
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from scripts.basis.cache import sha256_of
from scripts.basis.commands import run_logged
from scripts.basis.problem import SetupError
from scripts.library.driver_choice import LibraryDrivers
from scripts.library.installed_library import check, find, stage
from scripts.library.library_build import LibraryRecipe, build_library
from scripts.provision import built, engine_list
from scripts.provision.installing import Workshop, libraries_of
from scripts.provision.recipe import RECIPE, processors

_STAMP = "library.json"
_PATIENCE_S = 60


@dataclass(frozen=True)
class LibrarySides:
    """What both sides share."""

    root: Path  # of this checkout
    drivers: LibraryDrivers
    shop: Workshop
    core: Path
    with_plugins: bool  # build plugins/drivers/ENGINE.so as well

    def from_tree(self, recipe: LibraryRecipe, tree: Path, into: Path) -> None:
        """Build the library of a tree, and link the drivers with it in `into`.

        What an earlier call has built of the same tree is used.  Raises SetupError.
        """
        stamp = json.dumps([*self._facts(), recipe.options, recipe.command])
        file, prefix = into / "source.json", into / "prefix"
        if not _has(file, stamp):
            shutil.rmtree(into, ignore_errors=True)
            into.mkdir(parents=True)
            log = self._log(into.name)
            build_library(self.drivers, recipe, tree, into, log, self.shop)
            file.write_text(stamp, "utf-8")
        self._link(prefix, into)

    def from_place(self, place: Path, into: Path) -> None:
        """Link the drivers with a library that is built.  Raises SetupError."""
        library = find(place, self.drivers)
        stamp = json.dumps([str(library.include), sha256_of(library.file)])
        file = into / "source.json"
        if not _has(file, stamp):  # no object of another library's headers stays
            shutil.rmtree(into, ignore_errors=True)
            into.mkdir(parents=True)
            file.write_text(stamp, "utf-8")
        self._link(place, into)

    def _facts(self) -> list[object]:
        """Return what a library that is built from a tree depends on."""
        own, compiler = self.drivers.own, self.shop.compiler
        return [
            *(self.drivers.library, RECIPE, self.shop.flags, compiler.cxx),
            *(compiler.cc, compiler.banner),
            [self.shop.planned[s.package].path.name for s in self.drivers.needed],
            [own.build, own.folder, own.options, own.files] if own else [],
        ]

    def _log(self, name: str) -> Path:
        log = self.root / f"build/logs/library-{name}.log"
        log.unlink(missing_ok=True)
        return log

    def _link(self, place: Path, into: Path) -> None:
        library = find(place, self.drivers)
        check(library)
        stage(library, self.drivers.library, into / "library")
        log, engines = self._log(f"{into.name}-link"), self.drivers.engines
        listed = libraries_of(self.drivers.needed, self.shop)
        file = into / "engines.cmake"
        engine_list.write_if_changed(file, engine_list.cmake_text(listed))
        targets = [f"db_bench_{engine}" for engine in engines]
        if self.with_plugins:
            targets += [f"plugin_{engine}" for engine in engines]
        with self.shop.screen.step(f"Linking {', '.join(engines)}"):
            configure = ["cmake", "--preset", "release", "-B", str(into)]
            configure += [
                f"-DKVM_CORE={self.core}",
                f"-DKVM_ENGINE_LIST={file}",
                f"-DKVM_PREFIX_{self.drivers.library}={into / 'library'}",
            ]
            build = ["cmake", "--build", str(into), "--target", *targets]
            run_logged(configure, log, cwd=self.root)
            try:
                run_logged([*build, "-j", str(processors())], log, cwd=self.root)
            except SetupError as error:
                raise SetupError(f"{error}{_remedy(str(error))}") from None
        if self.with_plugins:
            program = into / "plugins/drivers/db_bench_plugin"
            program.unlink(missing_ok=True)
            program.symlink_to(self.core / "bin/db_bench_plugin")
        for engine in engines:
            if library.is_shared:  # of which `stage` has made a copy
                text = f"built elsewhere: {library.file.resolve()} (shared)"
                (into / f"drivers/db_bench_{engine}.origin").write_text(text, "utf-8")
            self._describe(engine, into)

    def _describe(self, engine: str, into: Path) -> None:
        """Print what was linked.  Raises SetupError if it does not start."""
        drivers = into / "drivers"
        if problem := built.unanswered(drivers, [engine]).get(engine):
            raise SetupError(f"{problem}{_remedy(problem)}")
        command = [str(drivers / f"db_bench_{engine}"), "--describe"]
        answer = subprocess.run(
            command, capture_output=True, timeout=_PATIENCE_S, check=True
        )
        facts = json.loads(answer.stdout)
        build, proof = facts["build"], facts.get("codec_proof") or {}
        self.shop.screen.say(
            f"{engine} {facts['version']}, {build['origin']}, sha256"
            f" {build['origin_sha256']}"
        )
        if facts.get("codec") and not proof.get("compresses", True):
            self.shop.screen.warn(
                f"warning: {engine} was built without {facts['codec']}: it stores all"
                " records uncompressed; install the codec before building the library"
            )


def _remedy(problem: str) -> str:
    """Return what to do about an error of a linker, if that is known."""
    if "error while loading shared libraries" in problem:
        return "\nInstall what the library needs, or build it as a static library"
    if "recompile with -fPIC" in problem:
        return "\nA plug-in needs a library that is built with -fPIC"
    if "undefined reference" in problem:
        return (
            "\nThe library lacks what the driver or the library itself calls: it may be"
            " another library, have headers of another version, or need a codec that"
            " is not linked"
        )
    return ""


def _has(file: Path, text: str) -> bool:
    return file.is_file() and file.read_text("utf-8") == text
