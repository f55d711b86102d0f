"""Work in a fork of this process in which one file of the repository is changed.

The fork imports the packages of the repository again, the changed file from its new
text.  Other packages are imported already, which saves most of the time.
"""

import importlib.abc
import importlib.machinery
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

from tests.faults.toolchain import Change
from tests.places import ROOT
from tests.support.fork import run_in_fork

PACKAGES = ("scripts", "report", "tests")


class _Finder(importlib.abc.MetaPathFinder):
    """A finder that finds the changed module before Python finds the one on disk."""

    def __init__(self, change: Change) -> None:
        self._name = change.file.removesuffix(".py").replace("/", ".")
        self._change = change

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        """Return the spec of the changed module, and of no other."""
        if fullname != self._name:
            return None
        place = str(ROOT / self._change.file)
        loader = _Loader(fullname, place)
        loader.text = self._change.text
        spec = importlib.machinery.ModuleSpec(fullname, loader, origin=place)
        spec.has_location = True  # so that it has a __file__
        return spec


class _Loader(importlib.machinery.SourceFileLoader):
    """A loader of a text as if it were in the file."""

    text: str

    def get_code(self, fullname: str) -> object:  # type: ignore[override]
        """Return the code of the text; what is compiled on disk is another's."""
        return compile(self.text, self.path, "exec", dont_inherit=True)


def exit_code_of(change: Change | None, work: Callable[[], int]) -> int:
    """Return what `work` returns in a fork where the change is made.

    `work` must import what it needs of the repository itself, when it is called.
    """

    def changed_work() -> int:
        _import_anew(change)
        return work()

    return run_in_fork(changed_work)


def _import_anew(change: Change | None) -> None:
    """Unload the packages of the repository, and prepare the changed one."""
    for name in [n for n in sys.modules if n.partition(".")[0] in PACKAGES]:
        del sys.modules[name]
    if change:
        sys.meta_path.insert(0, _Finder(change))
