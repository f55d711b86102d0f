"""The report of a run that has ended."""

import shlex
from pathlib import Path

from report.model.run import Run
from report.terms.encoding import reason_of
from scripts.machine.child_process import Interrupted
from scripts.show.output import print_error, shown
from scripts.store.report_file import write_report


def written_report(path: Path, run: Run | None = None) -> Path | None:
    """Write the HTML report; return None if that fails: the run is still good.

    `run` is what the folder holds, if it was read.  Raises Interrupted.
    """
    retry = f"scripts/kvmatrix report {shlex.quote(shown(path))}"
    try:
        return write_report(path, "html", None, run)
    except KeyboardInterrupt:
        problem = "interrupted while the report was written; all results are kept"
        raise Interrupted(f"{problem}; write it with:", retry) from None
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        if isinstance(error, OSError):
            reason = f"{error.filename or path}: {reason_of(error)}"
        problem = f"cannot write the report: {' '.join(reason.split())}"
        print_error(f"{problem}; all results are kept; retry with: {retry}", 0)
        return None
