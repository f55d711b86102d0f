"""The passport of a durability run as one HTML file.

render() is pure: the same run folder gives the same bytes on every machine.
"""

from report.durability import passport_tables as tables
from report.durability.durability_folder import RecordedDurability, final_trials
from report.durability.passport import passport_of
from report.model.build_facts import harness_line, machine_words, started
from report.page import frame
from report.page.ab_page import STYLE
from report.page.identity import NamedEngine, looks
from report.terms.class_stamp import CLASSES, PROOF_MEANINGS

_TEMPLATE = "durability.html.j2"


def render(recorded: RecordedDurability) -> str:
    """Return the page as the text of one HTML file."""
    plan = recorded.plan
    passport = passport_of(plan, recorded.trials)
    entries = passport["settings"]
    titles = {entry["engine"]: entry["title"] for entry in entries}
    engines = [NamedEngine(name, title) for name, title in titles.items()]
    done = final_trials(recorded.trials)
    failed = sum(trial["status"] == "error" for trial in done.values())
    return frame.rendered(
        frame.environment().get_template(_TEMPLATE),
        None,
        (STYLE,),
        plan=plan,
        harness=harness_line(plan.harness),
        lede=tables.summary_sentence(passport),
        left=len(plan.trials) - len(done) + failed,
        engines=engines,
        looks=looks(engines),
        matrix=tables.matrix(entries),
        classes=CLASSES,
        proofs=PROOF_MEANINGS,
        machine=machine_words(plan.machine),
        started=started(plan.run),
        by_engine=tables.by_engine(entries),
        seen=tables.seen(entries, tables.published_folder(plan.run)),
        besides=tables.SEEN_BESIDES,
        full=tables.full_disk(entries),
        not_tried=tables.not_tried(entries),
        states=[(entry, tables.states(entry)) for entry in entries],
    )
