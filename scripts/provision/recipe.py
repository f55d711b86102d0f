"""How a source package becomes a static library: the commands, no more."""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from report.config.pinned_source import PinnedSource
from scripts.provision.commands import output_of

# Raised whenever a change here must make every engine be compiled again.
RECIPE = 1

# What of the caller's environment a build may see: nothing that adds flags.
_KEPT_VARIABLES = ("PATH", "HOME", "TMPDIR", "USER", "LOGNAME")


@dataclass(frozen=True)
class Compiler:
    """The C and C++ compilers and what they call themselves."""

    cc: str
    cxx: str
    banner: str  # the first line of --version: what the cache key depends on

    @property
    def title(self) -> str:
        """Name and version as CMake has them, such as "GNU 12.2.0"."""
        name = "Clang" if "clang" in self.banner.lower() else "GNU"
        versions = re.findall(r"\b\d+\.\d+(?:\.\d+)?\b", self.banner)
        return f"{name} {versions[-1] if versions else 'unknown'}"


def find_compiler(environ: Mapping[str, str]) -> Compiler:
    """Return the compilers of $CC and $CXX, else the system's."""
    cc, cxx = environ.get("CC", "cc"), environ.get("CXX", "c++")
    banner = output_of([cxx, "--version"]).partition("\n")[0]
    return Compiler(cc, cxx, banner)


@dataclass(frozen=True)
class Job:
    """One source package to compile: from where, to where, and with what."""

    source: PinnedSource
    flags: str
    compiler: Compiler
    tree: Path  # the unpacked source
    prefix: Path  # where the result will live
    stage: Path  # where it is installed first, under its full path
    dependencies: Sequence[Path]  # prefixes of the packages it needs
    jobs: int


def environment(job: Job, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of the build: our flags and nobody else's."""
    headers = " ".join(f"-I{path}/include" for path in job.dependencies)
    libraries = " ".join(f"-L{path}/lib" for path in job.dependencies)
    cmake = job.source.build == "cmake"
    kept = {k: environ[k] for k in _KEPT_VARIABLES if k in environ}
    return kept | {
        "LC_ALL": "C",
        "CC": job.compiler.cc,
        "CXX": job.compiler.cxx,
        # CMake has no variable for headers alone and adds its flags itself.
        "CFLAGS": headers if cmake else job.flags,
        "CXXFLAGS": headers if cmake else job.flags,
        "CPPFLAGS": headers,
        "LDFLAGS": libraries,
    }


def _cmake(job: Job) -> list[list[str]]:
    build = str(job.tree / "kvmatrix-build")
    configure = [
        *("cmake", "-S", str(job.tree), "-B", build, "-G", "Ninja"),
        "-DCMAKE_BUILD_TYPE=Release",
        f"-DCMAKE_C_FLAGS_RELEASE={job.flags}",
        f"-DCMAKE_CXX_FLAGS_RELEASE={job.flags}",
        f"-DCMAKE_INSTALL_PREFIX={job.prefix}",
        "-DCMAKE_INSTALL_LIBDIR=lib",
        f"-DCMAKE_PREFIX_PATH={';'.join(map(str, job.dependencies))}",
        "-DBUILD_SHARED_LIBS=OFF",
        *job.source.options,
    ]
    compile_ = ["cmake", "--build", build, "--verbose", "--parallel", str(job.jobs)]
    install = ["env", f"DESTDIR={job.stage}", "cmake", "--install", build]
    return [configure, compile_, install]


def _autotools(job: Job) -> list[list[str]]:
    configure = [
        "./configure",
        f"--prefix={job.prefix}",
        "--disable-shared",
        "--enable-static",
        *job.source.options,
    ]
    install = ["make", f"DESTDIR={job.stage}", "install"]
    return [configure, ["make", f"-j{job.jobs}"], install]


def _make(job: Job) -> list[list[str]]:
    """A makefile without configure: `{flags}` in an option becomes ours."""
    places = [f"prefix={job.prefix}", f"DESTDIR={job.stage}"]
    options = [option.replace("{flags}", job.flags) for option in job.source.options]
    make = ["make", f"-j{job.jobs}", f"CC={job.compiler.cc}", *places, *options]
    return [[*make, "install"]]


_COMMANDS = {"cmake": _cmake, "autotools": _autotools, "make": _make}


def commands(job: Job) -> list[list[str]]:
    """Return the commands that configure, compile and install, in order."""
    return _COMMANDS[job.source.build](job)


def foreign_flags(log: str, flags: str) -> list[str]:
    """Return optimisation flags in force in a build's log that are not ours.

    The last -O of a command line wins; any -march, -mtune, -mcpu or -flto is
    foreign, and so is an NDEBUG taken back.
    """
    ours = [flag for flag in flags.split() if flag.startswith("-O")][-1]
    found = set()
    for line in log.splitlines():
        words = line.split()
        if "-c" not in words or not any(w.endswith((".c", ".cc")) for w in words):
            continue
        levels = [word for word in words if re.fullmatch(r"-O[0-9sgz]?|-Ofast", word)]
        found |= {*levels[-1:]} - {ours} if levels else {"no -O"}
        found |= {w for w in words if re.match(r"-m(arch|tune|cpu)=|-flto", w)}
        found |= {"-UNDEBUG"} & set(words)
    return sorted(found)


def processors() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0))
