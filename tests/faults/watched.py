"""The files that a mutation depends on: if one differs, it must be tried again."""

from tests.faults.mutations import Mutation
from tests.faults.table import FAMILIES, load_family
from tests.faults.toolchain import included_by
from tests.places import ROOT
from tests.tiers import imported_by

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
        files |= imported_by(ROOT, file)
    return sorted(files)
