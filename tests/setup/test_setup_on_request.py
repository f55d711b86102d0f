"""Engines on request: which are installed, and that one failure stops no other."""

import json
import os
import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from report.config.engine_file import read_engines
from scripts.durability.durability_session import BLOCK_LOG
from scripts.provision import packages, requested
from scripts.provision.requested import Choice
from tests.places import ROOT
from tests.setup.provisioning import (
    Checkout,
    engines_text,
    make_crate,
    put_checkout,
    put_programs,
    ready,
    refused,
)
from tests.setup.test_setup_crates import put_cargo

CRATED = replace(make_crate(), engine="crated", package="crated")


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Checkout:
    """Return a checkout with engines on request: crated, of a crate, and plain."""
    monkeypatch.chdir(tmp_path)
    checkout = put_checkout(tmp_path, monkeypatch)
    put_cargo(tmp_path, monkeypatch)
    for name in ("FAILING", "WHY", "UNBUILT", "ANSWER", "NAMED"):
        monkeypatch.delenv(name, raising=False)
    on_request(checkout, "crated", engines_text(CRATED))
    on_request(checkout, "plain", '[[engine]]\nname = "plain"\n')
    return checkout


def on_request(checkout: Checkout, name: str, text: str) -> Path:
    """Write a file of engines on request."""
    path = checkout.root / f"configs/engines/{name}.toml"
    path.parent.mkdir(exist_ok=True)
    if "title" not in text:
        text += 'title = "T"\nsummary = "S"\n'
    path.write_text(text)
    return path


def libraries(checkout: Checkout) -> str:
    """Return what CMake reads."""
    return (checkout.root / "build/engines/bundled.cmake").read_text()


def partly(checkout: Checkout, *words: str) -> str:
    """Return the output of a set-up that must be ready except for some engines."""
    status, output = checkout.set_up(*words)
    assert status == 3, output
    assert "\nReady.\n" not in output
    return output


def test_by_default_nothing_on_request_is_installed(checkout: Checkout) -> None:
    assert "crated" not in ready(checkout)
    assert "set(KVM_ENGINE_PACKAGES fake)\nset(KVM_ON_REQUEST )" in libraries(checkout)


def test_what_was_added_stays_until_the_default_is_asked_for(
    checkout: Checkout,
) -> None:
    output = ready(checkout, "--with", "crated")
    assert "Installing on request: crated (unknown for crated" in output
    for words in ((), ("--with", "plain")):
        ready(checkout, *words)
        assert "set(KVM_ENGINE_PACKAGES fake crated)" in libraries(checkout)
    assert "set(KVM_ON_REQUEST crated plain)" in libraries(checkout)
    ready(checkout, "--default")
    assert "crated" not in libraries(checkout)
    ready(checkout)
    assert "crated" not in libraries(checkout)


def test_only_one_engine_and_what_it_needs(checkout: Checkout) -> None:
    ready(checkout, "--only", "crated")
    assert "set(KVM_ENGINE_PACKAGES crated)" in libraries(checkout)
    assert not list(checkout.cache.glob("prefix/fake-*"))
    source = replace(CRATED, engine="needy", package="needy", needs=("fake",))
    text = engines_text(source).replace("options", 'needs = ["fake"]\noptions')
    on_request(checkout, "needy", text)
    ready(checkout, "--only", "needy")
    assert "set(KVM_ENGINE_PACKAGES fake needy)" in libraries(checkout)


def test_all_are_those_of_every_file(checkout: Checkout) -> None:
    ready(checkout, "--with", "all")
    assert "set(KVM_ON_REQUEST crated plain)" in libraries(checkout)


def test_the_cost_is_said_first(checkout: Checkout) -> None:
    text = engines_text(CRATED).replace("title", "setup_s = 150\nsetup_mb = 60\ntitle")
    on_request(checkout, "crated", text)
    first = ready(checkout, "--with", "crated,plain").splitlines()[0]
    assert "crated, plain (about 2 min on two processors and 60 MB; unknown" in first


@pytest.mark.parametrize("option", ["--with", "--only", "--checksums"])
def test_an_unknown_engine_is_an_error_with_the_nearest_name(
    checkout: Checkout, option: str
) -> None:
    output = refused(checkout, option, "crate")
    assert "unknown engine 'crate' (did you mean 'crated'?)" in output
    assert not (checkout.root / "build/engines/requested.json").exists()


@pytest.mark.parametrize("option", ["--with", "--only"])
@pytest.mark.parametrize("word", ["", " ", ","])
def test_no_engine_is_not_a_choice(checkout: Checkout, option: str, word: str) -> None:
    refused(checkout, option, word)
    assert not (checkout.root / "build/engines/requested.json").exists()


@pytest.mark.parametrize("text", ["{", "[]", '{"has_default": 1, "names": []}', '"'])
def test_a_damaged_choice_is_refused_until_it_is_removed(
    checkout: Checkout, text: str
) -> None:
    ready(checkout, "--with", "plain")
    (checkout.root / "build/engines/requested.json").write_text(text)
    output = refused(checkout)
    assert "requested.json: damaged; it lists the engines that were" in output
    checkout.mend(output)
    ready(checkout)


def test_an_engine_that_exists_no_more_is_named(checkout: Checkout) -> None:
    ready(checkout, "--with", "plain")
    (checkout.root / "configs/engines/plain.toml").unlink()
    assert "plain: no file of configs/ lists it any more" in partly(checkout)


def test_a_broken_file_stops_only_its_engines(checkout: Checkout) -> None:
    ready(checkout, "--with", "plain")
    on_request(checkout, "plain", '[[engine]]\nname = "plain"\ntpyo = 1\n')
    output = partly(checkout)
    assert "engines/plain.toml: engine[plain].tpyo: unknown key 'tpyo'" in output
    assert "Ready, except plain: see above." in output
    ready(checkout, "--default")


def test_a_checksum_that_does_not_match_stops_only_its_engine(
    checkout: Checkout, tmp_path: Path
) -> None:
    (tmp_path / "offered").write_bytes(b"another crate")
    output = partly(checkout, "--with", "crated", "plain")
    assert "scripts/setup: crated: " in output and "wrong checksum" in output
    assert output.endswith("Ready, except crated: see above.\n")
    assert "set(KVM_ON_REQUEST plain)" in libraries(checkout)


def test_a_build_that_fails_stops_only_its_engine(
    checkout: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ready(checkout)
    with monkeypatch.context() as patch:
        broken = put_programs(tmp_path / "broken", {"make": "echo 'error: x'; exit 1"})
        patch.setenv("PATH", f"{broken}:{os.environ['PATH']}")
        output = partly(checkout, "--with", "crated")
        assert "crated: 'make" in output and "  | error: x\n" in output
        assert f"The complete log is {checkout.cache}/logs/crated-" in output
    ready(checkout)
    assert "crated" in libraries(checkout)


def test_a_driver_that_does_not_compile_stops_only_its_engine(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAILING", "plain")
    output = partly(checkout, "--with", "crated", "plain")
    assert "plain: 'cmake --build" in output
    assert "  | plain.cc:1: error: broken" in output
    assert f"{checkout.root}/build/logs/release-plain.log" in output
    for name in ("engine", "crated"):
        assert (checkout.root / f"build/release/drivers/db_bench_{name}").exists()


def test_nothing_is_left_of_an_earlier_build_of_an_engine_that_fails(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    ready(checkout, "--with", "plain")
    drivers = checkout.root / "build/release/drivers"
    earlier = (drivers / "db_bench_plain", drivers / "plain.so")
    for path in earlier:
        path.touch()
    monkeypatch.setenv("FAILING", "plain")
    partly(checkout)
    assert not any(path.exists() for path in earlier)


def test_a_default_driver_that_does_not_compile_ends_the_set_up(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAILING", "engine")
    for words in ((), ("--with", "plain")):
        assert "engine.cc:1: error: broken" in refused(checkout, *words)


@pytest.mark.parametrize(
    ("variable", "problem"),
    [
        ("WHY", "plain: not built: no library"),
        ("UNBUILT", "plain: .*db_bench_plain was not built; drivers/CMakeLists.txt ne"),
    ],
)
def test_what_was_not_built_is_named_with_the_reason(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch, variable: str, problem: str
) -> None:
    monkeypatch.setenv(variable, "plain")
    output = partly(checkout, "--with", "plain")
    assert re.search(problem, output)


def test_the_plain_set_up_builds_no_tests_but_what_the_runner_starts(
    checkout: Checkout,
) -> None:
    def build() -> str:
        lines = (checkout.root / "calls").read_text().splitlines()
        return [line for line in lines if line.startswith("--build")][-1]

    ready(checkout)
    assert build().endswith(f" --target drivers/all {Path(BLOCK_LOG).name}")
    ready(checkout, "--with", "plain")
    only = f" --target drivers/all {Path(BLOCK_LOG).name} -- -k 0"
    assert build().endswith(only)
    ready(checkout, "--test")
    assert "--target" not in build()


def test_an_executable_that_does_not_answer_is_named(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANSWER", "7")
    assert "db_bench_engine --version failed with status 7" in partly(checkout)


def test_an_executable_with_another_engine_is_named(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NAMED", "other")
    output = partly(checkout)
    assert "has an engine named other; expected engine" in output


def test_a_missing_toolchain_is_named_with_the_remedy(
    checkout: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GOTOOLCHAIN", raising=False)
    on_request(checkout, "plain", '[[engine]]\nname = "plain"\ntoolchain = "go"\n')
    put_programs(tmp_path / "bin", {"go": "echo go version go1.19.8 linux/amd64"})
    output = partly(checkout, "--with", "plain", "crated")
    assert "plain: needs Go 1.21 or newer, and go is 1.19;" in output
    assert "set(KVM_ON_REQUEST crated)" in libraries(checkout)
    assert "KVM_GO" not in libraries(checkout)
    put_programs(tmp_path / "bin", {"go": "echo go version go1.21 linux/amd64"})
    ready(checkout)
    assert f'set(KVM_GO "{tmp_path}/bin/go")' in libraries(checkout)


def test_a_toolchain_that_cannot_be_installed_is_named_once(
    checkout: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("plain", "other"):
        text = f'[[engine]]\nname = "{name}"\ntoolchain = "rust"\n'
        on_request(checkout, name, text)
    put_programs(tmp_path / "bin", {"rustc": "exit 1"})
    asked = []

    def missing(
        required: list[packages.Requirement],
    ) -> list[packages.Requirement]:
        found = [r for r in required if r.package == "rustc-web"]
        asked.extend(found)
        return found

    monkeypatch.setattr(packages, "missing", missing)
    monkeypatch.setattr(packages, "why_not_installable", lambda: "needs root")
    output = partly(checkout, "--with", "plain", "other", "crated")
    assert "other, plain: needs cargo and rustc 1.90 or newer, and rustc is" in output
    assert output.count("Missing packages (needs root):\n  rustc-web") == 1
    assert len(asked) == 1
    assert "set(KVM_ON_REQUEST crated)" in libraries(checkout)


@pytest.mark.parametrize(
    ("said", "remedy"),
    [
        ("error: checksum for redb changed", "error: restore drivers/rust/Cargo.lock"),
        ("error: because --locked was passed", "error: Cargo.toml has changed: run"),
        ("error: timed out", "error: check the network and cargo's configuration"),
    ],
)
def test_what_cargo_cannot_fetch_has_a_remedy(
    tmp_path: Path, said: str, remedy: str
) -> None:
    cargo = put_programs(tmp_path, {"cargo": f"echo '{said}' >&2; exit 101"}) / "cargo"
    script = ROOT / "drivers/rust/fetch.cmake"
    done = subprocess.run(
        ["cmake", f"-DCARGO={cargo}", "-P", script],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode and f"{said}\n{remedy}" in done.stderr


def test_packages_of_an_engine_on_request_are_no_concern_of_others(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = '[[engine]]\nname = "plain"\ntitle = "T"\nsummary = "S"\n'
    text += '[[engine.library]]\npackage = "libfake-dev"\nlink = "fake"\n'
    on_request(checkout, "plain", text)

    def missing(
        required: list[packages.Requirement],
    ) -> list[packages.Requirement]:
        return [r for r in required if r.package == "libfake-dev"]

    monkeypatch.setattr(packages, "missing", missing)
    monkeypatch.setattr(packages, "why_not_installable", lambda: "needs root")
    output = partly(checkout, "--with", "plain", "crated")
    assert "plain: Missing packages (needs root):\n  libfake-dev" in output
    assert "set(KVM_ON_REQUEST crated)" in libraries(checkout)


def test_a_variant_stands_for_its_engine() -> None:
    engines = read_engines(ROOT / "configs")
    assert requested.resolved(["leveldb-advised,lmdb"], engines) == ("leveldb", "lmdb")


def test_the_floor_of_a_binding_comes_with_its_engines() -> None:
    engines = read_engines(ROOT / "configs")
    named = requested.resolved(["redb,heed", "bbolt"], engines)
    assert named == ("null-rust", "redb", "heed", "null-go", "bbolt")


def test_an_engine_with_the_sources_of_another_gets_them() -> None:
    engines = read_engines(ROOT / "configs")
    chosen, problems = requested.chosen(Choice(False, ("hashdb",)), engines)
    assert not problems
    names = [e.name for e in chosen.default]
    assert "hashdb" in names and "treedb" not in names and "null" in names
    sources = [s.package for s in chosen.sources_of(chosen.default)]
    assert sources == ["lzo2", "kyotocabinet"]


def test_a_choice_is_remembered_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "requested.json"
    assert requested.remembered(path) == Choice()
    choice = Choice(False, ("a", "b")).adding(["b", "c"])
    path.write_text(requested.choice_text(choice))
    assert requested.remembered(path) == Choice(False, ("a", "b", "c"))
    assert json.loads(path.read_text())["names"] == ["a", "b", "c"]


def test_our_engines_on_request_have_sound_sources() -> None:
    engines = read_engines(ROOT / "configs")
    names = tuple(e.name for e in engines.engines.values() if not e.variant_of)
    chosen, problems = requested.chosen(Choice(True, names), engines)
    assert not problems and not engines.broken
    for source in chosen.sources_of(chosen.engines):
        assert len(source.upstream_sha256) == 64


def test_the_package_is_installed_without_engines(checkout: Checkout) -> None:
    assert ready(checkout, "--package").endswith("Ready.\n")
    configured, built, installed = (checkout.root / "calls").read_text().splitlines()
    assert configured == "--preset release"
    assert " --target kvmatrix_package " in built
    assert installed == "--install build/release --prefix build/package"
    assert not checkout.cache.exists()
    assert not (checkout.root / "build/engines").exists()
