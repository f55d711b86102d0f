"""The class of durability and its proof, as they stand next to a write rate."""

from report.terms import numbers

# What a crash of the machine may do, as the engine documents it, and the class.
CLASS_OF_PROMISE = {
    "loses nothing acknowledged": "D3",
    "may lose the newest": "D2",
    "may be corrupt": "D1x",
}
PROVED, CONTRADICTED, DOCUMENTED = "proved", "contradicted", "as documented"
PROOFS = (PROVED, CONTRADICTED, DOCUMENTED)


def class_text(name: str, may_be_corrupt: bool) -> str:
    """Return a class with its x, such as "D1x"; "–" if there is none."""
    return f"{name}{'x' if may_be_corrupt else ''}" if name else "–"


def stamp(name: str, may_be_corrupt: bool, proof: str, states: int) -> str:
    """Return such as "D3 proved (1,412 states)" or "D2 as documented"."""
    text = f"{class_text(name, may_be_corrupt)} {proof}"
    return f"{text} ({numbers.count(states, 'state')})" if states else text
