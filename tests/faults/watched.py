"""The files that a mutation depends on: if one differs, it must be tried again."""

import ast
from collections.abc import Iterable
from functools import cache

from tests.faults.mutations import Mutation
from tests.faults.table import FAMILIES, load_family
from tests.faults.toolchain import included_by
from tests.places import ROOT

_FAMILY_OF = {
    case.cell: f"tests/faults/{name}.toml"
    for name in FAMILIES
    for case in load_family(name).cases
}


def watched_files(mutation: Mutation) -> list[str]:
    """Return the mutated file, its proof, and what these include or import."""
    proof = mutation.test_sources
    if mutation.lets:
        proof = ["tests/faults/drivers", *(_FAMILY_OF[cell] for cell in mutation.lets)]
    files = {mutation.table, mutation.file, *proof}
    for file in (mutation.file, *mutation.units, *proof):
        files |= included_by(ROOT, file)
        files |= imported_by(file)
    return sorted(files)


@cache
def imported_by(file: str) -> frozenset[str]:
    """Return the modules of the repository that a Python file imports itself."""
    if not file.endswith(".py"):
        return frozenset()
    found: set[str] = set()
    for node in ast.walk(ast.parse((ROOT / file).read_text())):
        if isinstance(node, ast.Import):
            found |= _files(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = (f"{node.module}.{alias.name}" for alias in node.names)
            found |= _files([node.module, *names])
    return frozenset(found)


def _files(modules: Iterable[str]) -> set[str]:
    files = {f"{module.replace('.', '/')}.py" for module in modules}
    return {file for file in files if (ROOT / file).is_file()}
