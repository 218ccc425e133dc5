"""The interface packages that this repository builds have the type hashes that others know.

Two processes that disagree on a type's hash do not talk to each other, so a stand-in whose hash
differs from the real package's is worse than none.
"""

import json
import os
from pathlib import Path

import pytest

DATA = Path(__file__).parent / "testdata"
MARKER = ".agent_node"  # in a folder that was built by tools/setup


def recorded(name: str) -> dict[str, str]:
    """Type name -> hash; lines that begin with # are comments."""
    lines = (DATA / name).read_text().splitlines()
    return dict(line.split() for line in lines if line and not line.startswith("#"))


def folder_of(package: str) -> Path:
    """The folder of AMENT_PREFIX_PATH that has the package first."""
    for folder in os.environ["AMENT_PREFIX_PATH"].split(os.pathsep):
        if (Path(folder) / "share" / package / "package.xml").is_file():
            return Path(folder)
    raise AssertionError(f"{package} is not on AMENT_PREFIX_PATH")


def built(package: str) -> dict[str, str]:
    """Every type of a package, and its hash in the descriptions that were generated for it."""
    hashes = {}
    for file in (folder_of(package) / "share" / package).rglob("*.json"):
        for entry in json.loads(file.read_text())["type_hashes"]:
            if entry["type_name"].startswith(package + "/"):
                hashes[entry["type_name"]] = entry["hash_string"]
    return hashes


JAZZY = recorded("jazzy.txt")
OWN = recorded("agent_msgs.txt")


@pytest.mark.parametrize("package", sorted({name.split("/")[0] for name in JAZZY}))
def test_stand_in_has_the_real_hashes(package: str) -> None:
    if not (folder_of(package) / MARKER).exists():
        pytest.skip(f"the real {package} is installed, and used")
    want = {name: value for name, value in JAZZY.items() if name.startswith(package + "/")}
    have = built(package)
    assert {name: have.get(name) for name in want} == want


def test_every_stand_in_is_recorded() -> None:
    source = Path(__file__).resolve().parents[2] / "sim" / "interfaces"
    names = {
        f"{file.parent.parent.name}/{file.parent.name}/{file.stem}"
        for kind in ("msg", "srv", "action")
        for file in source.glob(f"*/{kind}/*.{kind}")
    }
    assert names and names <= set(JAZZY)


def test_agent_msgs_is_what_others_were_built_with() -> None:
    """A change of agent_msgs breaks every client built before it: record new hashes on purpose."""
    have = built("agent_msgs")
    assert {name: have.get(name) for name in OWN} == OWN
    assert {n for n in have if "_" not in n.split("/")[-1]} == {n for n in OWN if "_" not in n.split("/")[-1]}
