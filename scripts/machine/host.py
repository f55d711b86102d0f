"""The machine of a run: its environment document and its identity.

Everything is read through a Reader, so that tests need no particular machine.  A value
that cannot be read is the text "unknown".  Names of hosts and users are never read.
"""

import hmac
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from report.terms.machine_facts import ALLOTTED, essential
from scripts.machine.allotment import allotted, allowed_cpus
from scripts.machine.mounts import Mount, mount_of
from scripts.machine.reader import Reader

UNKNOWN = "unknown"
Entry = dict[str, str | int | float | bool]


@dataclass(frozen=True)
class Machine:
    """A machine and the folder of its databases."""

    reader: Reader
    data_dir: Path  # where databases are created; must exist

    def text(self, path: str) -> str:
        """Return a file's text, stripped; "unknown" if empty or unreadable."""
        content = self.reader.file(path)
        return content.strip() if content and content.strip() else UNKNOWN

    def number(self, path: str, factor: int = 1) -> int | str:
        """Return a file's integer times a factor; "unknown" if it is not an integer."""
        content = self.text(path)
        return int(content) * factor if content.lstrip("-").isdigit() else UNKNOWN

    def command(self, *words: str) -> str:
        """Return what a command prints, stripped; "unknown" if nothing."""
        content = self.reader.command(words)
        return content.strip() if content and content.strip() else UNKNOWN

    @property
    def mountinfo(self) -> str:
        """The text of /proc/self/mountinfo; "" if it cannot be read."""
        return self.reader.file("/proc/self/mountinfo") or ""

    @property
    def device(self) -> str:
        """The device that holds the databases, as major:minor."""
        return self.reader.device_of(self.data_dir)

    @property
    def mount(self) -> Mount:
        """The file system that holds the databases."""
        return mount_of(self.mountinfo, self.data_dir, self.device)


def environment_document(
    machine: Machine, compilers: Sequence[str], child_environment: Mapping[str, str]
) -> dict[str, Any]:
    """Return the content of environment.json."""
    return {
        "schema": 1,
        "cpu": _cpu(machine),
        "memory": _memory(machine),
        "kernel": _kernel(machine),
        "file_system": _file_system(machine),
        "block_device": _block_device(machine),
        "load": _load(machine),
        "hypervisor": _hypervisor(machine),
        "compiler": sorted(set(compilers)) or [UNKNOWN],
        "allocator_environment": _allocator(child_environment),
        "child_environment": dict(child_environment),
    }


def identity(machine: Machine) -> dict[str, Any]:
    """Return the facts that must be equal in all sessions of a run."""
    cpu, memory, mount = _cpu(machine), _memory(machine), machine.mount
    total, cpus = memory["total_bytes"], cpu["logical_cpus"]
    return {
        "cpu_model": cpu["model"],
        "logical_cpus": cpus,
        "memory_gib": round(total / (1 << 30)) if isinstance(total, int) else UNKNOWN,
        "kernel": machine.text("/proc/sys/kernel/osrelease"),
        "hypervisor": _hypervisor(machine),
        "file_system": mount.type,
        "mount_options": mount.options,
        "device": mount.device,
        **allotted(machine.reader, cpus, total),
    }


def machine_name(machine: Machine, node: str = "") -> str:
    """Return a name for this machine that reveals nothing: m- and 8 hex digits.

    They are of a keyed hash of the machine-id, as machine-id(5) advises, or without
    one of what the kernel drew when it started; `node` is a name that distinguishes
    machines that share it.  So do limits on what this process may use of the machine.
    "" if neither can be read.
    """
    limits = {k: v for k, v in essential(identity(machine)).items() if k in ALLOTTED}
    for path in ("/etc/machine-id", "/proc/sys/kernel/random/boot_id"):
        if (text := machine.text(path)) not in (UNKNOWN, "uninitialized"):
            message = f"kvmatrix machine {node}".rstrip()
            message += f" {json.dumps(limits)}" if limits else ""
            digest = hmac.digest(text.encode(), message.encode(), "sha256")
            return f"m-{digest.hex()[:8]}"
    return ""


def _cpuinfo(machine: Machine) -> dict[str, str]:
    """Return the first processor's entries of /proc/cpuinfo."""
    first = machine.text("/proc/cpuinfo").split("\n\n")[0]
    pairs = (line.partition(":") for line in first.splitlines())
    return {key.strip(): value.strip() for key, _, value in pairs}


def _cpu(machine: Machine) -> Entry:
    text, folder = machine.text("/proc/cpuinfo"), "/sys/devices/system/cpu"
    first = _cpuinfo(machine)
    count = sum(line.startswith("processor") for line in text.splitlines())
    return {
        "model": first.get("model name", UNKNOWN),
        "logical_cpus": count or UNKNOWN,
        "allowed_cpus": allowed_cpus(machine.reader),
        "mhz": _decimal(first.get("cpu MHz", "")),
        "cache": first.get("cache size", UNKNOWN),
        "caches": _caches(machine),
        "microcode": first.get("microcode", UNKNOWN),
        "flags": first.get("flags") or first.get("Features") or UNKNOWN,  # x86, Arm
        "governor": machine.text(f"{folder}/cpu0/cpufreq/scaling_governor"),
        "turbo": _turbo(machine),
        "smt": machine.text(f"{folder}/smt/control"),
        "clock_source": machine.text(
            "/sys/devices/system/clocksource/clocksource0/current_clocksource"
        ),
    }


def _decimal(text: str) -> float | str:
    """Return a decimal number, or "unknown"."""
    try:
        return float(text)
    except ValueError:
        return UNKNOWN


_MOST_CACHES = 10  # Linux numbers them index0, index1 ... without a gap


def _caches(machine: Machine) -> str:
    """Return the caches of the first processor: "L1 Data 48K (cpu 0); ..."."""
    caches = []
    for index in range(_MOST_CACHES):
        folder = f"/sys/devices/system/cpu/cpu0/cache/index{index}"
        level, kind, size, shared = (
            machine.text(f"{folder}/{name}")
            for name in ("level", "type", "size", "shared_cpu_list")
        )
        if UNKNOWN in (level, kind, size, shared):
            break
        caches.append(f"L{level} {kind} {size} (cpu {shared})")
    return "; ".join(caches) or UNKNOWN


def _turbo(machine: Machine) -> str:
    folder = "/sys/devices/system/cpu"
    words = {"0": "on", "1": "off"}
    no_turbo = machine.text(f"{folder}/intel_pstate/no_turbo")
    if no_turbo in words:
        return words[no_turbo]
    boost = machine.text(f"{folder}/cpufreq/boost")
    return {"1": "on", "0": "off"}.get(boost, UNKNOWN)


# When data that was written without a sync goes to the disk, from Linux's
# Documentation/admin-guide/sysctl/vm.rst.  Of a ratio and its bytes, one is 0.
_WRITE_BACK = (
    *("dirty_ratio", "dirty_background_ratio", "dirty_bytes", "dirty_background_bytes"),
    *("dirty_expire_centisecs", "dirty_writeback_centisecs"),
)


def _memory(machine: Machine) -> Entry:
    lines = machine.text("/proc/meminfo").splitlines()
    kib = {line.split(":")[0]: line.split()[1] for line in lines if ":" in line}

    def size(key: str) -> int | str:
        return int(kib[key]) * 1024 if kib.get(key, "").isdigit() else UNKNOWN

    return {
        "total_bytes": size("MemTotal"),
        "available_bytes": size("MemAvailable"),
        "swap_total_bytes": size("SwapTotal"),
        "swap_free_bytes": size("SwapFree"),
        "transparent_huge_pages": machine.text(
            "/sys/kernel/mm/transparent_hugepage/enabled"
        ),
        **{name: machine.number(f"/proc/sys/vm/{name}") for name in _WRITE_BACK},
    }


def _kernel(machine: Machine) -> Entry:
    names = machine.text("/etc/os-release").splitlines()
    pretty = [n.split("=", 1)[1].strip('"') for n in names if n.startswith("PRETTY_")]
    return {
        "release": machine.text("/proc/sys/kernel/osrelease"),
        "version": machine.text("/proc/sys/kernel/version"),
        "architecture": machine.command("uname", "-m"),
        "distribution": pretty[0] if pretty else UNKNOWN,
        "mitigations": _mitigations(machine),
        "cgroup_version": _cgroup_version(machine),
    }


# From Linux's Documentation/admin-guide/hw-vuln: those with mitigations that slow
# system calls down.
_VULNERABILITIES = (
    *("itlb_multihit", "l1tf", "mds", "meltdown", "mmio_stale_data", "retbleed"),
    *("spec_rstack_overflow", "spec_store_bypass", "spectre_v1", "spectre_v2", "srbds"),
)


def _mitigations(machine: Machine) -> str:
    """Return the kernel's mitigations: "meltdown: Mitigation: PTI; ...", or "none"."""
    folder = "/sys/devices/system/cpu/vulnerabilities"
    states = {name: machine.text(f"{folder}/{name}") for name in _VULNERABILITIES}
    affected = {n: s for n, s in states.items() if s not in (UNKNOWN, "Not affected")}
    if UNKNOWN in states.values() and not affected:
        return UNKNOWN
    return "; ".join(f"{name}: {state}" for name, state in affected.items()) or "none"


def _cgroup_version(machine: Machine) -> int | str:
    mounts = machine.reader.file("/proc/self/mountinfo") or ""
    types = {line.rpartition(" - ")[2].split(" ")[0] for line in mounts.splitlines()}
    return 1 if "cgroup" in types else 2 if "cgroup2" in types else UNKNOWN


def _file_system(machine: Machine) -> Entry:
    mount = machine.mount
    return {
        "type": mount.type,
        "mount_options": mount.options,
        "device": mount.device,
        "free_bytes": machine.reader.free_bytes(machine.data_dir),
    }


def _block_device(machine: Machine) -> Entry:
    entry = f"/sys/dev/block/{machine.device}"
    disk = entry
    if machine.reader.file(f"{entry}/queue/rotational") is None:
        disk = f"{entry}/.."  # a partition has no queue; its disk has
    rotational = machine.text(f"{disk}/queue/rotational")
    return {
        "model": machine.text(f"{disk}/device/model"),
        "rotational": {"0": False, "1": True}.get(rotational, UNKNOWN),
        "write_cache": machine.text(f"{disk}/queue/write_cache"),
        "read_ahead_bytes": machine.number(f"{disk}/queue/read_ahead_kb", 1024),
        "scheduler": machine.text(f"{disk}/queue/scheduler"),
        "logical_block_bytes": machine.number(f"{disk}/queue/logical_block_size"),
        "size_bytes": machine.number(f"{disk}/size", 512),
    }


def _load(machine: Machine) -> Entry:
    words = machine.text("/proc/loadavg").split()
    averages = [_decimal(word) for word in (*words, "", "", "")[:3]]
    keys = ("minutes_1", "minutes_5", "minutes_15")
    return {**dict(zip(keys, averages, strict=True)), "steal_share": _steal(machine)}


def _steal(machine: Machine) -> float | str:
    """Return the share of CPU time that the hypervisor took since boot."""
    words = machine.text("/proc/stat").splitlines()[0].split()
    if words[0] != "cpu" or len(words) < 9:
        return UNKNOWN
    ticks = [int(word) for word in words[1:9]]  # user to steal; user includes guest
    return round(ticks[7] / sum(ticks), 4) if sum(ticks) else UNKNOWN


def _hypervisor(machine: Machine) -> str:
    answer = machine.command("systemd-detect-virt", "--vm")
    if answer not in (UNKNOWN, "none"):
        return answer
    if "hypervisor" in _cpuinfo(machine).get("flags", "").split():
        return "present, unidentified"
    return answer


def _allocator(child_environment: Mapping[str, str]) -> str:
    """Return the variables that affect malloc in an engine: "NAME=VALUE, ..."."""
    prefixes = ("MALLOC_", "GLIBC_TUNABLES", "LD_PRELOAD")
    names = [k for k in sorted(child_environment) if k.startswith(prefixes)]
    return ", ".join(f"{k}={child_environment[k]}" for k in names) or "none"
