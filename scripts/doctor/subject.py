"""The machine as the doctor sees it, read once."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from report.model.plan import Engine
from scripts.machine.host import Machine
from scripts.planning.process_limits import LowLimit


@dataclass(frozen=True)
class Subject:
    """A machine, and the suite to run on it."""

    machine: Machine
    environment: Mapping[str, Any]  # the document of host.environment_document
    engines: tuple[Engine, ...]
    needed_bytes: float | None  # free disk space the largest cell needs; None: unknown
    variables: Mapping[str, str]  # the runner's own environment
    gaps: tuple[str, ...]  # what scripts/setup has not installed
    # Programs that `ab` counts with and that are not installed.
    uncounted: tuple[str, ...] = ()
    suite: str = ""  # which suite needed_bytes is for
    is_root: bool = False
    too_low: tuple[LowLimit, ...] = ()  # limits of this process, for the suite
    # Engines on request that are not built, which nobody has to have.
    on_request: tuple[str, ...] = ()

    def fact(self, group: str, name: str) -> Any:
        """Return an entry of the environment document, which may be "unknown"."""
        return self.environment[group][name]

    @property
    def virtual(self) -> bool:
        """True if a hypervisor was detected."""
        return self.environment["hypervisor"] not in ("none", "unknown")
