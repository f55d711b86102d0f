"""What the doctor looks at, read once."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from report.model.plan import Engine
from scripts.machine.host import Machine


@dataclass(frozen=True)
class Subject:
    """A machine, and what is to be run on it."""

    machine: Machine
    environment: Mapping[str, Any]  # the document of host.environment_document
    engines: tuple[Engine, ...]
    needed_bytes: float | None  # free disk that the largest cell needs, if known
    variables: Mapping[str, str]  # the runner's own environment
    gaps: tuple[str, ...]  # what is missing of the set-up
    # Programs that `ab` counts with and that are absent.
    uncounted: tuple[str, ...] = ()
    suite: str = ""  # which suite needed_bytes is for
    on_request: tuple[
        str, ...
    ] = ()  # engines that only `scripts/setup --with` compiles
    is_root: bool = False

    def fact(self, group: str, name: str) -> Any:
        """An entry of the environment document; "unknown" if it is."""
        return self.environment[group][name]

    @property
    def virtual(self) -> bool:
        """Whether a hypervisor is known to be there."""
        return self.environment["hypervisor"] not in ("none", "unknown")
