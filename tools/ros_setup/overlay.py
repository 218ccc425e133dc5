"""Builds interface packages: agent_msgs, and stand-ins for what the distribution lacks.

Each package has a folder of its own, .ros/overlay-<distro>/<package>, so that a changed or removed
package leaves nothing behind. It is built aside and moved into place whole.
"""

import os
import shutil
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from .distribution import MARKER, Distribution
from .progress import COMMANDS, Stage, digest, run, say, write_atomically

OWN = "agent_msgs"

# Raise it when a package built before is no longer good enough.
RECIPE = 1


def build(root: Path, distribution: Distribution, identity: str) -> tuple[list[Path], bool]:
    """Folders of the packages built, agent_msgs first; and whether any was built now."""
    overlay = root / ".ros" / f"overlay-{distribution.name}{'-sourced' if distribution.sourced else ''}"
    wanted = [root / "msgs"]
    for source in sorted((root / "sim" / "interfaces").iterdir()):
        if (source / "package.xml").is_file() and not distribution.has(source.name):
            wanted.append(source)
    names = [OWN if s.name == "msgs" else s.name for s in wanted]
    shims = root / "tools" / "overlay"
    todo = []
    for name, source in zip(names, wanted, strict=True):
        key = digest(RECIPE, identity, *_inputs(source), shims)
        stamp = overlay / name / MARKER
        if not (stamp.is_file() and stamp.read_text() == key):
            todo.append((name, source, key))
    if overlay.is_dir():
        for old in overlay.iterdir():
            if old.name not in names:
                shutil.rmtree(old)
    if todo:
        with Stage(f"building {len(todo)} interface packages ({', '.join(n for n, _, _ in todo)})"):
            # Each package has stretches that keep one core busy; two at a time fill the gaps.
            with ThreadPoolExecutor(max_workers=2) as pool:
                jobs = [pool.submit(_build_one, root, distribution, overlay, *package) for package in todo]
                try:
                    for job in jobs:
                        job.result()
                except BaseException:
                    # Leaving the pool waits for its jobs: an interrupt, or the first failure, ends them.
                    COMMANDS.stop()
                    raise
    return [overlay / name for name in names], bool(todo)


def _inputs(source: Path) -> list[Path]:
    """What an interface package is built from; other files in its folder do not matter."""
    return [source / part for part in ("package.xml", "CMakeLists.txt", "msg", "srv", "action")]


def _build_one(root: Path, distribution: Distribution, overlay: Path, name: str, source: Path, key: str) -> None:
    log = root / ".ros" / "log" / f"{overlay.name}-{name}.log"
    log.unlink(missing_ok=True)
    overlay.mkdir(parents=True, exist_ok=True)
    aside = Path(tempfile.mkdtemp(prefix=f".{name}-", dir=overlay))
    try:
        _cmake(root, distribution, source, aside, log)
        write_atomically(aside / "install" / MARKER, key)
        place = overlay / name
        if place.exists():
            shutil.rmtree(place)
        (aside / "install").rename(place)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    say(f"built {name}")


def _cmake(root: Path, distribution: Distribution, source: Path, aside: Path, log: Path) -> None:
    prefixes = [str(p) for p in distribution.prefixes]
    env = dict(os.environ)
    env["AMENT_PREFIX_PATH"] = os.pathsep.join(prefixes)
    env["CMAKE_PREFIX_PATH"] = os.pathsep.join(distribution.paths.get("CMAKE_PREFIX_PATH", []) or prefixes)
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    configure = [
        "cmake", "-S", source, "-B", aside / "build",
        f"-DCMAKE_INSTALL_PREFIX={aside / 'install'}",
        "-DCMAKE_BUILD_TYPE=Release",
        "-DBUILD_TESTING=OFF",
        f"-DPython3_EXECUTABLE={distribution.python}",
    ]  # fmt: skip
    if distribution.sourced:
        # A whole package: the distribution has tools in C++ (recorders, viewers) that look at it.
        ninja = shutil.which("ninja")
    else:
        prefix = distribution.prefixes[0]
        env["LD_LIBRARY_PATH"] = str(prefix / "lib")
        env["_ROS_WHEELS_BOOTSTRAP_COMPLETE"] = "1"
        env.pop("PYTHONPATH", None)
        ninja = prefix / "bin" / "ninja"
        configure.append(f"-Drosidl_default_generators_DIR={root / 'tools' / 'overlay' / 'cmake'}")
    if ninja:
        configure += ["-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={ninja}"]
    run(configure, log, env)
    run(["cmake", "--build", aside / "build", "--parallel", str(os.cpu_count() or 2)], log, env)
    run(["cmake", "--install", aside / "build"], log, env)
