"""The environment document and the identity of synthetic machines."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from report.model.build_facts import machine_words
from report.terms.documents import validate
from report.terms.machine_facts import ALLOTTED, machine_key, usable_cpus
from scripts.machine.host import Machine, environment_document, identity
from scripts.machine.mounts import mount_of
from scripts.planning.resume_check import machine_differences
from tests.builders.machines import TextMachine

CPUINFO = """processor\t: 0
model name\t: Made Up 3000
cpu MHz\t\t: 2400.500
flags\t\t: fpu sse2 hypervisor

processor\t: 1
model name\t: Made Up 3000
"""
MOUNTS = """22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,discard
30 22 8:1 / /mnt/my\\040disk rw,noatime - xfs /dev/sda1 rw,attr2
31 22 0:50 / /home rw - nfs4 server.example:/export/home rw,addr=10.0.0.1
32 22 0:51 / /box rw - overlay overlay rw,lowerdir=/var/lib/x,index=off
33 22 0:52 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw
"""
CACHE = "/sys/devices/system/cpu/cpu0/cache/index"
QUEUE = "/sys/dev/block/254:0/queue"
FILES = {
    "/proc/cpuinfo": CPUINFO,
    "/proc/meminfo": "MemTotal: 16384000 kB\nMemAvailable: 9000 kB\nSwapTotal: 0 kB\n",
    "/proc/self/mountinfo": MOUNTS,
    "/proc/self/status": "Name: x\nCpus_allowed:\t3\nCpus_allowed_list:\t0-1\n",
    "/proc/loadavg": "0.50 0.25 0.10 1/100 4242\n",
    "/proc/stat": "cpu  10 0 10 70 5 0 0 5 0 0\ncpu0 1 1\n",
    "/proc/sys/kernel/osrelease": "6.1.0-fake\n",
    "/proc/sys/vm/dirty_ratio": "20\n",
    "/proc/sys/vm/dirty_bytes": "0\n",
    "/proc/sys/vm/dirty_expire_centisecs": "3000\n",
    "/etc/os-release": 'NAME="X"\nPRETTY_NAME="Made Up Linux 12"\n',
    "/sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never\n",
    "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "performance\n",
    "/sys/devices/system/cpu/intel_pstate/no_turbo": "1\n",
    f"{CACHE}0/level": "1\n",
    f"{CACHE}0/type": "Data\n",
    f"{CACHE}0/size": "48K\n",
    f"{CACHE}0/shared_cpu_list": "0\n",
    f"{CACHE}1/level": "3\n",
    f"{CACHE}1/type": "Unified\n",
    f"{CACHE}1/size": "32M\n",
    f"{CACHE}1/shared_cpu_list": "0-3,8\n",
    "/sys/devices/system/cpu/vulnerabilities/meltdown": "Mitigation: PTI\n",
    "/sys/devices/system/cpu/vulnerabilities/l1tf": "Not affected\n",
    f"{QUEUE}/rotational": "0\n",
    f"{QUEUE}/write_cache": "write back\n",
    f"{QUEUE}/read_ahead_kb": "128\n",
    f"{QUEUE}/scheduler": "none [mq-deadline]\n",
    "/sys/dev/block/254:0/size": "1000\n",
}


def machine(files: Mapping[str, str] = FILES, **commands: str) -> Machine:
    words = {name.replace("_", " "): text for name, text in commands.items()}
    return Machine(TextMachine(files, words), Path("/data"))


def test_the_environment_says_what_the_machine_says() -> None:
    document = environment_document(machine(), ["GNU 12", "GNU 12"], {"LC_ALL": "C"})
    validate(document, "environment", "environment.json")
    assert document["cpu"]["model"] == "Made Up 3000"
    assert (document["cpu"]["logical_cpus"], document["cpu"]["mhz"]) == (2, 2400.5)
    assert document["cpu"]["allowed_cpus"] == "0-1"
    assert document["cpu"]["governor"] == "performance"
    assert document["cpu"]["turbo"] == "off"
    assert (
        document["cpu"]["caches"] == "L1 Data 48K (cpu 0); L3 Unified 32M (cpu 0-3,8)"
    )
    assert document["memory"]["total_bytes"] == 16384000 * 1024
    assert document["memory"]["swap_total_bytes"] == 0
    memory = document["memory"]
    assert (memory["dirty_ratio"], memory["dirty_bytes"]) == (20, 0)
    assert memory["dirty_expire_centisecs"] == 3000
    assert memory["dirty_background_bytes"] == "unknown"
    assert document["kernel"]["distribution"] == "Made Up Linux 12"
    assert document["kernel"]["mitigations"] == "meltdown: Mitigation: PTI"
    assert document["kernel"]["cgroup_version"] == 2
    assert document["file_system"]["mount_options"] == "rw,relatime,discard"
    device = document["block_device"]
    assert device["rotational"] is False
    assert device["read_ahead_bytes"] == 128 * 1024
    assert device["size_bytes"] == 512_000
    assert device["write_cache"] == "write back"
    assert document["load"]["minutes_1"] == 0.5
    assert document["load"]["steal_share"] == 0.05
    assert document["hypervisor"] == "present, unidentified"
    assert document["compiler"] == ["GNU 12"]


def test_unreadable_values_are_recorded_as_unknown() -> None:
    full = environment_document(machine(), ["x"], {})
    empty = environment_document(machine({}), [], {})
    validate(empty, "environment", "environment.json")
    assert empty.keys() == full.keys()
    for group, entries in empty.items():
        if isinstance(entries, dict) and group != "child_environment":
            assert entries.keys() == full[group].keys()
            readable = {k for k, v in entries.items() if v != "unknown"}
            assert readable <= {"free_bytes"}, group
    assert empty["hypervisor"] == "unknown"


def test_a_partition_has_the_queue_of_its_disk() -> None:
    moved = {k.replace("254:0/", "254:0/../"): v for k, v in FILES.items()}
    document = environment_document(machine(moved), [], {})
    assert document["block_device"]["scheduler"] == "none [mq-deadline]"


def test_a_named_hypervisor_is_named() -> None:
    named = Machine(
        TextMachine(FILES, {"systemd-detect-virt --vm": "kvm\n"}), Path("/d")
    )
    assert identity(named)["hypervisor"] == "kvm"


def test_the_identity_is_what_measurements_depend_on() -> None:
    facts = identity(machine())
    assert facts == {
        "cpu_model": "Made Up 3000",
        "logical_cpus": 2,
        "memory_gib": 16,
        "kernel": "6.1.0-fake",
        "hypervisor": "present, unidentified",
        "file_system": "ext4",
        "mount_options": "rw,relatime,discard",
        "device": "/dev/vda",
        "allowed_cpus": "0-1",
        "cpu_quota": "none",
        "memory_limit_bytes": "none",
        "address_space_bytes": "none",
    }
    words = machine_words(facts, with_device=True)
    assert "Made Up 3000 · 2 CPUs · 16 GiB · ext4 on /dev/vda" in words


V1 = "31 22 0:5{0} / /sys/fs/cgroup/{0} rw - cgroup cgroup rw,{0}\n"
GROUPS = "/sys/fs/cgroup"
LIMITS: dict[str, tuple[dict[str, str], str, object, str]] = {
    "affinity": (
        {"/proc/self/status": "Cpus_allowed_list:\t1\n"},
        *("allowed_cpus", "1", "2 CPUs, 1 used"),
    ),
    "quota of an outer group": (
        {
            "/proc/self/cgroup": "0::/a/b\n",
            f"{GROUPS}/cpu.max": "150000 100000\n",
            f"{GROUPS}/a/cpu.max": "100000 200000\n",
            f"{GROUPS}/a/b/cpu.max": "max 100000\n",
        },
        *("cpu_quota", 0.5, "2 CPUs, quota of 0.5"),
    ),
    "quota of version 1": (
        {
            "/proc/self/mountinfo": MOUNTS + V1.format("cpu"),
            "/proc/self/cgroup": "3:cpu:/box\n0::/\n",
            f"{GROUPS}/cpu/box/cpu.cfs_quota_us": "30000\n",
            f"{GROUPS}/cpu/box/cpu.cfs_period_us": "20000\n",
        },
        *("cpu_quota", 1.5, "quota of 1.5"),
    ),
    "a container that sees only its own group": (
        {
            "/proc/self/mountinfo": MOUNTS
            + V1.format("memory").replace(" / /", " /box /"),
            "/proc/self/cgroup": "2:memory:/box/inner\n",
            f"{GROUPS}/memory/inner/memory.limit_in_bytes": f"{1 << 30}\n",
            f"{GROUPS}/memory/memory.limit_in_bytes": "9223372036854771712\n",
        },
        *("memory_limit_bytes", 1 << 30, "16 GiB, limit of 1 GiB"),
    ),
    "memory of an outer group": (
        {
            "/proc/self/cgroup": "0::/a/b\n",
            f"{GROUPS}/a/memory.max": f"{3 << 30}\n",
            f"{GROUPS}/a/b/memory.max": "max\n",
        },
        *("memory_limit_bytes", 3 << 30, "limit of 3 GiB"),
    ),
    "address space": (
        {"/proc/self/limits": f"Max address space     {1 << 33}  unlimited bytes\n"},
        *("address_space_bytes", 1 << 33, "address space of 8 GiB"),
    ),
}


@pytest.mark.parametrize("case", LIMITS)
def test_what_the_process_may_use_is_part_of_the_identity(case: str) -> None:
    files, fact, value, words = LIMITS[case]
    whole, limited = identity(machine()), identity(machine({**FILES, **files}))
    assert limited[fact] == value
    assert {k for k in whole if whole[k] != limited[k]} == {fact}
    assert words in machine_words(limited)
    [difference] = machine_differences(limited, whole)
    assert difference.startswith(f"machine: {fact} was {value}, is now {whole[fact]}")
    [difference] = machine_differences(whole, limited)
    assert f"is now {value}" in difference
    assert machine_key(whole) != machine_key(limited)


def test_limits_above_what_is_there_limit_nothing() -> None:
    files = {
        "/proc/self/cgroup": "0::/\n",
        f"{GROUPS}/cpu.max": "200000 100000\n",
        f"{GROUPS}/memory.max": f"{1 << 40}\n",
        "/proc/self/limits": "Max address space     unlimited  unlimited bytes\n",
    }
    assert identity(machine({**FILES, **files})) == identity(machine())


def test_a_run_that_recorded_no_limits_is_compared_as_before() -> None:
    whole = identity(machine())
    earlier = {name: fact for name, fact in whole.items() if name not in ALLOTTED}
    limited = {**whole, "allowed_cpus": "0"}
    assert machine_differences(earlier, limited) == []
    assert machine_key(earlier) == machine_key(whole)
    assert usable_cpus(earlier) == 2
    assert usable_cpus({**whole, "cpu_quota": 0.5}) == 1


def test_free_memory_and_load_do_not_change_the_identity() -> None:
    later = {**FILES, "/proc/loadavg": "9 9 9 1/1 1", "/proc/stat": "cpu 1 1"}
    assert identity(machine(later)) == identity(machine())


def test_differences_are_spelled_out() -> None:
    old = identity(machine())
    new = {**old, "kernel": "7.0"}
    assert machine_differences(old, old) == []
    differences = machine_differences(old, new)
    assert differences == ["machine: kernel was 6.1.0-fake, is now 7.0"]


def test_the_innermost_mount_is_used() -> None:
    mount = mount_of(MOUNTS, Path("/mnt/my disk/data"), "8:1")
    assert (mount.type, mount.device) == ("xfs", "/dev/sda1")
    assert mount_of(MOUNTS, Path("/mnt"), "254:0").type == "ext4"
    assert mount_of("", Path("/mnt"), "254:0").type == "unknown"


def test_no_name_of_a_host_and_no_path_is_recorded() -> None:
    share = mount_of(MOUNTS, Path("/home/somebody"), "0:50")
    assert (share.device, share.options) == ("nfs4", "rw,addr")
    box = mount_of(MOUNTS, Path("/box"), "0:99")
    assert box.options == "rw,lowerdir,index=off"
