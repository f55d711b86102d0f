"""A library that its authors have built: its file and headers, and if it is fit."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from scripts.basis.commands import output_of
from scripts.basis.problem import SetupError
from scripts.library.driver_choice import LibraryDrivers

_ARCHIVE, _THIN, _ELF = b"!<arch>\n", b"!<thin>\n", b"\x7fELF"
_MOST_NAMED = 5
# Undefined symbols of code that does other work, or more of it.
_INSTRUMENTED = {
    "__asan_init": "with the address sanitizer",
    "__tsan_init": "with the thread sanitizer",
    "__msan_init": "with the memory sanitizer",
    "__ubsan_handle_": "with the sanitizer of undefined behaviour",
    "__gcov_": "for coverage",
    "__llvm_profile_": "for coverage or profiling",
    "mcount": "for profiling, with -pg",
}
# A function of -O0 stores its first argument in memory; an optimised one rarely does.
_SPILL = re.compile(r"\bmov +%[re]di,-0x|\bstr\t[xw]0, \[sp, #")
_FUNCTION = re.compile(r"^[0-9a-f]+ <.*>:$")
_FIRST_LINES = 8
_ENOUGH_FUNCTIONS = 2_000
_FEW_FUNCTIONS = 20


@dataclass(frozen=True)
class InstalledLibrary:
    """The file of a library, and the folder with its headers."""

    file: Path
    include: Path

    @property
    def is_shared(self) -> bool:
        """True for a shared library."""
        return _start_of(self.file) == _ELF


def find(place: Path, drivers: LibraryDrivers) -> InstalledLibrary:
    """Return the library in a prefix, in a build folder, or at the path of its file.

    Raises SetupError, which says what is there instead.
    """
    if not place.exists():
        raise SetupError(f"{place}: no such file or folder")
    file = place if place.is_file() else _file_in(place, drivers.library)
    start = _start_of(file)
    if start.startswith(_THIN):
        remedy = "install the library, so that its archive holds its objects"
        raise SetupError(f"{file}: a thin archive, which names other files; {remedy}")
    if start not in (_ARCHIVE, _ELF):
        raise SetupError(f"{file}: neither a static nor a shared library")
    return InstalledLibrary(file.absolute(), _include_of(place, file, drivers))


def _start_of(file: Path) -> bytes:
    with file.open("rb") as opened:
        start = opened.read(len(_ARCHIVE))
    return _ELF if start.startswith(_ELF) else start


def _file_in(place: Path, library: str) -> Path:
    for end in ("a", "so"):
        for folder in ("lib*", "lib/*-linux-*", "."):
            if found := sorted(place.glob(f"{folder}/lib{library}.{end}")):
                return found[0]
    others = sorted({p.name for d in ("lib*", ".") for p in place.glob(f"{d}/lib*.*")})
    has = f"it has {', '.join(others[:_MOST_NAMED])}" if others else "it has no library"
    raise SetupError(
        f"{place}: there is no lib{library}.a or .so in it, its lib* or"
        f" lib/*-linux-*; {has}"
    )


def _include_of(place: Path, file: Path, drivers: LibraryDrivers) -> Path:
    """Return the folder with the headers; never one of the system by mistake."""
    near = [place] if place.is_dir() else []
    near += [file.parent, file.parent.parent, file.parent.parent.parent]
    for folder in near:
        for include in (folder / "include", folder):
            if any((include / header).is_file() for header in drivers.headers):
                return include.absolute()
    looked = ", ".join(dict.fromkeys(str(folder / "include") for folder in near))
    raise SetupError(
        f"{file}: its headers, such as {drivers.headers[0]}, are in none of {looked};"
        " install the library with its headers, and name that folder"
    )


def check(library: InstalledLibrary) -> None:
    """Raise SetupError if a library was compiled for something else than speed."""
    symbols = output_of(
        ["nm", "--undefined-only", "--format=just-symbols", *_of(library)]
    )
    for symbol, how in _INSTRUMENTED.items():
        if re.search(rf"(?m)^{symbol}", symbols):
            raise SetupError(f"{library.file}: compiled {how}; build it without")
    if _is_unoptimised(library.file):
        raise SetupError(
            f"{library.file}: compiled without optimisation; build it with -O2, such"
            " as by -DCMAKE_BUILD_TYPE=Release"
        )


def _of(library: InstalledLibrary) -> list[str]:
    return [*(["--dynamic"] if library.is_shared else []), str(library.file)]


def _is_unoptimised(file: Path) -> bool:
    functions, spilling = 0, 0
    for lines in _beginnings(file):
        functions += 1
        spilling += any(map(_SPILL.search, lines))
        if functions == _ENOUGH_FUNCTIONS:
            break
    return functions >= _FEW_FUNCTIONS and spilling > functions / 2


def _beginnings(file: Path) -> Iterator[list[str]]:
    """Yield the first instructions of each function."""
    command = ["objdump", "--disassemble", "--no-show-raw-insn", str(file)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as program:
        assert program.stdout
        lines: list[str] = []
        try:
            for line in program.stdout:
                if _FUNCTION.match(line.rstrip()):
                    yield lines
                    lines = []
                elif len(lines) < _FIRST_LINES:
                    lines.append(line)
        finally:
            program.kill()


def stage(library: InstalledLibrary, name: str, folder: Path) -> None:
    """Make a prefix for CMake in `folder`, whatever the paths of the library are.

    A static library stays where it is.  A shared one, which is loaded at each start, is
    copied: what is measured is then what was built.
    """
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "lib").mkdir(parents=True)
    (folder / "include").symlink_to(library.include)
    link = folder / "lib" / f"lib{name}.{'so' if library.is_shared else 'a'}"
    if not library.is_shared:
        link.symlink_to(library.file)
        return
    for file in library.file.parent.glob(f"lib{name}.so*"):
        shutil.copy2(file, folder / "lib" / file.name)
    if not link.exists():
        with suppress(FileExistsError):
            link.symlink_to(library.file.name)
