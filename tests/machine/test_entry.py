"""Commands in bash: the caller's environment changes nothing, and 1 is a verdict."""

import errno
import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from report.config.toml_table import short_path
from report.terms.encoding import problem_of, reason_of
from scripts.basis import start
from scripts.basis.cache import locked
from scripts.basis.system_programs import MissingProgram
from scripts.machine.child_process import Spawner
from scripts.planning.engine_program import Program
from scripts.planning.executable import describe
from scripts.show.output import shown
from tests.places import PATIENCE_S, ROOT
from tests.support.command_line import copy_commands
from tests.support.lab import make_lab

COMMANDS = (
    *("kvmatrix", "setup", "test", "check", "bench"),
    *("compare-commits", "compare-engine", "test-the-gate"),
)
# Modules of the caller that end the program, and leave a file, when they are imported.
TRAP = "open({marker!r}, 'w').close()\nraise SystemExit(1)\n"
TRAPS = ("click", "json", "sitecustomize", "usercustomize", "scripts", "rich")


def run(*words: str | Path, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # type: ignore[call-overload]
        words, capture_output=True, text=True, timeout=PATIENCE_S, **options
    )


@pytest.fixture
def poison(tmp_path: Path) -> dict[str, str]:
    """Return an environment whose variables of Python are all traps."""
    folder = tmp_path / "traps"
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    of_user = tmp_path / f"base/lib/{version}/site-packages"
    for place in (folder, of_user):
        place.mkdir(parents=True)
        for name in TRAPS:
            text = TRAP.format(marker=str(tmp_path / "marker"))
            (place / f"{name}.py").write_text(text)
    return {
        **os.environ,
        "PYTHONPATH": str(folder),
        "PYTHONHOME": str(folder),
        "PYTHONSTARTUP": str(folder / "json.py"),
        "PYTHONWARNINGS": "error",
        "PYTHONOPTIMIZE": "2",
        "PYTHONSAFEPATH": "",
        "PYTHONUSERBASE": str(tmp_path / "base"),
        "PYTHONINSPECT": "1",
        "PYTHONPLATLIBDIR": "nowhere",
        "VIRTUAL_ENV": str(folder),
        "GIT_DIR": str(folder),
        "GIT_QUARANTINE_PATH": str(folder),
        "CDPATH": str(folder),
        "BASH_ENV": str(folder / "json.py"),
        "BASH_FUNC_cd%%": "() { echo unexpected; exit 1; }",
        "SHELLOPTS": "xtrace",
    }


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_the_environment_changes_nothing(
    command: str, poison: dict[str, str], tmp_path: Path
) -> None:
    words = (ROOT / "scripts" / command, "--help")
    usual = run(*words)
    poisoned = run(*words, cwd=tmp_path / "traps", env=poison)
    assert (poisoned.returncode, poisoned.stdout) == (0, usual.stdout), poisoned.stderr
    assert poisoned.stderr == usual.stderr
    assert not (tmp_path / "marker").exists()


def entered(body: str, **options: object) -> subprocess.CompletedProcess[str]:
    """Run lines of bash as a command does."""
    entry = ROOT / "scripts/basis/entry.bash"
    return run("bash", "-p", "-c", f"source {entry} some-command\n{body}", **options)


def test_what_a_command_starts_gets_a_clean_environment(
    poison: dict[str, str],
) -> None:
    kept = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPYCACHEPREFIX": "/x"}
    done = entered("env", env={**poison, **kept})
    variables = dict(x.partition("=")[::2] for x in done.stdout.splitlines())
    of_python = {k: v for k, v in variables.items() if k.startswith("PYTHON")}
    assert of_python == {**kept, "PYTHONNOUSERSITE": "1"}
    assert not variables.keys() & {"VIRTUAL_ENV", "CDPATH", "BASH_ENV"}
    assert not variables.keys() & {"GIT_DIR", "GIT_QUARANTINE_PATH"}


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("false", 2),
        ("echo $unbound", 2),
        ("mkdir /proc/x", 2),
        ("exec 9>/nonexistent/x", 2),
        ("some-missing-program", 2),
        ("inner() { false; }; inner", 2),
        ("x=$(false)", 2),
        ("need some-package some-missing-program", 2),
        ("exit 3", 3),
        ("conclude 1", 1),
        ("conclude 0", 0),
    ],
)
def test_a_line_that_fails_is_no_verdict(body: str, code: int) -> None:
    done = entered(body)
    assert done.returncode == code
    assert bool(done.stderr) == (code == 2)


def test_a_missing_program_is_named_with_its_package() -> None:
    done = entered("need util-linux true some-missing-program")
    problem = "some-missing-program is not installed; install the package util-linux\n"
    assert (done.returncode, done.stderr) == (2, f"some-command: {problem}")


def test_what_is_to_be_cleaned_up_is_removed_however_it_ends(tmp_path: Path) -> None:
    for body in ("exit 0", "false", "kill -TERM $$"):
        (tmp_path / "x").mkdir()
        done = entered(f"cleanup+=({tmp_path}/x)\n{body}")
        assert done.returncode != 1
        assert not (tmp_path / "x").exists()


def test_a_broken_interpreter_is_named(tmp_path: Path) -> None:
    script = copy_commands(tmp_path, "kvmatrix") / "kvmatrix"
    python = tmp_path / "build/venv/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text("#!/bin/sh\nexit 1\n")
    python.chmod(0o755)
    done = run(script, "check")
    assert done.returncode == 2
    assert f"{python} does not start" in done.stderr and "scripts/setup" in done.stderr


@pytest.mark.parametrize("python", ["#!/bin/sh\nexit 0\n", None])
def test_an_environment_that_is_being_made_is_waited_for(
    tmp_path: Path, python: str | None
) -> None:
    """Python is there long before what it needs."""
    script = copy_commands(tmp_path, "kvmatrix") / "kvmatrix"
    venv, lock = tmp_path / "build/venv", tmp_path / "build/lock"
    (venv / "bin").mkdir(parents=True)
    (venv / "kvmatrix").mkdir()
    if python:
        (venv / "bin/python").write_text(python)
        (venv / "bin/python").chmod(0o755)
    with locked(lock, lambda: None):
        during = run(script, "list")
        (venv / "kvmatrix/stamp").touch()
        complete = run(script, "list")
        (venv / "kvmatrix/stamp").unlink()
    left = run(script, "list")
    assert during.returncode == 2
    assert "scripts/setup" not in during.stderr, "it is running"
    expected = 0 if python else 2
    assert (complete.returncode, left.returncode) == (expected, expected)
    assert complete.stderr == left.stderr != during.stderr


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (ValueError("odd"), 2, "ValueError: odd"),
        (MemoryError(), 2, "out of memory"),
        (
            ModuleNotFoundError("No module named 'click'", name="click"),
            2,
            "setup again",
        ),
        (RecursionError(), 2, "fault of kvmatrix"),
        (SystemExit("a sentence"), 2, "a sentence"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (SystemExit(1), 1, ""),
        (SystemExit(), 0, ""),
    ],
)
def test_an_unexpected_error_is_no_verdict(
    error: BaseException,
    code: int,
    words: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(*_words: object, **_options: object) -> None:
        raise error

    monkeypatch.setattr(runpy, "run_module", fail)
    monkeypatch.setattr(os, "_exit", sys.exit)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(sys, "argv", [*sys.argv])
    with pytest.raises(SystemExit) as ended:
        start.main(["kvmatrix", "module"])
    assert (ended.value.code or 0) == code
    shown = capsys.readouterr().err
    assert words in shown and bool(words) == bool(shown)


def test_a_current_folder_that_is_gone_is_named(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    command = f"cd {gone} && rmdir {gone} && exec {ROOT}/scripts/kvmatrix list suites"
    done = run("bash", "-c", command)
    assert done.returncode == 2
    assert "kvmatrix: cannot use the current directory" in done.stderr


def test_a_path_below_the_root_keeps_its_slash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir("/")
    assert (short_path(tmp_path), shown(tmp_path)) == (str(tmp_path), str(tmp_path))
    monkeypatch.chdir(tmp_path.parent)
    assert (short_path(tmp_path), shown(tmp_path)) == (tmp_path.name, tmp_path.name)


def test_every_error_of_the_system_has_a_reason() -> None:
    """An OSError that Python raises itself has no strerror, which would be None."""
    errors = (OSError(2, "x"), OSError("y"), shutil.Error("z"), FileNotFoundError())
    reasons = [reason_of(error) for error in errors]
    assert reasons == ["x", "y", "z", "FileNotFoundError"]
    assert problem_of(OSError("y")) == "y"
    full = OSError(errno.EMFILE, os.strerror(errno.EMFILE))
    assert reason_of(full).endswith("is reached (ulimit -n)")
    assert "ulimit" not in reason_of(OSError(errno.EFBIG, "larger than 1 MiB"))
    assert problem_of(OSError(2, "x", "path")) == "path: x"
    files = [p for top in ("scripts", "report") for p in (ROOT / top).rglob("*.py")]
    assert [p.name for p in files if "error.strerror" in p.read_text()] == [
        "encoding.py"
    ]


@pytest.mark.parametrize(
    ("absent", "packages"),
    [
        ({"setpriv"}, "setpriv is not installed: install util-linux"),
        (
            {"cp", "sync", "setpriv"},
            "setpriv, cp, sync are not installed: install util-linux coreutils",
        ),
    ],
)
@pytest.mark.parametrize("verb", ["run", "durability", "doctor"])
def test_a_program_of_the_system_that_is_missing_is_named(
    verb: str,
    absent: set[str],
    packages: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lab = make_lab(tmp_path)
    lab.scenario()
    lab.suite()
    lab.engine("one", "honest")
    which = shutil.which
    monkeypatch.setattr(
        shutil, "which", lambda name, **o: None if name in absent else which(name, **o)
    )
    done = lab.call(verb, "lab")
    assert (done.returncode, done.stderr) == (2, f"kvmatrix: {packages}\n")
    assert not lab.results.exists() or not [*lab.results.glob("2*")]


def test_a_program_that_is_missing_is_no_fault_of_an_engine(tmp_path: Path) -> None:
    executor = Spawner({"PATH": ""})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shutil, "which", lambda *_, **_o: None)
        with pytest.raises(MissingProgram, match="install util-linux"):
            describe(executor, Program(Path("/bin/true")), "one", tmp_path, "")


@pytest.mark.slow
@pytest.mark.parametrize(
    "limit",
    [*(f"-v {kib}000" for kib in (10, 20, 40, 80, 100, 190)), "-d 20000", "-d 50000"],
)
def test_too_little_memory_is_no_verdict(limit: str) -> None:
    """Wherever it is too little: also where numpy and scipy are imported."""
    command = f"ulimit {limit}; exec scripts/kvmatrix check @last --against @last"
    done = run("bash", "-c", command, cwd=ROOT)
    assert done.returncode == 2, done.stderr
    last = done.stderr.splitlines()[-1]
    assert f"(ulimit {limit[:2]})" in last or "does not start" in last


@pytest.mark.parametrize("command", ["setup", "test", "check"])
def test_help_that_cannot_be_written_is_a_failure_of_ours(command: str) -> None:
    with open("/dev/full", "w") as full:
        words = [f"{ROOT}/scripts/{command}", "--help"]
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 2 and done.stderr.count(b"\n") == 1
