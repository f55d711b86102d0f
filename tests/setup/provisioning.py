"""A fake source package or crate, a cache with its files, a checkout that pins it."""

import contextlib
import gzip
import hashlib
import io
import json
import os
import re
import shlex
import subprocess
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from report.config.pinned_source import CrateSource, PinnedSource
from scripts.basis.setup_screen import Screen
from scripts.provision import packages, requested, setup, venv
from scripts.provision.recipe import Compiler

COMPILER = Compiler("cc", "c++", "c++ (Debian 12.2.0-14) 12.2.0")
FLAGS = "-O2 -DNDEBUG"


def make_source(package: str = "fake", needs: tuple[str, ...] = ()) -> PinnedSource:
    """Return a pinned source whose files contain their own names."""
    names = [
        f"{package}_1-1.dsc",
        f"{package}_1.orig.tar.gz",
        f"{package}_1-1.debian.tar.xz",
    ]
    sums = {name: hashlib.sha256(name.encode()).hexdigest() for name in names}
    return PinnedSource(
        "engine", package, "1-1", "autotools", ("--with-x",), sums, needs
    )


def crate_bytes() -> bytes:
    """Return the content of a fake crate: a source in its folder deep/fake."""
    script = b'#!/bin/sh\necho "$1" | cut -d= -f2 > prefix\n'
    content = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=content, mode="wb", mtime=0) as compressed,
        tarfile.open(fileobj=compressed, mode="w") as archive,
    ):
        for name in ("Cargo.toml", "deep/fake/configure", "deep/other/configure"):
            info = tarfile.TarInfo(f"fake-sys-0.1.0+1.2.3/{name}")
            info.size, info.mode, info.uid = len(script), 0o755, 12345
            archive.addfile(info, io.BytesIO(script))
    return content.getvalue()


def make_crate(folder: str = "deep/fake") -> CrateSource:
    """Return a pinned source inside the fake crate."""
    sums = {"fake-sys-0.1.0+1.2.3.crate": hashlib.sha256(crate_bytes()).hexdigest()}
    return CrateSource(
        *("engine", "fake", "0.1.0+1.2.3", "autotools", ("--with-x",)),
        *(sums, (), "fake-sys"),
        folder=folder,
    )


def put_downloads(source: PinnedSource, folder: Path) -> None:
    """Write the files of a fake source."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in source.sha256:
        (folder / name).write_text(name)


def put_programs(folder: Path, programs: Mapping[str, str]) -> Path:
    """Write shell scripts as programs; return their folder, for PATH."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, body in programs.items():
        path = folder / name
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)
    return folder


# dpkg-source -x DSC TREE: a tree with a configure that remembers its prefix.
UNPACK = r"""
tree="$4"; mkdir -p "$tree"
printf '%s\n' '#!/bin/sh' 'echo "$1" | cut -d= -f2 > prefix' > "$tree/configure"
chmod +x "$tree/configure"
"""
# make -jN; make DESTDIR=D install
MAKE = r"""
echo "cc $CFLAGS -c fake.c"
case "$1" in DESTDIR=*)
  out="${1#DESTDIR=}$(cat prefix)"; mkdir -p "$out/lib" "$out/include"
  echo made > "$out/lib/libfake.a"; echo header > "$out/include/fake.h"
  ln -s libfake.a "$out/lib/libfake.so"
esac
"""
# apt-get OPTION... source --download-only PACKAGE=VERSION: files with their own names
_APT = r"""
echo "$*" >> "$0.calls"
case "$*" in *" source "*)
  for name in fake_1-1.dsc fake_1.orig.tar.gz fake_1-1.debian.tar.xz; do
    printf "%s$TAMPERED" "$name" > "$name"
  done
esac
"""
# cmake --preset NAME; cmake --build --preset NAME -j N [--target T...] [-- -k 0]
# An engine fails to build if it is in $FAILING, and has a reason if it is in $WHY.
CMAKE = r"""
mkdir -p build/release/drivers; touch build/release/build.ninja; echo "$@" >> calls
case "$1" in --preset) exit ;; esac
status=0
for name in $(sed -n 's/^name = "\(.*\)"/\1/p' configs/engines.toml \
    configs/engines/*.toml 2>/dev/null); do
  path="build/release/drivers/db_bench_$name"
  case " $* " in *" drivers/all "* | *" db_bench_$name "*) ;;
    *" --target "*) continue ;;
  esac
  rm -f "$path" "$path.why"
  case " $WHY " in *" $name "*) echo "no library" > "$path.why"; continue ;; esac
  case " $UNBUILT " in *" $name "*) continue ;; esac
  case " $FAILING " in
    *" $name "*) echo "$name.cc:1: error: broken"; status=1; continue ;;
  esac
  printf '#!/bin/sh\necho "engine:      %s 1"\nexit %s\n' \
    "${NAMED:-$name}" "${ANSWER:-0}" > "$path"; chmod +x "$path"
done
exit "$status"
"""


def pinned_sources(configs: Path) -> list[PinnedSource]:
    """Return the sources of the default engines and of RocksDB."""
    choice = requested.Choice(names=("rocksdb",))
    chosen, problems = requested.chosen(choice, requested.read(configs))
    assert not problems
    return chosen.sources_of(chosen.engines)


def engines_text(source: PinnedSource) -> str:
    """Return an engines.toml that pins one source."""
    sums = "".join(f'"{name}" = "{value}"\n' for name, value in source.sha256.items())
    more = f'suite = "{source.suite}"\n' if source.suite else ""
    if isinstance(source, CrateSource):
        more = f'crate = "{source.crate}"\nfolder = "{source.folder}"\n'
    return (
        f'[[engine]]\nname = "{source.engine}"\ntitle = "T"\nsummary = "S"\n'
        "[[engine.source]]\n"
        f'package = "{source.package}"\nversion = "{source.version}"\n'
        f'build = "{source.build}"\noptions = {json.dumps(source.options)}\n{more}'
        f"[engine.source.sha256]\n{sums}"
    )


@dataclass(frozen=True)
class Checkout:
    """A checkout whose engine, compilers and package sources are fake."""

    root: Path
    cache: Path

    @property
    def engines(self) -> Path:
        """Its pins."""
        return self.root / "configs/engines.toml"

    @property
    def prefix(self) -> Path:
        """The folder of the one library compiled so far."""
        [folder] = (self.cache / "prefix").iterdir()
        return folder

    def set_up(self, *words: str) -> tuple[int, str]:
        """Run scripts/setup; return its exit status and what it printed."""
        out = io.StringIO()
        with contextlib.redirect_stderr(out), pytest.MonkeyPatch.context() as patch:
            patch.setattr(setup, "Screen", lambda quiet: Screen(out, quiet))
            status = setup.main(words)
        return status, out.getvalue()

    def mend(self, output: str) -> None:
        """Run the command that an error names, up to scripts/setup."""
        [command] = re.findall(r"(rm .*) && scripts/setup$", output, re.MULTILINE)
        paths = [word for word in shlex.split(command)[1:] if word != "-r"]
        assert all(Path(path).is_relative_to(self.root.parent) for path in paths)
        subprocess.run(["sh", "-c", command], check=True)


def refused(checkout: Checkout, *words: str) -> str:
    """Return the one message of a set-up that must exit with status 2."""
    status, output = checkout.set_up(*words)
    assert status == 2, output
    assert output.count("scripts/setup: ") == 1
    assert "Ready." not in output
    return output


def refused_pin(checkout: Checkout, old: str, new: str) -> str:
    """Return the message about engines.toml after one of its texts is replaced."""
    text = checkout.engines.read_text()
    assert old in text
    checkout.engines.write_text(text.replace(old, new))
    return refused(checkout)


def ready(checkout: Checkout, *words: str) -> str:
    """Return the output of a set-up that must succeed."""
    status, output = checkout.set_up(*words)
    assert status == 0, output
    return output


def put_checkout(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Checkout:
    """Return a new checkout, and have scripts/setup work in it."""
    programs = {"dpkg-source": UNPACK, "make": MAKE, "apt-get": _APT, "cmake": CMAKE}
    path = put_programs(folder / "bin", programs)
    checkout = Checkout(folder / "checkout", folder / "cache")
    requirements = checkout.root / "scripts/requirements.txt"
    for file, text in (
        (checkout.engines, engines_text(make_source())),
        (checkout.root / "CMakePresets.json", presets_text(FLAGS)),
        (requirements, "# nothing\n"),
        (requirements.with_name("requirements-dev.txt"), "# nothing more\n"),
    ):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    environment = checkout.root / "build/venv"
    put_programs(environment / "bin", {"python": ""})
    stamp = environment / "kvmatrix" / venv.fingerprint(requirements)
    stamp.parent.mkdir()
    stamp.touch()
    monkeypatch.setattr(setup, "ROOT", checkout.root)
    monkeypatch.setattr(packages, "missing", lambda _: [])
    monkeypatch.setenv("PATH", f"{path}:{os.environ['PATH']}")
    monkeypatch.setenv("KVMATRIX_CACHE", str(checkout.cache))
    monkeypatch.setenv("TAMPERED", "")
    return checkout


def presets_text(flags: object) -> str:
    """Return a CMakePresets.json with these compiler flags."""
    variables = {"CMAKE_CXX_FLAGS_RELEASE": flags}
    release = {"name": "release", "cacheVariables": variables}
    return json.dumps({"configurePresets": [release]})
