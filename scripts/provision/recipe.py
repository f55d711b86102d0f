"""The commands that make a static library of a pinned source."""

import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from report.config.pinned_source import ArchiveSource, JarSource, PinnedSource
from report.config.source_table import NO_BUILD
from scripts.basis.commands import output_of
from scripts.basis.problem import SetupError

# Increase this when a change in this file requires every engine to be recompiled.
RECIPE = 2

_BUILD = "kvmatrix-build"
_REPOSITORY = Path(__file__).resolve().parents[2]

# The caller's variables that a build gets: none that can add flags.
_INHERITED_VARIABLES = ("PATH", "HOME", "TMPDIR", "USER", "LOGNAME")


@dataclass(frozen=True)
class Compiler:
    """The C and C++ compilers and their version."""

    cc: str
    cxx: str
    banner: str  # the first line of --version; part of the cache key

    @property
    def title(self) -> str:
        """The name and version in CMake's terms, such as "GNU 12.2.0"."""
        name = "Clang" if "clang" in self.banner.lower() else "GNU"
        versions = re.findall(r"\b\d+\.\d+(?:\.\d+)?\b", self.banner)
        return f"{name} {versions[-1] if versions else 'unknown'}"


def find_compiler(environ: Mapping[str, str]) -> Compiler:
    """Return the compilers named by $CC and $CXX, by default cc and c++.

    Raises SetupError if one that is named is not installed.
    """
    cc, cxx = environ.get("CC") or "cc", environ.get("CXX") or "c++"
    for variable, name in (("CC", cc), ("CXX", cxx)):
        if not shutil.which(name.partition(" ")[0]) and environ.get(variable):
            remedy = f"set {variable} to a compiler, or unset it"
            raise SetupError(f"{variable}={name}: not an installed program; {remedy}")
    banner = output_of([cxx, "--version"]).partition("\n")[0]
    return Compiler(cc, cxx, banner)


@dataclass(frozen=True)
class Job:
    """One source to compile: its folders, compiler and flags."""

    source: PinnedSource
    flags: str
    compiler: Compiler
    tree: Path  # the unpacked source
    prefix: Path  # where the result will live
    stage: Path  # DESTDIR: `prefix` is installed below it first
    dependencies: Sequence[Path]  # prefixes of the packages it needs
    jobs: int

    @property
    def root(self) -> Path:
        """The folder of the source that is built."""
        if isinstance(self.source, ArchiveSource):  # of which no more is unpacked
            return self.tree
        return self.tree / self.source.folder

    @property
    def workplace(self) -> Path:
        """The folder in which the commands run."""
        if self.source.build == "autotools" and self.root != self.tree:
            return self.tree / _BUILD  # some sources refuse to be built in place
        return self.root

    @property
    def staged(self) -> Path:
        """The folder into which the result is installed."""
        return self.stage / self.prefix.relative_to("/")


def unpacking(job: Job) -> list[list[str]]:
    """Return the commands that unpack the source, in the folder of its files.

    REQUIRES: the parent of `job.tree` exists.
    """
    source, tree = job.source, str(job.tree)
    if not isinstance(source, ArchiveSource):
        return [["dpkg-source", "--no-check", "-x", source.dsc, tree]]
    if isinstance(source, JarSource):
        return [["mkdir", tree], ["cp", source.archive, tree]]
    member = f"{source.stem}/{source.folder}".rstrip("/")
    strip = f"--strip-components={member.count('/') + 1}"
    # No owners: as root, tar would restore those of the machine that packed it.
    unpack = ["tar", "-xzf", source.archive, "-C", tree, "--no-same-owner", strip]
    return [["mkdir", tree], [*unpack, member]]


def environment(job: Job, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of the build, with our flags and no others.

    A library depends neither on where it is compiled nor on when: machines that build
    the same commit then have the same executables (report/docs/FLEETS.md).
    """
    here = f"-ffile-prefix-map={job.tree}={job.source.package}"
    headers = " ".join(f"-I{path}/include" for path in job.dependencies)
    libraries = " ".join(f"-L{path}/lib" for path in job.dependencies)
    cmake = job.source.build == "cmake"
    inherited = {k: environ[k] for k in _INHERITED_VARIABLES if k in environ}
    return inherited | {
        "LC_ALL": "C",
        "CC": job.compiler.cc,
        "CXX": job.compiler.cxx,
        "SOURCE_DATE_EPOCH": "0",
        # CMake adds CMAKE_*_FLAGS_RELEASE itself, and does not read CPPFLAGS.
        "CFLAGS": f"{headers if cmake else job.flags} {here}",
        "CXXFLAGS": f"{headers if cmake else job.flags} {here}",
        "CPPFLAGS": headers,
        "LDFLAGS": libraries,
    }


def _cmake(job: Job) -> list[list[str]]:
    build, targets = str(job.root / _BUILD), _targets(job.source)
    options = [option for option in job.source.options if option not in targets]
    configure = [
        *("cmake", "-S", str(job.root), "-B", build, "-G", "Ninja"),
        "-DCMAKE_BUILD_TYPE=Release",
        f"-DCMAKE_C_FLAGS_RELEASE={job.flags}",
        f"-DCMAKE_CXX_FLAGS_RELEASE={job.flags}",
        f"-DCMAKE_INSTALL_PREFIX={job.prefix}",
        "-DCMAKE_INSTALL_LIBDIR=lib",
        f"-DCMAKE_PREFIX_PATH={';'.join(map(str, job.dependencies))}",
        "-DBUILD_SHARED_LIBS=OFF",
        *(option.replace("{repository}", str(_REPOSITORY)) for option in options),
    ]
    compile_ = ["cmake", "--build", build, "--verbose", "--parallel", str(job.jobs)]
    if targets:  # all that is installed, and not what is built by default
        compile_ += ["--target", *targets]
    install = ["env", f"DESTDIR={job.stage}", "cmake", "--install", build]
    return [configure, compile_, install]


def _autotools(job: Job) -> list[list[str]]:
    targets, variables = _targets(job.source), _variables(job.source)
    configure = [
        "./configure" if job.root == job.workplace else f"{job.root}/configure",
        f"--prefix={job.prefix}",
        "--disable-shared",
        "--enable-static",
        *(o for o in job.source.options if o not in (*targets, *variables)),
    ]
    make = ["make", *variables]
    install = [*make, f"DESTDIR={job.stage}", *(targets or ["install"])]
    return [configure, [*make, f"-j{job.jobs}"], install]


def _make(job: Job) -> list[list[str]]:
    """Return the commands for a makefile without configure.

    `{flags}` in an option stands for our flags.  An option that is a word, such as
    "install-static", is a target instead of "install".
    """
    folders = [f"prefix={job.prefix}", f"DESTDIR={job.stage}"]
    options = [option.replace("{flags}", job.flags) for option in job.source.options]
    make = ["make", f"-j{job.jobs}", f"CC={job.compiler.cc}", *folders, *options]
    return [make if _targets(job.source) else [*make, "install"]]


def _targets(source: PinnedSource) -> list[str]:
    """Return the options that are targets of the build, instead of its default."""
    return [o for o in source.options if re.fullmatch(r"[a-z][a-z_-]*", o)]


def _variables(source: PinnedSource) -> list[str]:
    """Return the options that are variables of make, not options of configure."""
    return [o for o in source.options if re.match(r"[A-Z]+=", o)]


def _files(job: Job) -> list[list[str]]:
    """Return the commands for a few files of C or C++ that need no build system."""
    headers = [f"-I{path}/include" for path in job.dependencies]
    compiling, objects = [], []
    for number, file in enumerate(job.source.files):
        compiler = job.compiler.cc if file.endswith(".c") else job.compiler.cxx
        objects.append(f"{_BUILD}-{number}.o")
        flags = [*job.flags.split(), "-I.", *headers, *job.source.options]
        compiling.append([compiler, *flags, "-c", file, "-o", objects[-1]])
    library = f"lib{job.source.package}.a"
    return [
        *compiling,
        ["ar", "rcsD", library, *objects],
        _install(library, job.staged / "lib"),
        *(_install(header, job.staged / "include") for header in job.source.headers),
    ]


def _install(file: str, folder: Path) -> list[str]:
    return ["install", "-D", "--mode=644", f"--target-directory={folder}", file]


def _as_it_is(job: Job) -> list[list[str]]:
    assert isinstance(job.source, ArchiveSource)
    return [_install(job.source.archive, job.staged)]


_COMMANDS = {
    "cmake": _cmake,
    "autotools": _autotools,
    "make": _make,
    "c": _files,
    NO_BUILD: _as_it_is,
}


def commands(job: Job) -> list[list[str]]:
    """Return the commands that configure, compile and install, in order."""
    return _COMMANDS[job.source.build](job)


def foreign_flags(log: str, flags: str) -> list[str]:
    """Return the effective optimisation flags in a build's log that are not ours.

    The last -O of a command line takes effect.  -march, -mtune, -mcpu, -flto and
    -UNDEBUG are always foreign.
    """
    level = [flag for flag in flags.split() if flag.startswith("-O")][-1]
    foreign = set()
    for line in log.splitlines():
        words = line.split()
        if "-c" not in words or not any(
            w.endswith((".c", ".cc", ".cxx")) for w in words
        ):
            continue
        levels = [word for word in words if re.fullmatch(r"-O[0-9sgz]?|-Ofast", word)]
        foreign |= {*levels[-1:]} - {level} if levels else {"no -O"}
        foreign |= {w for w in words if re.match(r"-m(arch|tune|cpu)=|-flto", w)}
        foreign |= {"-UNDEBUG"} & set(words)
    return sorted(foreign)


def processors() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0))
