"""Programs in tests/ that do not have options."""

import argparse


def refuse_options(description: str | None) -> None:
    """Exit if the program was called with an argument; --help prints `description`."""
    argparse.ArgumentParser(
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    ).parse_args()
