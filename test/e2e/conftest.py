"""Fixtures of the end-to-end tests."""

import re

import pytest

from rig import Rig


@pytest.fixture
def rig(request, tmp_path):
    """A factory of rigs; each is closed at the test's end, and its logs are shown where the test failed."""
    rigs = []

    def make(**options):
        name = re.sub(r"\W+", "_", request.node.name)[:60]
        r = Rig(tmp_path / f"{name}_{len(rigs)}", **options)
        rigs.append(r)
        return r

    yield make
    errors = []
    for r in rigs:
        try:
            r.close()
        except AssertionError as e:
            errors.append(str(e))
    assert not errors, "\n".join(errors)
