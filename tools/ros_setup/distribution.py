"""What there is to build on: a sourced ROS 2 distribution, or one to be made from wheels."""

import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from .progress import SetupError

# A folder with this file in it was made by this set-up: it is never taken for a distribution.
MARKER = ".agent_node"

# What there are requirements for, best first.
FROM_WHEELS = ("jazzy", "kilted")


@dataclass
class Distribution:
    """A ROS 2 that interface packages and the node are built against."""

    name: str  # jazzy, kilted ...
    prefixes: list[Path]  # of AMENT_PREFIX_PATH, first found first
    python: Path  # interpreter that its rclpy is for
    sourced: bool  # found in the environment, not made here
    # Entries of these variables that the distribution's packages need.
    paths: dict[str, list[str]] = field(default_factory=dict)

    def has(self, package: str) -> bool:
        return any((prefix / "share" / package / "package.xml").is_file() for prefix in self.prefixes)


def _entries(variable: str) -> list[str]:
    """What a search path names, each folder once: build/env.sh in such a shell names some again."""
    return list(dict.fromkeys(entry for entry in os.environ.get(variable, "").split(os.pathsep) if entry))


def _made_here(path: Path) -> bool:
    return any((folder / MARKER).exists() for folder in (path, *path.parents))


def sourced() -> Distribution | None:
    """The distribution in this shell's environment, or None."""
    prefixes = [Path(p) for p in _entries("AMENT_PREFIX_PATH")]
    prefixes = [p for p in prefixes if p.is_dir() and not _made_here(p)]
    if not any((p / "share" / "rcl" / "package.xml").is_file() for p in prefixes):
        return None
    name = os.environ.get("ROS_DISTRO", "")
    if not name:
        raise SetupError("AMENT_PREFIX_PATH names a ROS 2 but ROS_DISTRO is empty: source its setup.bash")
    probe = subprocess.run([sys.executable, "-c", "import rclpy"], capture_output=True, text=True)
    if probe.returncode != 0:
        raise SetupError(
            f"{sys.executable} cannot import the sourced distribution's rclpy: name its interpreter, "
            "for example PYTHON=/usr/bin/python3"
        )
    under = [str(p) for p in prefixes]

    def kept(variable: str) -> list[str]:
        return [e for e in _entries(variable) if any(e == p or e.startswith(p + "/") for p in under)]

    return Distribution(
        name=name,
        prefixes=prefixes,
        python=Path(sys.executable),
        sourced=True,
        paths={v: kept(v) for v in ("PATH", "LD_LIBRARY_PATH", "PYTHONPATH", "CMAKE_PREFIX_PATH")},
    )


def wanted() -> str:
    """Name of the distribution to make where none is sourced."""
    name = os.environ.get("ROS_DISTRO") or FROM_WHEELS[0]
    if name not in FROM_WHEELS:
        raise SetupError(
            f"ROS_DISTRO={name} is not sourced and cannot be made from wheels: source its setup.bash, "
            f"or set ROS_DISTRO to {' or '.join(FROM_WHEELS)}"
        )
    return name
