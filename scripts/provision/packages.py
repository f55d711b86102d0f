"""The distribution's packages that must be installed, and the reason for each.

They are needed in addition to git and Python 3.11.  A package counts as present if
what it is needed for is present, from whatever source.
"""

import importlib.util
import os
import shutil
import ssl
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from scripts.basis.commands import run_logged
from scripts.basis.problem import SetupError
from scripts.basis.setup_screen import Screen
from scripts.provision.crates import is_cargo_new_enough

_LOCK_TIMEOUT_S = 400  # for another apt that is running on the machine


def _program(name: str) -> Callable[[], bool]:
    return lambda: shutil.which(name) is not None


def _system_program(name: str) -> Callable[[], bool]:
    """Return a test for a program that only root has in its PATH."""
    path = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
    return lambda: shutil.which(name, path=path) is not None


def _header(name: str) -> Callable[[], bool]:
    def is_installed() -> bool:
        include = Path("/usr/include")
        folders = [include, Path("/usr/local/include"), *include.glob("*-linux-gnu*")]
        return any((folder / name).exists() for folder in folders)

    return is_installed


def _certificates() -> bool:
    paths = ssl.get_default_verify_paths()
    return bool(paths.cafile or (paths.capath and os.listdir(paths.capath)))


def _java_certificates() -> bool:
    """Return True if Java has certificates; a JDK that is no package brings its own."""
    is_package = Path("/usr/bin/java").resolve().is_relative_to("/usr/lib/jvm")
    return not is_package or Path("/etc/ssl/certs/java/cacerts").is_file()


def _ensurepip() -> bool:
    return importlib.util.find_spec("ensurepip") is not None


@dataclass(frozen=True)
class Requirement:
    """One package, the reason for it, and a test of whether it is already met."""

    package: str
    reason: str
    is_met: Callable[[], bool]


BUILDING = (
    Requirement("g++", "compiles everything", _program("c++")),
    Requirement("cmake", "builds the harness, LevelDB and Snappy", _program("cmake")),
    Requirement("ninja-build", "what CMake runs", _program("ninja")),
    Requirement("python3-venv", "the Python environment", _ensurepip),
    Requirement("libgflags-dev", "command-line flags", _header("gflags/gflags.h")),
    Requirement("nlohmann-json3-dev", "result lines", _header("nlohmann/json.hpp")),
    Requirement("libgtest-dev", "the C++ tests", _header("gtest/gtest.h")),
    Requirement(
        "libbenchmark-dev", "the harness's own cost", _header("benchmark/benchmark.h")
    ),
)
COMPILING_ENGINES = (
    Requirement("dpkg-dev", "unpacks source packages", _program("dpkg-source")),
    Requirement("make", "builds Kyoto Cabinet, LZO, SQLite, LMDB", _program("make")),
    Requirement("tcl", "generates SQLite's one-file source", _program("tclsh")),
)
# Not the package "cargo", whose 0.66 of 2022 reads neither today's registry nor crates
# of edition 2024.  This one Debian keeps current for its browsers.  With the compiler
# that it needs it is a download of 100 MB and takes 459 MB of disk space.  It provides
# /usr/bin/cargo, and conflicts with "cargo" and "rustup".
FETCHING_CRATES = (
    Requirement(
        "cargo-web",
        "fetches crates, such as the source of RocksDB",
        is_cargo_new_enough,
    ),
    Requirement("ca-certificates", "whom cargo trusts", _certificates),
)
FETCHING_JARS = (
    Requirement("maven", "fetches jars", _program("mvn")),
    Requirement("ca-certificates-java", "whom Maven trusts", _java_certificates),
)
CUTTING = (
    Requirement(
        "e2fsprogs", "makes the ext4 of durability trials", _system_program("mkfs.ext4")
    ),
    Requirement(
        "xfsprogs", "makes the xfs of durability trials", _system_program("mkfs.xfs")
    ),
    Requirement("mount", "mounts the tmpfs of durability trials", _program("mount")),
    Requirement(
        "util-linux", "durability trials have mounts of their own", _program("unshare")
    ),
)
QUEUEING = (
    Requirement("slurmctld", "gives blocks to nodes", _system_program("slurmctld")),
    Requirement("slurmd", "the nodes of a test of fleets", _system_program("slurmd")),
    Requirement("slurm-client", "submits blocks", _program("sbatch")),
    Requirement("munge", "by which they trust each other", _system_program("munged")),
)
COUNTING = (
    Requirement("strace", "counts writes and syncs for ab", _program("strace")),
    Requirement("valgrind", "counts instructions for ab", _program("valgrind")),
)
TESTING = (
    Requirement("ccache", "compiles nothing twice", _program("ccache")),
    Requirement("chromium", "opens the report in a real browser", _program("chromium")),
    Requirement(
        "libbenchmark-tools",
        "its compare.py reads our files",
        Path("/usr/share/benchmark/compare.py").is_file,
    ),
    Requirement(
        "fonts-dejavu-core",
        "the wider font in which page layouts are tested",
        Path("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf").is_file,
    ),
    Requirement(
        "fonts-liberation",
        "the narrower font",
        Path(
            "/usr/share/fonts/truetype/liberation/LiberationSansNarrow-Regular.ttf"
        ).is_file,
    ),
    *COUNTING,
    *CUTTING,
    *QUEUEING,
)


def development_packages(names: Iterable[str]) -> tuple[Requirement, ...]:
    """Return requirements for the distribution's engine libraries."""

    def installed(name: str) -> Callable[[], bool]:
        files = Path("/var/lib/dpkg/info")
        return lambda: (
            any(files.glob(f"{name}.list")) or any(files.glob(f"{name}:*.list"))
        )

    return tuple(Requirement(n, "an engine library", installed(n)) for n in names)


def missing(requirements: Iterable[Requirement]) -> list[Requirement]:
    """Return the requirements that this machine does not meet."""
    return [requirement for requirement in requirements if not requirement.is_met()]


def release_facts(etc: Path) -> dict[str, str]:
    """Return what /etc/os-release says about the distribution of this machine."""
    release = etc / "os-release"
    text = release.read_text("utf-8", "replace") if release.is_file() else ""
    facts = (line.split("=", 1) for line in text.splitlines() if "=" in line)
    return {name: value.strip('"') for name, value in facts}


def why_not_installable(etc: Path = Path("/etc")) -> str:
    """Return why packages cannot be installed from here; "" if they can."""
    facts = release_facts(etc)
    if (facts.get("ID"), facts.get("VERSION_ID")) != ("debian", "12"):
        title = facts.get("PRETTY_NAME", "unknown")
        return f"this is {title}, not Debian 12; package names may differ"
    if os.geteuid() != 0:
        return "installing packages needs root"
    return ""


def missing_text(requirements: Sequence[Requirement], why: str) -> str:
    """Return the error message for packages that must be installed by hand."""
    width = max(len(requirement.package) for requirement in requirements)
    names = " ".join(requirement.package for requirement in requirements)
    lines = [f"Missing packages ({why}):"]
    lines += [f"  {r.package:<{width}}  {r.reason}" for r in requirements]
    lines += [
        "Install them, then run the same command again:",
        f"  sudo apt-get install --no-install-recommends {names}",
    ]
    return "\n".join(lines)


def _install(requirements: Sequence[Requirement], log: Path) -> None:
    apt = ["apt-get", "-o", f"DPkg::Lock::Timeout={_LOCK_TIMEOUT_S}", "--quiet"]
    env = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    names = [requirement.package for requirement in requirements]
    run_logged([*apt, "update"], log, cwd=Path("/"), env=env)
    # --no-remove: what conflicts with a package is for a person to remove.
    install = [*apt, "install", "--yes", "--no-remove", "--no-install-recommends"]
    run_logged([*install, *names], log, cwd=Path("/"), env=env)


def ensure(
    requirements: Sequence[Requirement],
    log: Path,
    screen: Screen,
    along: Sequence[Requirement] = (),
) -> None:
    """Install what is missing; if anything is, then also what is missing of `along`.

    Raises SetupError, with the names of the packages, if they cannot be installed.
    """
    absent = missing(requirements)
    if not absent:
        return
    why = why_not_installable()
    if why:
        raise SetupError(missing_text(absent, why))
    wanted = list(dict.fromkeys([*absent, *missing(along)]))
    names = ", ".join(requirement.package for requirement in wanted)
    with screen.step(f"Installing packages: {names}"):
        _install(wanted, log)
    if remaining := missing(absent):
        why = "apt-get succeeded, but what they provide was not found"
        raise SetupError(missing_text(remaining, why))
