"""The engines on disk: described and checksummed, or missing with a reason."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from report.config.config_types import VARIANT, Config, EngineConfig
from report.model.description import Description
from report.model.plan import FLOOR, Engine
from report.terms.rulebook import Flags
from scripts.basis.system_programs import CHILD_PATH
from scripts.machine.child_process import Executor
from scripts.planning.disk_room import DiskFull, looks_full
from scripts.planning.engine_program import program_of
from scripts.planning.executable import (
    SET_UP_WITH,
    NotUsable,
    Refusal,
    describe,
    refusal,
)

# What an engine is written in or called through, by its toolchain.
_LANGUAGES = {"": "C or C++", "go": "Go", "java": "Java", "rust": "Rust"}


def child_environment(home: str) -> dict[str, str]:
    """Return all variables of every executable; `home` is inside the data directory."""
    return {"LC_ALL": "C", "PATH": CHILD_PATH, "HOME": home, "TMPDIR": home}


def find_engines(
    executor: Executor,
    build_dir: Path,
    config: Config,
    names: Iterable[str],
    scratch: Path,
) -> tuple[Engine, ...]:
    """Return these engines, described by their executables.

    Raises DiskFull if one cannot describe itself for that reason.
    REQUIRES: `scratch` exists.
    """
    return tuple(
        _find(executor, build_dir, config, config.engines[name], scratch)
        for name in names
    )


def ask_executables(executor: Executor, build_dir: Path) -> Refusal:
    """Return a function that runs an engine's executable with --check."""

    def ask(
        engine: Engine, benchmarks: Sequence[str], flags: Flags
    ) -> tuple[str, str] | None:
        return refusal(executor, program_of(build_dir, engine), benchmarks, flags)

    return ask


def _find(
    executor: Executor,
    build_dir: Path,
    config: Config,
    engine: EngineConfig,
    scratch: Path,
) -> Engine:
    program = program_of(build_dir, engine)
    description, missing, checksum = None, "", ""
    remedy = f"{SET_UP_WITH}{engine.executable}"
    if engine.plugin:
        remedy = f"{engine.plugin} does not exist"
        remedy += f"; build it, or correct 'plugin' in {engine.file}"
    try:
        answer = describe(executor, program, engine.executable, scratch, remedy)
        _check_role(engine, answer)
        description, checksum = answer, program.sha256()
    except NotUsable as reason:
        if looks_full(scratch, str(reason)):
            raise DiskFull(f"the data directory {scratch.parents[1]}") from None
        missing = str(reason)
    return Engine(
        name=engine.name,
        title=engine.title,
        role="" if engine.role == VARIANT else engine.role,
        summary=engine.summary,
        description=description,
        missing=missing,
        binary_sha256=checksum,
        variant_of=engine.variant_of,
        plugin=engine.plugin,
        floor=engine.floor,
        binding_of=engine.binding_of,
        group=config.group(engine),
        url=engine.url,
        language=_LANGUAGES.get(
            config.engines.get(engine.variant_of, engine).toolchain, ""
        ),
        advice=engine.advice,
        known_failures=config.known_failures(engine),
    )


def _check_role(engine: EngineConfig, description: Description) -> None:
    """Raise NotUsable if an engine stores nothing, but is to be compared."""
    if description.stores or engine.role == FLOOR:
        return
    problem = "it stores nothing, so none of its work can be verified; "
    problem += "remove the row" if engine.variant_of else f'expected "{FLOOR}"'
    raise NotUsable(f"{engine.file}: engine[{engine.name}].role: {problem}")
