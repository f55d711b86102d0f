"""Each check of the doctor, on a sound machine and on worse ones."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from report.model.description import Description
from report.terms.machine_facts import cpu_numbers
from scripts.doctor.examine import examine
from scripts.doctor.finding import Severity
from scripts.doctor.subject import Subject
from tests.builders.patients import (
    CLOCK,
    CPU,
    GIB,
    MEMORY,
    QUEUE,
    STEADY,
    THP,
    finding,
    subject,
)
from tests.builders.simple_plans import engine

OVERLAY = (
    "1 0 0:9 / / rw - overlay overlay rw,lowerdir=/l,upperdir=/up/x,workdir=/w\n"
    "2 1 {} / /up rw - {} {} rw\n"
)
EXT4 = "2 1 254:0 / / rw - ext4 /dev/vda rw{}\n"


def mounted(kind: str) -> dict[str, str]:
    return {"/proc/self/mountinfo": f"2 1 254:0 / / rw - {kind} thing rw\n"}


def on_overlay(below: str) -> dict[str, str]:
    return {"/proc/self/mountinfo": OVERLAY.format("0:8", below, "/dev/sda1")}


def test_a_good_machine_is_all_ok() -> None:
    findings = examine(subject(), STEADY)
    assert [f.name for f in findings if f.level is not Severity.OK] == []
    assert all(f.found and not f.remedy for f in findings)


GOVERNOR = f"{CPU}/cpu2/cpufreq/scaling_governor"
TWO_BUSY = {"/proc/self/status": "Cpus_allowed_list: 0-1", "/proc/loadavg": "0.3 0 0"}

WORSE: list[tuple[str, str, Mapping[str, Any], str]] = [
    ("cpu governor", "warn", {GOVERNOR: "ondemand"}, "ondemand"),
    ("turbo", "warn", {f"{CPU}/intel_pstate/no_turbo": "0"}, "on"),
    ("processors", "warn", {"/proc/self/status": "Cpus_allowed_list: 2"}, "1 of 4"),
    ("load", "warn", {"/proc/loadavg": "0.5 0 0 1/1 1"}, "0.50"),
    ("load", "warn", TWO_BUSY, "on 2"),
    ("steal", "warn", {"/proc/stat": "cpu  10 0 10 900 5 0 0 75 0 0\n"}, "7.5 %"),
    ("clock", "warn", {CLOCK: "hpet"}, "system call"),
    ("memory", "warn", {"/proc/meminfo": MEMORY.format(GIB // 2 + 1, 0, 0)}, "less"),
    ("memory", "fail", {"/proc/meminfo": MEMORY.format(GIB // 4, 0, 0)}, "256 MiB"),
    ("swap", "warn", {"/proc/meminfo": MEMORY.format(GIB, 2 * GIB, GIB)}, "in use"),
    ("huge pages", "warn", {THP: "[always] madvise never"}, "always"),
    ("data dir", "fail", mounted("tmpfs"), "in memory"),
    ("data dir", "warn", mounted("nfs4"), "server"),
    ("data dir", "warn", mounted("fuse.sshfs"), "server"),
    ("data dir", "warn", mounted("newfs"), "unknown file system"),
    ("data dir", "fail", on_overlay("tmpfs"), "in memory"),
    ("data dir", "warn", on_overlay("xfs"), "overlay on xfs"),
    ("data dir", "warn", mounted("overlay"), "cannot be seen"),
    ("barriers", "warn", mounted("tmpfs"), "unknown"),
    ("barriers", "fail", {"/proc/self/mountinfo": EXT4.format(",nobarrier")}, "nobar"),
    ("barriers", "fail", {"/proc/self/mountinfo": EXT4.format(",barrier=0")}, "=0"),
    ("disk cache", "warn", {f"{QUEUE}/write_cache": "write through"}, "no flush"),
    ("read-ahead", "warn", {f"{QUEUE}/read_ahead_kb": "8192"}, "8 MiB"),
    ("preload", "fail", {"/etc/ld.so.preload": "/lib/libeatmydata.so"}, "eatmydata"),
    ("preload", "fail", {"/proc/self/maps": "7f r-x /x/libeatmydata.so.1"}, "fake"),
    ("preload", "warn", {"/etc/ld.so.preload": "/lib/libsnoopy.so"}, "preloaded"),
    ("processors", "warn", {"/sys/fs/cgroup/cpu.max": "200000 100000"}, "time of 2"),
    (
        *("limits", "warn"),
        {"/proc/self/limits": "Max open files            256         1024  files\n"},
        "the limit of open files is 256 (ulimit -n)",
    ),
    (
        *("limits", "warn"),
        {"/proc/self/limits": "Max address space  1073741824  unlimited  bytes\n"},
        "the limit of address space is 1 GiB (ulimit -v)",
    ),
    (
        *("limits", "warn"),
        {"/proc/self/limits": "Max file size  1073741824  unlimited  bytes\n"},
        "the limit of file size is 1 GiB (ulimit -f)",
    ),
    ("limits", "warn", {"/proc/self/limits": None}, "unknown"),
    ("memory", "fail", {"/sys/fs/cgroup/memory.max": f"{1 << 28}"}, "256 MiB"),
    ("lost time", "warn", {"/proc/self/schedstat": None}, "how long threads wait"),
    ("lost time", "warn", {"/proc/stat": None}, "hidden"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "level", "changes", "phrase"), WORSE)
def test_worse_machines(
    name: str, level: str, changes: Mapping[str, str | None], phrase: str
) -> None:
    result = finding(name, subject(changes))
    assert (str(result.level), phrase in result.found) == (level, True), result
    assert result.remedy


UNKNOWN: list[tuple[str, list[str]]] = [
    ("cpu governor", [f"{CPU}/cpu3/cpufreq/scaling_governor"]),
    ("turbo", [f"{CPU}/intel_pstate/no_turbo"]),
    ("processors", ["/proc/self/status"]),
    ("load", ["/proc/loadavg"]),
    ("steal", ["/proc/stat"]),
    ("clock", [CLOCK]),
    ("memory", ["/proc/meminfo"]),
    ("swap", ["/proc/meminfo"]),
    ("huge pages", [THP]),
    ("data dir", ["/proc/self/mountinfo"]),
    ("barriers", ["/proc/self/mountinfo"]),
    ("disk", [f"{QUEUE}/scheduler"]),
    ("disk cache", [f"{QUEUE}/write_cache"]),
    ("read-ahead", [f"{QUEUE}/read_ahead_kb"]),
    ("preload", ["/proc/self/maps"]),
]


@pytest.mark.parametrize(("name", "gone"), UNKNOWN)
def test_an_unknown_value_is_a_warning(name: str, gone: list[str]) -> None:
    result = finding(name, subject(dict.fromkeys(gone)))
    assert (result.level, result.found[:9]) == (Severity.WARN, "unknown: ")
    assert result.remedy


def test_a_guest_has_its_own_remedy_for_the_governor() -> None:
    guest = subject({f"{CPU}/cpu0/cpufreq/scaling_governor": None}, hypervisor="kvm")
    assert "guest" in finding("cpu governor", guest).remedy
    assert "virtual (kvm)" in finding("machine", guest).found
    assert finding("machine", guest).level is Severity.WARN
    assert finding("machine", subject(hypervisor="")).found.startswith("unknown")


def test_the_limit_of_a_control_group_of_version_1() -> None:
    limited = {
        "/proc/self/cgroup": "3:cpu,cpuacct:/box\n2:memory:/box\n",
        "/sys/fs/cgroup/cpu/box/cpu.cfs_quota_us": "150000\n",
    }
    assert "time of 1.5" in finding("processors", subject(limited)).found
    limited["/sys/fs/cgroup/cpu/box/cpu.cfs_quota_us"] = "-1\n"
    assert finding("processors", subject(limited)).level is Severity.OK


def test_a_governor_that_no_allowed_processor_uses_does_not_matter() -> None:
    held = subject(
        {
            "/proc/self/status": "Cpus_allowed_list: 0-1",
            f"{CPU}/cpu3/cpufreq/scaling_governor": "powersave",
        }
    )
    assert finding("cpu governor", held).found == "performance on all 2 processors"


def test_required_space_is_that_of_the_largest_cell() -> None:
    full = subject(free_bytes=(1 << 30) - 1)
    assert finding("disk space", full).level is Severity.FAIL
    assert finding("disk space", subject(free_bytes=1 << 30)).level is Severity.OK
    blind = finding("disk space", subject(needed_bytes=None))
    assert blind.found.startswith("unknown")


def test_only_a_preload_of_the_runner_is_reported() -> None:
    fooled = subject(variables={"LD_PRELOAD": "/usr/lib/libeatmydata.so"})
    assert finding("preload", fooled).level is Severity.FAIL
    inherited = subject(variables={"LD_PRELOAD": "/usr/lib/libjemalloc.so"})
    assert finding("preload", inherited).level is Severity.WARN


def asserting() -> Subject:
    sound = engine("plain")
    assert sound.description is not None
    document = {**sound.description.document, "build": {"assertions": "live"}}
    return subject(engines=(replace(sound, description=Description.of(document)),))


def test_engines() -> None:
    assert finding("engines", subject()).found == "plain 1, tree 1"
    missing = subject(engines=(engine("plain"), engine("tree", missing="not built")))
    assert finding("engines", missing).found == "plain 1; missing: tree (not built)"
    assert finding("engines", missing).level is Severity.WARN
    none = finding("engines", subject(engines=(engine("tree", missing="not built"),)))
    assert (none.level, "not built" in none.found) == (Severity.FAIL, True)
    floor = engine("null", role="floor")
    assert finding("engines", subject(engines=(floor,))).level is Severity.OK
    unbuilt = subject(engines=(floor, engine("tree", missing="not built")))
    assert finding("engines", unbuilt).level is Severity.FAIL
    live = finding("engines", asserting())
    assert (live.level, "live assertions" in live.found) == (Severity.FAIL, True)


def test_engines_that_are_missing_or_slow_are_set_up() -> None:
    unbuilt = subject(engines=(engine("tree"), engine("plain", missing="not built")))
    remedy = finding("engines", unbuilt).remedy
    assert remedy == "build with scripts/setup --with plain"
    sound = subject(engines=(engine("tree"),), on_request=("one", "two"))
    on_request = finding("engines", sound)
    assert on_request.level is Severity.OK
    assert "2 on request are not built" in on_request.found
    assert "scripts/setup --with one" in on_request.found
    told = "rebuild without assertions: scripts/setup"
    assert finding("engines", asserting()).remedy == told


def test_a_remedy_names_an_existing_file() -> None:
    clocks = CLOCK.removesuffix("current_clocksource")
    slow = {CLOCK: "hpet", f"{clocks}available_clocksource": "hpet acpi_pm"}
    assert "use another machine" in finding("clock", subject(slow)).remedy
    slow[f"{clocks}available_clocksource"] = "kvm-clock hpet"
    remedy = f"echo kvm-clock | sudo tee {CLOCK}"
    assert finding("clock", subject(slow)).remedy == remedy
    intel = f"{CPU}/intel_pstate/no_turbo"
    assert finding("turbo", subject({intel: "0"})).remedy.endswith(intel)
    boost = f"{CPU}/cpufreq/boost"
    without_intel = subject({intel: None, boost: "1"})
    assert finding("turbo", without_intel).remedy == f"echo 0 | sudo tee {boost}"
    for name, gone in (("huge pages", THP), ("clock", CLOCK), ("turbo", intel)):
        assert "tee" not in finding(name, subject({gone: None})).remedy


def test_a_gap_of_the_set_up_fails() -> None:
    result = finding("set-up", subject(gaps=("setpriv",)))
    assert (result.level, result.found) == (Severity.FAIL, "missing: setpriv")


def test_an_absent_counting_tool_is_named_and_harms_no_time() -> None:
    result = finding("counting tools", subject())
    assert (result.level, result.found) == (Severity.OK, "strace and valgrind")
    result = finding("counting tools", subject(uncounted=("valgrind",)))
    message = "not installed, so ab counts less: apt-get install valgrind"
    assert (result.level, result.found) == (Severity.OK, message)


def test_the_remedy_names_the_disk_around_a_partition() -> None:
    moved = {
        f"/sys/dev/block/8:1/../queue/{name}": text
        for name, text in {"rotational": "0", "read_ahead_kb": "256"}.items()
    }
    result = finding("read-ahead", subject(moved, device="8:1"))
    assert result.remedy.endswith("tee /sys/dev/block/8:1/../queue/read_ahead_kb")


def test_lists_of_processors() -> None:
    assert cpu_numbers("0-2,5") == {0, 1, 2, 5}
    assert cpu_numbers("7") == {7}
    assert cpu_numbers("unknown") == set()
