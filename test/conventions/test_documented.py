"""docs/conventions.md: every row names a test that exists."""

import re

from processes import ROOT

ROWS = [
    [cell.strip() for cell in line.strip("|\n").split("|")]
    for line in (ROOT / "docs" / "conventions.md").read_text().splitlines()
    if line.startswith("| ") and not line.startswith(("| convention", "| **"))
]


def test_there_are_forty_conventions():
    assert len({row[0] for row in ROWS}) == len(ROWS) >= 40
    assert all(len(row) == 4 and all(row) for row in ROWS), [row for row in ROWS if len(row) != 4 or not all(row)]


def test_every_convention_has_its_test():
    there = set()
    for file in (ROOT / "test").rglob("test_*.py"):
        there |= set(re.findall(r"^def (test_\w+)\(", file.read_text(), re.MULTILINE))
    for row in ROWS:
        named = re.findall(r"`(test_\w+)`", row[3])
        assert named and set(named) <= there, row
