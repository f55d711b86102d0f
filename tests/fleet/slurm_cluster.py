"""A real Slurm of two nodes on this machine, with its own keys, ports and folders."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.places import PATIENCE_S

NODES = ("n1", "n2")
_PATH = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
_CONF = """\
ClusterName=kvmatrix
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.sock
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/linear
SchedulerType=sched/builtin
ReturnToService=2
SlurmdTimeout=10
MailProg=/bin/true
NodeName=n1 NodeHostname=localhost NodeAddr=127.0.0.1 Port={ports[1]} CPUs=1
NodeName=n2 NodeHostname=localhost NodeAddr=127.0.0.1 Port={ports[2]} CPUs=1
PartitionName=main Nodes=n1,n2 Default=YES MaxTime=600 State=UP
"""


@dataclass(frozen=True)
class Cluster:
    """A running cluster; `env` makes a command use it."""

    folder: Path
    env: Mapping[str, str]

    def output(self, *command: str) -> str:
        """Return what a command of Slurm prints."""
        done = subprocess.run(
            command, env=self.env, capture_output=True, text=True, check=True
        )
        return done.stdout

    def kill(self, node: str) -> None:
        """Kill everything that runs on a node, as a loss of its power would."""
        for pid in _processes_of(self.folder, node):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def start(self, node: str) -> None:
        """Start a node."""
        subprocess.run([_program("slurmd"), "-N", node], env=self.env, check=True)


@contextmanager
def slurm_cluster() -> Iterator[Cluster]:
    """Start a cluster and stop it; skip the test where that is impossible."""
    if os.geteuid() != 0 or not all(map(_program, ("munged", "slurmctld", "slurmd"))):
        pytest.skip("needs root, and munge, slurmctld and slurmd")
    folder = Path(tempfile.mkdtemp(prefix="kv-slurm-"))  # names of sockets are short
    folder.chmod(0o755)
    env = {**os.environ, "PATH": _PATH, "SLURM_CONF": str(folder / "slurm.conf")}
    cluster = Cluster(folder, env)
    try:
        _start_munge(folder)
        (folder / "state").mkdir()
        conf = _CONF.format(folder=folder, ports=_free_ports(3))
        (folder / "slurm.conf").write_text(conf)
        subprocess.run([_program("slurmctld")], env=env, check=True)
        for node in NODES:
            cluster.start(node)
        _wait_until_idle(cluster)
        yield cluster
    finally:
        for pid in _processes_of(folder, ""):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        shutil.rmtree(folder, ignore_errors=True)


def _program(name: str) -> str:
    return shutil.which(name, path=_PATH) or ""


def _start_munge(folder: Path) -> None:
    key = folder / "munge.key"
    key.write_bytes(secrets.token_bytes(128))
    key.chmod(0o600)
    files = {"key": "key", "pid": "pid", "log": "log", "seed": "seed"}
    options = [f"--{name}-file={folder}/munge.{end}" for name, end in files.items()]
    socket_option = f"--socket={folder}/munge.sock"
    command = [_program("munged"), "--force", socket_option, *options]
    subprocess.run(command, check=True, capture_output=True)


def _wait_until_idle(cluster: Cluster) -> None:
    ends_s = time.monotonic() + PATIENCE_S
    while cluster.output("sinfo", "--noheader", "--format=%D %t").split() != [
        "2",
        "idle",
    ]:
        assert time.monotonic() < ends_s, cluster.output("sinfo")
        time.sleep(0.2)


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def _processes_of(folder: Path, node: str) -> list[int]:
    """Return the processes of a node; "": those of the whole cluster."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            words = (entry / "cmdline").read_bytes().decode(errors="replace")
            names = (entry / "environ").read_bytes().decode(errors="replace")
            is_own = str(folder) in names or str(folder) in words
            is_daemon = (
                words.startswith(_program("slurmd")) and f"-N\0{node}\0" in words
            )
            of_node = f"SLURMD_NODENAME={node}\0" in names or is_daemon
            if is_own and (not node or of_node) and entry.name != str(os.getpid()):
                found.append(int(entry.name))
    return found
