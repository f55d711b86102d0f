"""The view of a run, its report, and the command that resumes it."""

import shlex
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from report.model.plan import Plan
from scripts.measure.events import View
from scripts.show.live import make_view
from scripts.show.output import Output, print_error, shown
from scripts.store.report_file import write_report
from scripts.store.run_places import DEFAULT_BUILD, ROOT, RunPlaces


def view_for(output: Output, places: RunPlaces) -> Callable[[Plan], View]:
    """Return a function that makes the view of a plan that suits stderr."""

    def view_of(plan: Plan) -> View:
        transient = sys.stdout.isatty() and not output.as_json
        command = resume_command(plan.run, places)
        return make_view(output.stderr(), plan, output.quiet, command, transient)

    return view_of


def resume_command(
    run_name: str, places: RunPlaces, builds: Mapping[str, Path] | None = None
) -> str:
    """Return the command that resumes a run; `builds` are those of an A/B run."""
    words = ["scripts/kvmatrix", "resume", run_name]
    for option, path in (builds or {}).items():
        words += [option, str(path)]
    usual = {
        "--data-dir": (places.data_dir, "build/data"),
        "--results-dir": (places.results, "results"),
        "--build-dir": (places.build_dir, DEFAULT_BUILD),
        "--configs-dir": (places.configs, "configs"),
    }
    named = {"--device": places.device, "--format-device": places.format_device}
    for option, device in named.items():
        words += [option, str(device)] if device else []
    for option, (path, default) in usual.items():
        is_named = bool(builds) and option == "--build-dir"
        if path.absolute() != ROOT / default and not is_named:
            words += [option, str(path)]
    return shlex.join(words)


def written_report(path: Path) -> Path | None:
    """Write the HTML report; return None if that fails: the run is still good."""
    try:
        return write_report(path, "html", None)
    except (Exception, KeyboardInterrupt) as error:
        reason = f"{type(error).__name__}: {error}"
        if isinstance(error, OSError):
            reason = f"{error.filename or path}: {error.strerror or error}"
        retry = f"scripts/kvmatrix report {shlex.quote(shown(path))}"
        problem = f"cannot write the report: {' '.join(reason.split())}"
        print_error(f"{problem}; all results are kept; retry with: {retry}", 0)
        return None
