"""Errors of any verb, as one message and an exit code."""

import io
from collections.abc import Callable
from contextlib import redirect_stderr

import click

from report.config.toml_table import ConfigError
from report.terms.documents import ResultsError
from report.terms.encoding import problem_of
from scripts.basis.system_programs import MissingProgram
from scripts.doctor.admission import Unfit
from scripts.machine.child_process import INTERRUPTED, Interrupted
from scripts.planning.disk_room import DiskFull
from scripts.planning.resume_check import CANNOT_RESUME, CannotResume
from scripts.show.output import print_error
from scripts.store.folder_lock import FolderLocked
from scripts.store.run_places import CannotStart

_BEGIN = "kvmatrix: "  # of a message, at the beginning of a line


def exit_code_of(work: Callable[[], int]) -> int:
    """Run a verb; turn its errors into one message and an exit code."""
    try:
        return work()
    except (ConfigError, FolderLocked, MissingProgram) as error:
        return print_error(str(error), 2)
    except ResultsError as error:
        return print_error(str(error), 2, *error.listed)
    except (CannotStart, Unfit) as error:
        return print_error(str(error), error.exit_code, *error.listed)
    except CannotResume as error:
        return print_error(f"{CANNOT_RESUME}:", 2, *error.changes)
    except DiskFull as error:
        remedy = "free some space or choose another directory"
        return print_error(f"{error}; nothing was {error.lost}; {remedy}", 2)
    except Interrupted as error:
        problem = str(error) or "interrupted before anything was measured"
        return print_error(problem, INTERRUPTED, *error.listed)
    except KeyboardInterrupt:  # click would end with 1
        return print_error("interrupted", INTERRUPTED)
    except OSError as error:
        return print_error(problem_of(error), 2)


def outcome_of(work: Callable[[], int]) -> tuple[int, str]:
    """Run a verb; return its exit code and the message of its error, which is shown."""
    said = io.StringIO()
    with redirect_stderr(said):
        code = exit_code_of(work)
    text = said.getvalue()
    click.echo(text, err=True, nl=False)
    return code, _message_in(text) if code else ""


def _message_in(text: str) -> str:
    """Return the last message of a text; a name within a line begins none."""
    words: list[str] = []
    for line in text.splitlines():
        if line.startswith(_BEGIN):
            words = line.removeprefix(_BEGIN).split()
        else:
            words += line.split()
    return " ".join(words)
