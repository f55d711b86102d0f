"""The table of a campaign, and its place in a document."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.hardship.adversities import KINDS, Kind
from tests.hardship.trial import Outcome

BEGIN, END = "<!-- hardship:begin -->", "<!-- hardship:end -->"
_COLUMNS = (
    "kind",
    "trials",
    "finished lines at the event",
    "lost",
    "doubled",
    "left behind",
    "tracebacks",
    "failures",
)
_HEAD = f"| {' | '.join(_COLUMNS)} |\n|---{'|--:' * (len(_COLUMNS) - 1)}|\n"


@dataclass(frozen=True)
class Campaign:
    """The outcomes of all trials, and the kinds that this machine does not allow."""

    command: str
    outcomes: Sequence[Outcome]
    skipped: Mapping[str, str]  # kind -> reason

    @property
    def holds(self) -> bool:
        """True if trials of all kinds were made, and nothing is wrong."""
        return not self.skipped and all(outcome.holds for outcome in self.outcomes)


def table(campaign: Campaign, kinds: Iterable[Kind] = KINDS.values()) -> str:
    """Return a row for each kind, and one for all of them, in Markdown."""
    rows = [_row(kind.title, _of(kind, campaign)) for kind in kinds]
    notes = [
        f"\n{KINDS[name].title}: not tried: {reason}\n"
        for name, reason in campaign.skipped.items()
    ]
    return "".join([_HEAD, *rows, _row("all", campaign.outcomes), *notes])


def _of(kind: Kind, campaign: Campaign) -> list[Outcome]:
    return [outcome for outcome in campaign.outcomes if outcome.kind == kind.name]


def _row(title: str, outcomes: Sequence[Outcome]) -> str:
    counts = (
        len(outcomes),
        sum(o.finished for o in outcomes),
        sum(o.lost for o in outcomes),
        sum(o.doubled for o in outcomes),
        sum(o.left_behind for o in outcomes),
        sum(o.tracebacks for o in outcomes),
        sum(not o.holds for o in outcomes),
    )
    return f"| {title} | {' | '.join(f'{count:,}' for count in counts)} |\n"


def write_block(path: Path, campaign: Campaign) -> None:
    """Replace the text between the marks of a document by the table.

    Raises ValueError if the document has no marks.
    """
    text = path.read_text()
    head, begin, rest = text.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"{path}: contains no {BEGIN} before a {END}")
    block = f"\nMade by `{campaign.command}`.\n\n{table(campaign)}"
    path.write_text(f"{head}{BEGIN}{block}{END}{tail}")
