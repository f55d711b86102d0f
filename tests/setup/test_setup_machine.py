"""The set-up reports what a machine lacks, and creates the Python environment once."""

import io
from pathlib import Path

import pytest

from scripts.basis.problem import SetupError
from scripts.basis.setup_screen import Screen
from scripts.provision import languages, packages, venv
from scripts.provision.packages import Requirement
from scripts.testing.budgets import over_budget
from tests.setup.provisioning import put_programs

ABSENT = Requirement("ninja-build", "what CMake runs", lambda: False)
PRESENT = Requirement("cmake", "builds the harness", lambda: True)
DEBIAN = 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nID=debian\nVERSION_ID="12"\n'
UBUNTU = 'PRETTY_NAME="Ubuntu 24.04 LTS"\nID=ubuntu\nVERSION_ID="24.04"\n'


def put_release(folder: Path, text: str) -> Path:
    (folder / "os-release").write_text(text)
    return folder


def test_without_root_the_missing_packages_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    why = packages.why_not_installable(put_release(tmp_path, DEBIAN))
    assert why == "installing packages needs root"
    monkeypatch.setattr(packages, "why_not_installable", lambda: why)
    with pytest.raises(SetupError) as stopped:
        packages.ensure([PRESENT, ABSENT], tmp_path / "log", Screen(io.StringIO()))
    assert str(stopped.value).splitlines() == [
        "Missing packages (installing packages needs root):",
        "  ninja-build  what CMake runs",
        "Install them, then run the same command again:",
        "  sudo apt-get install --no-install-recommends ninja-build",
    ]


def test_on_another_distribution_the_missing_packages_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 0)
    assert "Ubuntu 24.04 LTS" in packages.why_not_installable(
        put_release(tmp_path, UBUNTU)
    )
    assert packages.why_not_installable(put_release(tmp_path, DEBIAN)) == ""


def test_root_on_debian_installs_what_is_missing_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    marker = tmp_path / "installed"
    body = f'case "$*" in *install*) echo "$@" > {marker};; esac'
    monkeypatch.setenv("PATH", str(put_programs(tmp_path / "bin", {"apt-get": body})))
    monkeypatch.setattr(packages, "why_not_installable", lambda: "")
    absent = Requirement("ninja-build", "what CMake runs", marker.exists)
    along = [PRESENT, Requirement("xfsprogs", "not needed", lambda: False)]
    screen = Screen(io.StringIO())
    packages.ensure([PRESENT], tmp_path / "log", screen, along)
    assert not marker.exists(), "nothing that is needed is missing"
    packages.ensure([PRESENT, absent], tmp_path / "log", screen, along)
    words = marker.read_text().split()
    assert words[-2:] == ["ninja-build", "xfsprogs"]
    assert "cmake" not in words
    assert "DPkg::Lock::Timeout=400" in words
    assert "--no-remove" in words


def test_every_package_has_a_reason() -> None:
    everything = (
        *(*packages.BUILDING, *packages.COMPILING_ENGINES),
        *(*packages.FETCHING_CRATES, *packages.TESTING),
    )
    assert all(requirement.reason for requirement in everything)
    names = [requirement.package for requirement in everything]
    assert len(set(names)) == len(names)


# python -m venv DIR; DIR/bin/python -m pip ..., which ends with $STATUS_OF_PIP
PYTHON = """
case "$2" in
  venv) mkdir -p "$3/bin" && cp "$0" "$3/bin/python" ;;
  pip) exit "$STATUS_OF_PIP" ;;
esac
"""


@pytest.fixture
def python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    programs = put_programs(tmp_path / "bin", {"python": PYTHON})
    monkeypatch.setattr("sys.executable", str(programs / "python"))
    monkeypatch.setenv("STATUS_OF_PIP", "0")


def make_venv(folder: Path, requirements: Path, every: Path) -> str:
    out = io.StringIO()
    venv.ensure(folder, requirements, every, folder.parent / "log", Screen(out))
    return out.getvalue()


@pytest.mark.usefixtures("python")
def test_the_environment_is_rebuilt_only_when_the_pins_change(tmp_path: Path) -> None:
    requirements, every = tmp_path / "wanted.txt", tmp_path / "every.txt"
    requirements.write_text("# nothing\n")
    every.write_text("# nothing more\n")
    folder = tmp_path / "venv"
    assert "Creating" in make_venv(folder, requirements, every)
    assert make_venv(folder, requirements, every) == ""
    assert "Creating" in make_venv(folder, every, every)
    assert (
        make_venv(folder, requirements, every) == ""
    )  # an environment with all packages is accepted
    every.write_text("# changed\n")
    assert "Creating" in make_venv(folder, every, every)


@pytest.mark.usefixtures("python")
def test_an_unfinished_environment_is_not_reused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    requirements = tmp_path / "wanted.txt"
    requirements.write_text("# nothing\n")
    monkeypatch.setenv("STATUS_OF_PIP", "1")
    with pytest.raises(SetupError, match="--require-hashes"):
        make_venv(tmp_path / "venv", requirements, requirements)
    assert not venv.is_current(tmp_path / "venv", requirements)


@pytest.mark.usefixtures("python")
def test_an_environment_without_its_python_is_recreated(tmp_path: Path) -> None:
    requirements = tmp_path / "wanted.txt"
    requirements.write_text("# nothing\n")
    make_venv(tmp_path / "venv", requirements, requirements)
    program = tmp_path / "venv/bin/python"
    program.unlink()
    program.symlink_to("/nowhere/python")
    assert "Creating" in make_venv(tmp_path / "venv", requirements, requirements)
    assert make_venv(tmp_path / "venv", requirements, requirements) == ""


@pytest.mark.usefixtures("python")
def test_a_copied_environment_is_recreated(tmp_path: Path) -> None:
    """Its programs run the Python of the one that it was copied from."""
    requirements = tmp_path / "wanted.txt"
    requirements.write_text("# nothing\n")
    folder = tmp_path / "ven v"
    make_venv(folder, requirements, requirements)
    settings = folder / "pyvenv.cfg"
    settings.write_text(f"command = /usr/bin/python3 -m venv {folder}\n")
    assert make_venv(folder, requirements, requirements) == ""
    link = tmp_path / "link"
    link.symlink_to(folder)
    assert make_venv(link, requirements, requirements) == ""
    folder.rename(tmp_path / "moved")
    assert "Creating" in make_venv(tmp_path / "moved", requirements, requirements)


def test_a_release_that_is_not_utf_8_is_another_distribution(tmp_path: Path) -> None:
    (tmp_path / "os-release").write_bytes(b"ID=debi\xff\xfe\nPRETTY_NAME=Odd\n")
    assert "this is Odd" in packages.why_not_installable(tmp_path)


def test_a_long_function_and_a_long_file_are_found(tmp_path: Path) -> None:
    path = tmp_path / "long.cc"
    path.write_text("int Long() {\n" + "  ;\n" * 400 + "  return 0;\n}\n")
    file, function = over_budget(path)
    assert file.endswith("long.cc:1: the file has 403 lines, over 400")
    assert "long.cc:1: Long() has 403 lines, over 60" in function


@pytest.mark.parametrize(
    ("name", "programs", "problem"),
    [
        ("go", {}, "go is not installed"),
        ("go", {"go": "echo go version go1.20.14"}, "go is 1.20;"),
        ("go", {"go": "echo go version go1.21.0"}, ""),
        ("go", {"go": "exit 1"}, "go version fails; run it"),
        ("rust", {}, "rustc is not installed; install the packages cargo-web and"),
        ("rust", {"rustc": "echo rustc 1.63.0", "cargo": "echo cargo 1.95.0"}, "1.63"),
        ("rust", {"rustc": "echo rustc 1.90.0", "cargo": "echo cargo 1.90.0"}, ""),
        ("java", {}, "javac is not installed; install the package default-jdk-headle"),
        ("java", {"javac": "echo javac 17.0.12"}, "with jni.h and libjvm.so"),
    ],
)
def test_a_toolchain_must_be_new_enough(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    programs: dict[str, str],
    problem: str,
) -> None:
    monkeypatch.delenv("GOTOOLCHAIN", raising=False)
    monkeypatch.setenv("PATH", str(put_programs(tmp_path / "bin", programs)))
    found = languages.TOOLCHAINS[name].problem()
    assert problem in found and bool(problem) == bool(found)


def test_a_go_that_may_not_fetch_another_must_be_newer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = put_programs(tmp_path, {"go": "echo go version go1.21.0"})
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.setenv("GOTOOLCHAIN", "local")
    found = languages.TOOLCHAINS["go"].problem()
    assert "Go 1.26 or newer with GOTOOLCHAIN=local, and go is 1.21;" in found


def put_jdk(home: Path, version: int) -> Path:
    """Return the programs of a JDK."""
    for name in ("include/jni.h", "lib/server/libjvm.so"):
        path = home / name
        path.parent.mkdir(parents=True)
        path.touch()
    return put_programs(home / "bin", {"javac": f"echo javac {version}"})


def test_a_jdk_is_found_from_its_compiler(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(put_jdk(tmp_path / "jdk", 21)))
    java = languages.TOOLCHAINS["java"]
    assert java.problem() == ""
    assert java.variables()["KVM_JAVA_HOME"] == str(tmp_path / "jdk")


def test_java_home_comes_first_if_it_can_be_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(put_jdk(tmp_path / "jdk", 21)))
    java = languages.TOOLCHAINS["java"]
    for name, version, found in [("old", 11, "jdk"), ("other", 25, "other")]:
        put_jdk(tmp_path / name, version)
        monkeypatch.setenv("JAVA_HOME", str(tmp_path / name))
        assert java.variables()["KVM_JAVA_HOME"] == str(tmp_path / found)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "old"))
    assert f"{tmp_path}/old has 11.0; install" in java.problem()
