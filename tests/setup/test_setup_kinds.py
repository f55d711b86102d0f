"""Sources of every kind: a folder, files of C, a Python package, a jar, a library."""

import functools
import gzip
import hashlib
import http.server
import io
import json
import tarfile
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from report.config.pinned_source import PinnedSource
from scripts.provision import downloads, prefixes
from tests.setup.provisioning import (
    COMPILER,
    FLAGS,
    Checkout,
    engines_text,
    make_source,
    put_checkout,
    put_programs,
    ready,
    refused,
)
from tests.setup.test_setup_on_request import libraries, on_request, partly

HEAD = '[[engine]]\nname = "odd"\ntitle = "T"\nsummary = "S"\n'


def packed(files: dict[str, str]) -> bytes:
    """Return an archive with these files in its only folder."""
    content = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=content, mode="wb", mtime=0) as compressed,
        tarfile.open(fileobj=compressed, mode="w") as archive,
    ):
        for name, text in files.items():
            info = tarfile.TarInfo(f"Odd_Py-1.2/{name}")
            info.size = len(text)
            archive.addfile(info, io.BytesIO(text.encode()))
    return content.getvalue()


SDIST = packed(
    {
        "src/odd.c": '#include "odd.h"\nint Odd(void) { return ODD; }\n',
        "src/even.cc": "int Even() { return 2; }\n",
        "src/odd.h": "int Odd(void);\n",
        "setup.py": "raise SystemExit('must not run')\n",
    }
)
OF_PYTHON = f"""{HEAD}[[engine.source]]
package = "odd"
sdist = "Odd_Py"
version = "1.2"
folder = "src"
build = "c"
files = ["odd.c", "even.cc"]
headers = ["odd.h"]
options = ["-DODD=3"]
[engine.source.sha256]
"Odd_Py-1.2.tar.gz" = "{hashlib.sha256(SDIST).hexdigest()}"
"""
JAR = b"a jar"
OF_MAVEN = f"""{HEAD}[[engine.source]]
package = "oddjni"
jar = "org.odd:odd-jni:1.2:linux"
[engine.source.sha256]
"odd-jni-1.2-linux.jar" = "{hashlib.sha256(JAR).hexdigest()}"
"""
OF_DEBIAN = f"""{HEAD}[[engine.library]]
package = "libodd1.0-dev"
link = "odd-1.0"
"""
# mvn OPTION... dependency:copy -Dartifact=... -DoutputDirectory=...
MVN = r"""
echo "$@" > "$SEEN"
for word in "$@"; do
  case "$word" in
    -DoutputDirectory=*) cp "$OFFERED" "${word#*=}/odd-jni-1.2-linux.jar" ;;
    -Dmaven.repo.local=*) mkdir -p "${word#*=}/org/odd" ;;
  esac
done
"""
DPKG_QUERY = r"""
case "$1" in
  -L) printf '%s\n' /. "$LIBRARY" /usr/include/odd.h ;;
  -W) printf '%s' 1.0-3 ;;
esac
"""


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Checkout:
    monkeypatch.chdir(tmp_path)
    return put_checkout(tmp_path, monkeypatch)


def prefix_of(checkout: Checkout, package: str) -> Path:
    [folder] = checkout.cache.glob(f"prefix/{package}-*")
    return folder


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Serve an index of Python packages, for which pip is configured."""
    folder = tmp_path / "www"
    (folder / "simple/odd-py").mkdir(parents=True)
    (folder / "Odd_Py-1.2.tar.gz").write_bytes(SDIST)
    links = '<a href="../../Odd_Py-1.1.tar.gz">1.1</a>'
    links += '<a href="../../Odd_Py-1.2.tar.gz#sha256=0">1.2</a>'
    (folder / "simple/odd-py/index.html").write_text(links)

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    handler = functools.partial(Handler, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    address = f"http://127.0.0.1:{server.server_port}/simple"
    words = f"  -i, --index-url <url>  Base URL of it (default {address}). This"
    put_programs(tmp_path / "pip", {"python": f"echo '{words}'"})
    monkeypatch.setattr(downloads, "PYTHON", tmp_path / "pip/python")
    yield address
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.usefixtures("index")
def test_files_of_a_python_package_are_compiled_with_our_flags(
    checkout: Checkout,
) -> None:
    """The package's own build does not run."""
    on_request(checkout, "odd", OF_PYTHON)
    ready(checkout, "--with", "odd")
    prefix = prefix_of(checkout, "odd")
    files = json.loads((prefix / "manifest.json").read_text())["files"]
    assert set(files) == {"include/odd.h", "lib/libodd.a"}
    log = next(checkout.cache.glob("logs/odd-*.log")).read_text()
    assert "$ cc -O2 -DNDEBUG -I. -DODD=3 -c odd.c -o " in log
    assert "$ c++ -O2 -DNDEBUG -I. -DODD=3 -c even.cc -o " in log
    assert f'odd_PREFIX "{prefix}"' in libraries(checkout)
    assert 'odd_ORIGIN "Python source distribution Odd_Py 1.2"' in libraries(checkout)


@pytest.mark.usefixtures("index")
def test_a_file_that_the_index_does_not_have_is_named(checkout: Checkout) -> None:
    on_request(checkout, "odd", OF_PYTHON.replace("1.2", "1.3"))
    output = partly(checkout, "--with", "odd")
    assert "odd: pip's index has no Odd_Py-1.3.tar.gz, which " in output


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ("exit 1", "is unknown; set PIP_INDEX_URL to"),
        ("echo '--index-url <url> it (default http://u:****@x/s)'", "needs a password"),
        ("echo '--index-url <url> it (default http://127.0.0.1:1)'", "cannot fetch"),
    ],
)
def test_an_index_that_cannot_be_used_is_an_error(
    checkout: Checkout,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    answer: str,
    problem: str,
) -> None:
    put_programs(tmp_path / "pip", {"python": answer})
    monkeypatch.setattr(downloads, "PYTHON", tmp_path / "pip/python")
    on_request(checkout, "odd", OF_PYTHON)
    assert problem in partly(checkout, "--with", "odd")


def test_an_address_of_an_index_may_be_relative_and_escaped() -> None:
    page = "<A HREF='/f/a-1.tar.gz?x=1&amp;y'>a</A> <a href=\"../b-1.tar.gz#h\">b</a>"
    at = "https://i.example/simple/b/"
    link = "https://i.example/simple/b-1.tar.gz"
    assert downloads.link_of(page, at, "b-1.tar.gz") == link
    assert downloads.link_of(page, at, "c-1.tar.gz") == ""


@pytest.fixture
def maven(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    put_programs(tmp_path / "bin", {"mvn": MVN})
    (tmp_path / "jar").write_bytes(JAR)
    monkeypatch.setenv("OFFERED", str(tmp_path / "jar"))
    monkeypatch.setenv("SEEN", str(tmp_path / "seen"))
    return tmp_path / "seen"


def test_a_jar_is_installed_as_it_is(checkout: Checkout, maven: Path) -> None:
    on_request(checkout, "odd", OF_MAVEN)
    output = ready(checkout, "--with", "odd")
    assert "Installing oddjni 1.2 ..." in output
    prefix = prefix_of(checkout, "oddjni")
    assert (prefix / "odd-jni-1.2-linux.jar").read_bytes() == JAR
    assert f'oddjni_PREFIX "{prefix}"' in libraries(checkout)
    assert "-Dartifact=org.odd:odd-jni:1.2:jar:linux" in maven.read_text()
    assert not list(checkout.cache.glob("work/*"))
    maven.unlink()
    assert "Fetching" not in ready(checkout) and not maven.exists()


def test_a_jar_that_is_not_the_pinned_one_is_not_kept(
    checkout: Checkout, maven: Path, tmp_path: Path
) -> None:
    (tmp_path / "jar").write_bytes(b"another")
    on_request(checkout, "odd", OF_MAVEN)
    output = partly(checkout, "--with", "odd")
    assert maven.exists() and "wrong checksum" in output
    assert "'oddjni' in checkout/configs/engines/odd.toml\n" in output
    assert not list(checkout.cache.rglob("*.jar"))


def test_without_maven_the_jar_and_the_package_are_named(
    checkout: Checkout, tmp_path: Path
) -> None:
    put_programs(tmp_path / "bin", {"mvn": "echo '[ERROR] no answer'; exit 1"})
    on_request(checkout, "odd", OF_MAVEN)
    output = partly(checkout, "--with", "odd")
    assert "(Debian has it in the package maven)" in output
    assert "org.odd:odd-jni:1.2:linux, which checkout/configs/engines/odd" in output


def put_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> Path:
    put_programs(tmp_path / "bin", {"dpkg-query": DPKG_QUERY})
    library = tmp_path / "usr/lib" / name
    library.parent.mkdir(parents=True)
    library.write_text("code")
    monkeypatch.setenv("LIBRARY", str(library))
    return library


def test_a_library_of_the_distribution_is_used_as_it_is(
    checkout: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = put_library(tmp_path, monkeypatch, "libodd-1.0.so")
    on_request(checkout, "odd", OF_DEBIAN)
    ready(checkout, "--only", "odd")
    text = libraries(checkout)
    of = "set(KVM_ENGINE_libodd1.0-dev_"
    for line in (
        "set(KVM_ENGINE_PACKAGES libodd1.0-dev)",
        f'{of}ORIGIN "Debian package libodd1.0-dev 1.0-3")',
        f'{of}SHA256 "{hashlib.sha256(b"code").hexdigest()}")',
        f'{of}LIBRARY "{library}")',
        f'{of}LINK "odd-1.0")',
    ):
        assert line in text


def test_a_package_without_the_library_is_an_error(
    checkout: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_library(tmp_path, monkeypatch, "libodd-2.0.so")
    on_request(checkout, "odd", OF_DEBIAN)
    output = partly(checkout, "--with", "odd")
    assert "libodd1.0-dev has no libodd-1.0.so or libodd-1.0.a; correct" in output


# dpkg-source -x DSC TREE: a tree whose configure is in a folder
UNPACK_DEEP = r"""
tree="$4"; mkdir -p "$tree/dist"
printf '%s\n' '#!/bin/sh' 'pwd > where; echo "$1" | cut -d= -f2 > prefix' \
  > "$tree/dist/configure"
chmod +x "$tree/dist/configure"
"""


def test_a_folder_of_a_source_package_is_built_beside_it(
    checkout: Checkout, tmp_path: Path
) -> None:
    put_programs(tmp_path / "bin", {"dpkg-source": UNPACK_DEEP})
    more = '\nfolder = "dist"\nsource = "fake"\noptions'
    text = engines_text(make_source()).replace("\noptions", more)
    text = text.replace('package = "fake"', 'package = "fake1.0"')
    checkout.engines.write_text(text.replace('"--with-x"', '"--with-x", "install_lib"'))
    ready(checkout)
    log = next(checkout.cache.glob("logs/fake1.0-*.log")).read_text()
    assert "/source/dist/configure --prefix=" in log
    (install,) = [line for line in log.splitlines() if "DESTDIR=" in line]
    assert "--with-x\n" in log and install.endswith(" install_lib")
    manifest = json.loads(
        (prefix_of(checkout, "fake1.0") / "manifest.json").read_text()
    )
    assert manifest["origin"] == "Debian source package fake 1-1"


def test_one_source_package_serves_two_libraries(
    checkout: Checkout, tmp_path: Path
) -> None:
    source = make_source()
    other = engines_text(replace(source, engine="other", package="part"))
    other = other.replace("\noptions", '\nsource = "fake"\noptions')
    checkout.engines.write_text(engines_text(source) + other)
    ready(checkout)
    assert "set(KVM_ENGINE_PACKAGES fake part)" in libraries(checkout)
    assert len(list((checkout.cache / "downloads").iterdir())) == 3
    calls = (tmp_path / "bin/apt-get.calls").read_text()
    assert calls.endswith(" source --download-only fake=1-1\n")


def test_every_part_of_a_pin_changes_the_key_of_its_library() -> None:
    source = make_source()
    sources: list[PinnedSource] = [
        source,
        replace(source, folder="dist"),
        replace(source, source="other"),
        replace(source, files=("a.c",)),
        replace(source, headers=("a.h",)),
    ]
    keys = {prefixes.key_of(s, FLAGS, COMPILER, []) for s in sources}
    assert len(keys) == len(sources)
    moved = replace(source, file="elsewhere.toml")
    assert prefixes.key_of(moved, FLAGS, COMPILER, []) in keys


@pytest.mark.parametrize(
    ("text", "old", "new", "message"),
    [
        (OF_PYTHON, 'files = ["odd.c", "even.cc"]\n', "", "'files' is missing"),
        (OF_PYTHON, '"odd.c"', '"../odd.c"', "files: ['../odd.c', 'even.cc'] is not"),
        (OF_PYTHON, '"odd.c"', '"odd.o"', "expected files of C or C++"),
        (OF_PYTHON, '"odd.h"', '"/odd.h"', "expected headers, such as"),
        (OF_PYTHON, 'build = "c"', 'build = "cmake"', 'only for the build "c"'),
        (OF_PYTHON, 'sdist = "Odd_Py"', 'sdist = "../x"', "sdist: '../x' is not valid"),
        (OF_PYTHON, 'sdist = "O', 'jar = "a:b:c"\nsdist = "O', "unknown key 'jar'"),
        (OF_MAVEN, "org.odd:odd-jni:1.2:linux", "odd", "jar: 'odd' is not valid"),
        (OF_MAVEN, "org.odd:odd-jni", "org/odd:x", "jar: 'org/odd:x:1.2:linux' is"),
        (OF_MAVEN, "jar =", 'build = "c"\njar =', "unknown key 'build'"),
        (OF_MAVEN, "-1.2-linux.jar", ".jar", "the checksum of 'odd-jni-1.2-linux.jar'"),
    ],
)
def test_a_wrong_pin_is_refused(
    checkout: Checkout, text: str, old: str, new: str, message: str
) -> None:
    assert old in text
    on_request(checkout, "odd", text.replace(old, new))
    output = refused(checkout, "--with", "odd")
    assert message in output and "configs/engines/odd.toml: " in output


def sums(checkout: Checkout, capsys: pytest.CaptureFixture[str], name: str) -> str:
    capsys.readouterr()
    status, output = checkout.set_up("--checksums", name)
    assert status == 0, output
    return capsys.readouterr().out


def test_checksums_can_be_pasted(
    checkout: Checkout, maven: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, text in (("odd", OF_MAVEN), ("engine", engines_text(make_source()))):
        head, line, table = text.partition("[engine.source.sha256]\n")
        path = checkout.engines
        if name == "odd":
            path = on_request(checkout, name, head)
        path.write_text(head)
        printed = sums(checkout, capsys, name)
        assert line in printed
        assert set(table.splitlines()) <= set(printed.splitlines())
        path.write_text(head + printed)
        ready(checkout, "--with", name)
    assert maven.exists() and not list(checkout.cache.glob("work/*"))


def test_an_engine_without_sources_has_no_checksums(checkout: Checkout) -> None:
    on_request(checkout, "odd", OF_DEBIAN)
    assert "engine 'odd' has no source" in refused(checkout, "--checksums", "odd")


def test_a_pin_without_checksums_names_the_command(checkout: Checkout) -> None:
    text = checkout.engines.read_text().partition("[engine.source.sha256]")[0]
    checkout.engines.write_text(text)
    assert "scripts/setup --checksums engine prints them" in refused(checkout)
