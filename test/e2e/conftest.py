"""Fixtures of the end-to-end tests."""

import re

import pytest

import inputs
from rig import Rig


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    item.stash.setdefault(failures, []).append(report.failed)
    return report


failures = pytest.StashKey()


def close(rigs):
    errors = []
    for r in rigs:
        try:
            try:
                r.settle()
            finally:
                r.close()
        except AssertionError as e:
            errors.append(str(e))
    assert not errors, "\n".join(errors)


@pytest.fixture
def rig(request, tmp_path):
    """A factory of rigs; each is closed at the test's end, and must then end with exit code 0."""
    rigs = []

    def make(**options):
        name = re.sub(r"\W+", "_", request.node.name)[:60]
        r = Rig(tmp_path / f"{name}_{len(rigs)}", **options)
        rigs.append(r)
        return r

    yield make
    close(rigs)


@pytest.fixture(scope="session")
def kept():
    """Rigs that are still up, by name."""
    rigs = {}
    yield rigs
    close(rigs.values())


@pytest.fixture
def shared(request, kept, tmp_path_factory):
    """Rigs that several tests use one after the other, by name; one is made where there is none.

    A rig that is not as at the start when the next test comes fails that test, and is not used again. Only what was
    used last is kept: even at rest each takes a part of a core.
    """

    def get(name, **options):
        r = kept.pop(name, None)
        for other in [n for n in kept if n not in used]:
            close([kept.pop(other)])
        if r is None:
            r = Rig(tmp_path_factory.mktemp(name), **options)
        else:
            try:
                r.fresh()
            except BaseException:
                r.abandon()
                raise
        kept[name] = r
        used.append(name)
        return r

    used = []
    yield get
    if any(request.node.stash.get(failures, [])):
        close([kept.pop(name) for name in used if name in kept])


@pytest.fixture
def house(shared):
    """The built-in robot and the node as they come, but for a short patience with servers that are not there."""
    return shared("house", node_params={"wait_for_bindings": 2.0})


UNPRICED = {"model.price.input": 0.0, "model.price.output": 0.0, "budget.max_steps": 50, "budget_max.max_steps": 1000}


@pytest.fixture
def scripted(shared, tmp_path):
    """The robot and a node whose model answers from a script: scripted(answer, ..., parameter=value)."""

    def make(*answers, **params):
        r = shared("scripted", node_params=inputs.script(tmp_path, inputs.GIVE_UP) | {"wait_for_bindings": 2.0})
        r.reconfigure(**(UNPRICED | inputs.script(tmp_path, *answers) | params))
        return r

    return make
