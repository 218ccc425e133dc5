"""The cases of testdata/faults.jsonl: public reports, each told as what to do and what to expect."""

import json
from pathlib import Path

import pytest

DATA = Path(__file__).parent / "testdata"
CASES = {c["id"]: c for c in map(json.loads, (DATA / "faults.jsonl").read_text().splitlines())}


def case(id):
    """Gives a test the case of that id, as its argument `case`."""
    return pytest.mark.parametrize("case", [pytest.param(CASES[id], id=id)])
