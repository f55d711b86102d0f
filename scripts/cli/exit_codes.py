"""What can go wrong in any verb, as one message and an exit code."""

from collections.abc import Callable

from report.config.toml_table import ConfigError
from report.terms.documents import ResultsError
from scripts.doctor.admission import Unfit
from scripts.machine.child_process import Interrupted
from scripts.planning.resume_check import Changed
from scripts.show.run_output import complain
from scripts.store.run_places import Refused
from scripts.store.run_store import Busy, DiskFull


def guarded(work: Callable[[], int]) -> int:
    """Runs a verb; what can go wrong becomes one message and an exit code."""
    try:
        return work()
    except (ConfigError, ResultsError, Busy) as error:
        return complain(str(error), 2)
    except (Refused, Unfit) as error:
        return complain(str(error), error.exit_code)
    except Changed as error:
        lines = "\n  ".join(error.found)
        return complain(f"this run cannot be resumed:\n  {lines}", 2)
    except DiskFull as error:
        return complain(str(error), 3)
    except Interrupted as error:
        return complain("interrupted before anything was measured", error.exit_code)
    except KeyboardInterrupt:  # click would end with 1
        return complain("interrupted", 130)
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        return complain(f"{place}{error.strerror or error}", 2)
