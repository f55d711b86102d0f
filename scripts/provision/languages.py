"""The compilers and libraries of other languages that some engines need.

Each is required only if such an engine is installed.  The builds themselves are
targets of CMake, which gets the paths found here.
"""

import os
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from scripts.basis.commands import output_of
from scripts.provision.packages import Requirement

LEAST_RUST = (1, 90)  # redb and fjall
LEAST_GO = (1, 26)
_GO_THAT_FETCHES_GO = (1, 21)  # the one that go.mod names
LEAST_JAVA = (17, 0)


@dataclass(frozen=True)
class Toolchain:
    """What engines of one language need, and where it is."""

    packages: tuple[Requirement, ...]  # of the distribution
    problem: Callable[[], str]  # what is wrong with what is installed, or ""
    variables: Callable[[], dict[str, str]]  # of CMake


def _version(command: list[str], pattern: str) -> tuple[int, int]:
    """Return the version that a program prints; (0, 0) if it is not installed."""
    match = re.search(pattern + r"(\d+)(?:\.(\d+))?", output_of(command))
    return (int(match[1]), int(match[2] or 0)) if match else (0, 0)


def _named(version: tuple[int, int]) -> str:
    return ".".join(map(str, version)) if any(version) else "not installed"


def _is_rust_new_enough(program: str) -> Callable[[], bool]:
    return lambda: _version([program, "--version"], f"^{program} ") >= LEAST_RUST


def _path(program: str) -> str:
    return shutil.which(program) or ""


def _rust_problem() -> str:
    rustc = _version(["rustc", "--version"], "^rustc ")
    if rustc >= LEAST_RUST and _is_rust_new_enough("cargo")():
        return ""
    return (
        f"needs cargo and rustc {_named(LEAST_RUST)} or newer, and rustc is "
        f"{_named(rustc)}; install the packages cargo-web and rustc-web, or put newer "
        "programs on PATH"
    )


def _go_problem() -> str:
    go = _version(["go", "version"], "go version go")
    is_local = os.environ.get("GOTOOLCHAIN") == "local"
    least = LEAST_GO if is_local else _GO_THAT_FETCHES_GO
    if go >= least:
        return ""
    if not any(go) and _path("go"):
        return f"{_path('go')} version fails; run it, and mend what it says"
    return (
        f"needs Go {_named(least)} or newer"
        f"{' with GOTOOLCHAIN=local' if is_local else ''}, and go is {_named(go)}; "
        "Debian 12 has only 1.19: install it from elsewhere, and put it on PATH"
    )


def _java_homes() -> list[Path]:
    """Return where a JDK may be: $JAVA_HOME, and where javac on PATH belongs to."""
    javac = shutil.which("javac")
    on_path = str(Path(os.path.realpath(javac)).parents[1]) if javac else ""
    return [Path(p) for p in (os.environ.get("JAVA_HOME", ""), on_path) if p]


def _java_version(home: Path) -> tuple[int, int]:
    return _version([str(home / "bin/javac"), "-version"], "^javac ")


def _is_java_fit(home: Path) -> bool:
    needed = ("include/jni.h", "lib/server/libjvm.so")
    has_all = all((home / name).is_file() for name in needed)
    return has_all and _java_version(home) >= LEAST_JAVA


def java_home() -> Path | None:
    """Return the folder of the first JDK that can be used; None without one."""
    return next(filter(_is_java_fit, _java_homes()), None)


def _has_java() -> bool:
    return java_home() is not None


def _java_problem() -> str:
    if _has_java():
        return ""
    seen = [f"{home} has {_named(_java_version(home))}" for home in _java_homes()]
    return (
        f"needs a JDK {LEAST_JAVA[0]} or newer with jni.h and libjvm.so, and "
        f"{'; '.join(seen) or 'javac is not installed'}; install the package "
        "default-jdk-headless, or set JAVA_HOME to another"
    )


TOOLCHAINS = {
    "rust": Toolchain(
        (
            Requirement("cargo-web", "builds in Rust", _is_rust_new_enough("cargo")),
            Requirement("rustc-web", "compiles Rust", _is_rust_new_enough("rustc")),
        ),
        _rust_problem,
        lambda: {"KVM_CARGO": _path("cargo"), "KVM_RUSTC": _path("rustc")},
    ),
    "go": Toolchain(
        (),
        _go_problem,
        lambda: {
            "KVM_GO": _path("go"),
            "KVM_GO_TOOLCHAIN": os.environ.get("GOTOOLCHAIN") or "auto",
        },
    ),
    "java": Toolchain(
        (Requirement("default-jdk-headless", "compiles Java", _has_java),),
        _java_problem,
        lambda: {"KVM_JAVA_HOME": str(java_home() or "")},
    ),
}


def problem(name: str) -> str:
    """Return what is wrong with a toolchain, and the remedy; "" if nothing is."""
    return TOOLCHAINS[name].problem() if name else ""
