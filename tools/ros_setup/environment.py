"""Writes build/env.sh, which makes a shell one that agent_node can be built and run in."""

import re
import shlex
from pathlib import Path

from .distribution import Distribution
from .progress import write_atomically


def write(root: Path, distribution: Distribution, overlay: list[Path], scripts: Path) -> bool:
    """Writes build/env.sh if it would change; says whether it did.

    scripts is the folder whose python3 sees rclpy and pytest.
    """
    path = root / "build" / "env.sh"
    text = _text(root, distribution, overlay, scripts)
    if path.is_file() and path.read_text() == text:
        return False
    write_atomically(path, text)
    return True


def _text(root: Path, distribution: Distribution, overlay: list[Path], scripts: Path) -> str:
    folders = [*overlay, *distribution.prefixes]
    paths = {
        "AMENT_PREFIX_PATH": [str(f) for f in folders],
        "CMAKE_PREFIX_PATH": [
            *map(str, overlay),
            *(distribution.paths.get("CMAKE_PREFIX_PATH") or map(str, distribution.prefixes)),
        ],
        "LD_LIBRARY_PATH": [*(str(f / "lib") for f in overlay)],
        "PYTHONPATH": [*_python_folders(overlay)],
        "PATH": [str(scripts)],
    }
    if distribution.sourced:
        for variable in ("LD_LIBRARY_PATH", "PYTHONPATH", "PATH"):
            paths[variable] += distribution.paths[variable]
    else:
        paths["LD_LIBRARY_PATH"].append(str(distribution.prefixes[0] / "lib"))
    lines = [
        "# Written by `make setup`; source it: . build/env.sh",
        "# A shell that has sourced it builds, runs and tests agent_node from any folder: python3 is",
        "# the prefix's, rclpy sees agent_msgs, and cgo finds ROS 2. ROS_DOMAIN_ID and",
        "# RMW_IMPLEMENTATION stay as they are.",
        "",
        "_agent_node_first() { # VARIABLE PATHS: put PATHS first in VARIABLE, once",
        '    eval "_agent_node_old=\\${$1:-}"',
        '    case "$_agent_node_old:" in',
        '    "$2:"*) ;;',
        '    *) eval "export $1=\\"\\$2\\${_agent_node_old:+:\\$_agent_node_old}\\"" ;;',
        "    esac",
        "    unset _agent_node_old",
        "}",
        "",
    ]
    for variable, entries in paths.items():
        if entries:
            lines.append(f"_agent_node_first {variable} {shlex.quote(':'.join(dict.fromkeys(entries)))}")
    lines += [
        "unset -f _agent_node_first",
        "",
        f"export AGENT_NODE_ROOT={shlex.quote(str(root))}",
        f"export ROS_DISTRO={shlex.quote(distribution.name)}",
        "export ROS_VERSION=2 ROS_PYTHON_VERSION=3",
    ]
    if not distribution.sourced:
        lines += [
            "# The wheels' start-up hook would run every interpreter twice to set what is set here.",
            "export _ROS_WHEELS_BOOTSTRAP_COMPLETE=1",
        ]
    lines += [
        "",
        "export CGO_ENABLED=1",
        f"export CGO_CFLAGS={shlex.quote(' '.join(_cflags(root, folders)))}",
        f"export CGO_LDFLAGS={shlex.quote(' '.join(_ldflags(folders)))}",
        "",
    ]
    return "\n".join(lines)


def _python_folders(folders: list[Path]) -> list[str]:
    """Where the built packages' Python modules lie: site-packages, or dist-packages on Debian."""
    found = []
    for folder in folders:
        for pattern in ("lib/python3*/site-packages", "lib/python3*/dist-packages", "local/lib/python3*/dist-packages"):
            found += [str(p) for p in sorted(folder.glob(pattern))]
    return found


def _includes(folders: list[Path]) -> list[Path]:
    found = []
    for folder in folders:
        for include in sorted((folder / "include").glob("*")):
            # A package's headers lie in include/<package>/<package>/.
            if include.is_dir() and (include / include.name).is_dir():
                found.append(include)
    return found


def _cflags(root: Path, folders: list[Path]) -> list[str]:
    includes = _includes(folders)
    flags = ["-g", "-O2", "-Wno-deprecated-declarations"]
    if not _has_timer_init(includes):
        flags.append(f"-I{root / 'tools' / 'shim'}")
    return flags + [f"-I{i}" for i in includes]


def _has_timer_init(includes: list[Path]) -> bool:
    """Whether rcl still has the function that rclgo makes its timers with."""
    for include in includes:
        header = include / "rcl" / "timer.h"
        if header.is_file():
            return re.search(r"\brcl_timer_init\s*\(", header.read_text(errors="replace")) is not None
    return True


def _ldflags(folders: list[Path]) -> list[str]:
    libraries = [folder / "lib" for folder in folders if (folder / "lib").is_dir()]
    # An old-style RPATH is inherited by the libraries loaded, so that the programs run in any
    # shell; the libraries' own references are theirs to resolve.
    flags = [f"-L{lib}" for lib in libraries]
    flags += ["-Wl,--disable-new-dtags", "-Wl,--allow-shlib-undefined"]
    return flags + [f"-Wl,-rpath,{lib}" for lib in libraries]
