"""scripts/compare-library: two builds of a library that has a driver here."""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from report.config.pinned_source import PinnedSource
from scripts.basis.cache import cache_dir
from scripts.basis.setup_screen import Screen
from scripts.library import side_command
from scripts.library.driver_choice import drivers_of
from scripts.provision.installing import workshop
from tests.places import PATIENCE_S, ROOT

RARELY = pytest.mark.night(
    *("scripts/library", "scripts/compare-library", "scripts/compare-commits"),
    *("scripts/provision/recipe.py", "scripts/provision/prefixes.py", "CMakeLists.txt"),
    *("common/CMakeLists.txt", "drivers/add_driver.cmake", "drivers/linked.cc"),
)
COMMAND = ROOT / "scripts/compare-library"
# Small, and judged by its counts, which a busy machine does not change.
FAST = (
    *("-k", "*/baseline/readrandom", "--num", "2000", "--max-time", "50ms"),
    *("--screen-rounds", "1", "--confirm-rounds", "4"),
)
# Get() of the memtable a hundred times: what db_impl.o calls instead of it.
GET = (
    "_ZN7leveldb8MemTable3GetERKNS_9LookupKeyEPNSt7__cxx1112basic_stringIcSt11"
    "char_traitsIcESaIcEEEPNS_6StatusE"
)
HEAVIER = f"""
int original(void *, void *, void *, void *) __asm__("original_get");
int heavier(void *, void *, void *, void *) __asm__("{GET}");
static volatile unsigned work;
int heavier(void *table, void *key, void *value, void *status) {{
  for (unsigned i = 0; i < 1000; i++) work = work + i;
  return original(table, key, value, status);
}}
"""


def run(
    *words: str | Path, cwd: Path = ROOT, command: Path = COMMAND
) -> subprocess.CompletedProcess[str]:
    clean = {k: v for k, v in os.environ.items() if not k.startswith("KVMATRIX_RES")}
    return subprocess.run(
        [command, *map(str, words)],
        cwd=cwd,
        env=clean,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "expected LIBRARY"),
        (["leveldb"], "expected LIBRARY, BASE and NEW"),
        (["leveldb", "HEAD"], "expected LIBRARY, BASE and NEW"),
        (["leveldb", "--a", "x"], "belong together"),
        (["leveldb", "--a", "x", "--b", "y", "HEAD"], "either commits or --a and --b"),
        (["leveldb", "--a", "x", "--b", "y", "--build", "make"], "need commits"),
        (["leveldb", "--build", "make", "--option", "-DX", "a", "b"], "no effect"),
        (["leveldb", "--repository", "/", "a", "b"], "not in a git repository"),
        (["leveldb", "--a"], "needs a value"),
        (["leveldb", "--b=", "--a", "x"], "is empty"),
        (["leveldb", "--repeat", "a", "b"], "unknown option --repeat"),
        (["leveldb2", "--a", "x", "--b", "y"], "expected leveldb, kyotocabinet"),
    ],
)
def test_invalid_arguments_exit_2_before_the_build(
    words: list[str], message: str
) -> None:
    result = run(*words)
    assert result.returncode == 2, result.stderr
    assert message in result.stderr


@dataclass(frozen=True)
class Checkout:
    """A checkout of this project that shares what is already built."""

    root: Path

    def compare(self, *words: str | Path) -> subprocess.CompletedProcess[str]:
        command = self.root / "scripts/compare-library"
        return run(*words, cwd=self.root, command=command)

    def built(self, path: str) -> list[Path]:
        return sorted(self.root.glob(f"build/commits/*.build/{path}"))


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    root = tmp_path / "kvmatrix"
    shutil.copytree(ROOT / "scripts", root / "scripts")
    for path in ROOT.iterdir():
        if path.name not in {"scripts", ".git", "build", "results"}:
            (root / path.name).symlink_to(path)
    (root / "build").mkdir()
    (root / "build/venv").symlink_to(ROOT / "build/venv")
    return Checkout(root)


def pinned(library: str) -> PinnedSource:
    own = drivers_of(library, ROOT).own
    assert own
    return own


def prefix_of(library: str) -> Path:
    """Return where the set-up has installed a library."""
    shop = workshop(ROOT, drivers_of(library, ROOT).sources, Screen(quiet=True))
    path = shop.planned[library].path
    if not path.is_dir():
        pytest.skip(f"{library} is not set up")
    return path


def heavier(prefix: Path) -> None:
    """Let each Get of a LevelDB do more."""
    (prefix / "heavier.c").write_text(HEAVIER)
    archive = "lib/libleveldb.a"
    for words in (
        ["chmod", "u+w", "lib", archive],
        ["ar", "x", archive, "memtable.cc.o"],
        ["objcopy", "--redefine-sym", f"{GET}=original_get", "memtable.cc.o"],
        ["cc", "-O2", "-c", "heavier.c", "-o", "heavier.o"],
        ["ar", "r", archive, "memtable.cc.o", "heavier.o"],
    ):
        subprocess.run(words, cwd=prefix, check=True, capture_output=True)


@RARELY
@pytest.mark.skipif(shutil.which("valgrind") is None, reason="needs valgrind")
def test_a_slower_leveldb_is_found_and_equal_ones_are_not_measured(
    checkout: Checkout, tmp_path: Path
) -> None:
    old, same, new = (tmp_path / name for name in ("old", 'it\'s "equal"', "new one"))
    for folder in (old, same, new):
        shutil.copytree(prefix_of("leveldb"), folder)
    heavier(new)
    equal = checkout.compare("leveldb", "--a", old, "--b", same)
    assert (equal.returncode, equal.stdout) == (0, ""), equal.stderr
    assert "nothing is measured" in equal.stderr
    programs = checkout.built("drivers/db_bench_leveldb")
    assert len({program.read_bytes() for program in programs}) == 1
    versions = [subprocess.check_output([p, "--version"], text=True) for p in programs]
    for folder in (old, same):
        origin = f"built elsewhere: {folder}/lib/libleveldb.a, snappy "
        assert any(origin in version for version in versions)

    words = ("leveldb", "--a", old, "--b", new, "--", *FAST)
    slower = checkout.compare(*words)
    assert slower.returncode == 1, slower.stdout + slower.stderr
    assert re.search("regressed +leveldb/baseline/readrandom instr", slower.stdout)
    report = re.search(r"^report +(.*)$", slower.stderr, re.MULTILINE)
    assert report and (checkout.root / report[1]).is_file()
    assert len(checkout.built("drivers/db_bench_leveldb")) == 3


def repository(folder: Path, source: PinnedSource) -> Path:
    """Return a repository of a source: a broken commit, a sound one and another."""
    downloads = cache_dir(os.environ) / "downloads"
    if not (downloads / source.dsc).is_file():
        pytest.skip(f"the source of {source.package} is not downloaded")
    tree = folder / "tree"
    unpack = ["dpkg-source", "--no-check", "-x", str(downloads / source.dsc), str(tree)]
    subprocess.run(unpack, check=True, capture_output=True)
    file = tree / "libraries/liblmdb/mdb.c"
    git = ("git", "-c", "user.name=t", "-c", "user.email=t@example.invalid")
    subprocess.run([*git, "init", "-q"], cwd=tree, check=True)
    sound = file.read_text()
    for text in ("#error broken\n" + sound, sound, sound + "/* the same */\n"):
        file.write_text(text)
        subprocess.run([*git, "add", "-Af"], cwd=tree, check=True)
        subprocess.run([*git, "commit", "-qm", "x"], cwd=tree, check=True)
    return tree


@RARELY
def test_the_commits_of_a_library_are_built_like_its_pinned_release(
    checkout: Checkout, tmp_path: Path
) -> None:
    tree = repository(tmp_path, pinned("lmdb"))
    words = ("lmdb", "--repository", tree, "--format", "github")
    broken = checkout.compare(*words, "HEAD~2", "HEAD~1")
    assert broken.returncode == 8, broken.stderr
    assert "it is BASE" in broken.stderr and "it is NEW" not in broken.stderr
    assert "#error broken" in broken.stderr
    assert "::error title=kvmatrix::commit" in broken.stdout
    log = re.search(r"The complete log is (.*)", broken.stderr)
    assert log and "#error broken" in Path(log[1]).read_text()
    [kept] = checkout.built("drivers/db_bench_lmdb")
    assert (
        b"built elsewhere: "
        in subprocess.run([kept, "--version"], capture_output=True).stdout
    )

    before = kept.stat()
    equal = checkout.compare(*words, "HEAD~1", "HEAD", "--build-only")
    assert equal.returncode == 0, equal.stderr
    assert kept.stat().st_mtime_ns == before.st_mtime_ns, "built twice"
    [first, second] = checkout.built("drivers/db_bench_lmdb")
    assert first.read_bytes() == second.read_bytes()
    pinned_archive = (prefix_of("lmdb") / "lib/liblmdb.a").read_bytes()
    assert (kept.parents[1] / "prefix/lib/liblmdb.a").read_bytes() == pinned_archive
    status = ["git", "status", "--porcelain"]
    assert not subprocess.check_output(status, cwd=kept.parents[1].with_suffix(""))


@RARELY
def test_a_command_builds_a_library_in_a_copy_of_the_tree(
    checkout: Checkout, tmp_path: Path
) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    git = ("git", "-c", "user.name=t", "-c", "user.email=t@example.invalid")
    for words in (["init", "-q"], ["commit", "-qm", "x", "--allow-empty"]):
        subprocess.run([*git, *words], cwd=tree, check=True)
    build = f"touch left-over; cp -rL '{prefix_of('lmdb')}'/. \"$2\""
    options = ("--repository", tree, "--build", build, "--build-only")
    for _ in range(2):  # what the command leaves in its tree is no change of the commit
        result = checkout.compare("lmdb", *options, "HEAD", "HEAD")
        assert result.returncode == 0, result.stderr
    [program] = checkout.built("drivers/db_bench_lmdb")
    assert b"engine:      lmdb" in subprocess.check_output([program, "--version"])


@RARELY
def test_both_sides_can_be_plug_ins_of_one_process(tmp_path: Path) -> None:
    words = ["lmdb", "--plugins", "--place", str(prefix_of("lmdb"))]
    assert side_command.main([*words, "--into", str(tmp_path)]) == 0
    plugin = tmp_path / "plugins/drivers/lmdb.so"
    program = str(plugin.with_name("db_bench_plugin"))
    command = [program, f"--driver={plugin}", "--version"]
    assert b"engine:      lmdb" in subprocess.check_output(command)
