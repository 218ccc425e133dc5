"""Every report of testdata/faults.jsonl is tried by a test."""

import re
from pathlib import Path

from cases import CASES


def test_every_case_is_tried():
    files = Path(__file__).parent.glob("test_*.py")
    tried = {id for f in files for id in re.findall(r'@case\("(flt-\d+)"\)', f.read_text())}
    assert tried == set(CASES), (tried ^ set(CASES), "tried and told differ")
