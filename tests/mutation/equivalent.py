"""Mutants that change nothing which a test could see, and why. One that no rule makes any more is a mistake here."""

EQUIVALENT: dict[str, dict[tuple[str, str], str]] = {}
