"""python3 -m ros_setup ROOT: called by tools/setup, which has looked for the tools."""

import fcntl
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from . import distribution, environment, overlay, wheels
from .progress import COMMANDS, SetupError, Stage, digest, run, say, write_atomically


def main(root: Path) -> None:
    began = time.monotonic()
    _check_go(root)
    with _lock(root):
        ros, made = distribution.sourced(), False
        if ros is None:
            ros, made = wheels.make(root, distribution.wanted())
            scripts = ros.prefixes[0] / "bin"
            identity = (ros.prefixes[0] / distribution.MARKER).read_text()
        else:
            scripts, made = _test_tools(root, ros)
            identity = digest(*map(str, ros.prefixes), sys.version, str(ros.python))
        folders, built = overlay.build(root, ros, identity)
        written = environment.write(root, ros, folders, scripts)
    if made or built or written:
        where = "the sourced distribution" if ros.sourced else f".ros/{ros.name}"
        say(f"ready in {time.monotonic() - began:.0f} s: ROS 2 {ros.name} from {where}; . build/env.sh to use it")


def _check_go(root: Path) -> None:
    needs = next(line.split()[1] for line in (root / "go.mod").read_text().splitlines() if line.startswith("go "))
    # Outside of a module, so that go does not refuse to say its version in one that is too new.
    found = subprocess.run(["go", "env", "GOVERSION"], capture_output=True, text=True, cwd="/").stdout.strip()

    def number(version: str) -> tuple[int, ...]:
        digits = "".join(c if c.isdigit() or c == "." else " " for c in version.removeprefix("go")).split()
        return tuple(int(n) for n in digits[0].split(".")) if digits else ()

    if not found.startswith("devel") and number(found) < number(needs):
        raise SetupError(f"Go {needs} or newer is needed, this is {found}: install it and put it on PATH")


class _lock:
    """One set-up of a checkout at a time; a second one waits and then finds all done."""

    def __init__(self, root: Path):
        self.path = root / ".ros" / "lock"

    def __enter__(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.file = open(self.path, "w")
        try:
            fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("another set-up of this checkout is running: waiting for it")
            fcntl.flock(self.file, fcntl.LOCK_EX)

    def __exit__(self, *_error) -> None:
        self.file.close()


def _test_tools(root: Path, ros: distribution.Distribution) -> tuple[Path, bool]:
    """Beside a sourced distribution: an environment that sees its packages and has pytest."""
    folder = root / ".ros" / "test-tools"
    requirements = root / "tools" / "requirements" / "tests.txt"
    stamp = folder / distribution.MARKER
    identity = digest(requirements, str(folder), str(ros.python), sys.version)
    if stamp.is_file() and stamp.read_text() == identity:
        return folder / "bin", False
    shutil.rmtree(folder, ignore_errors=True)
    log = root / ".ros" / "log" / "test-tools.log"
    log.unlink(missing_ok=True)
    with Stage("installing the tests' tools"):
        run([ros.python, "-m", "venv", "--system-site-packages", folder], log)
        pip = [folder / "bin" / "python3", "-m", "pip", "install", "--no-deps", "--require-hashes"]
        # What the system and the distribution bring is neither counted on nor touched.
        pip.append("--ignore-installed")
        env = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
        run([*pip, "-r", requirements], log, env)
    write_atomically(folder / "made_by", f"{ros.python}\n")
    write_atomically(stamp, identity)
    return folder / "bin", True


def _interrupted(_number, _frame) -> None:
    """Once is enough: more signals must not disturb the way out."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

if __name__ == "__main__":
    for number in SIGNALS:
        signal.signal(number, _interrupted)
    try:
        main(Path(sys.argv[1]))
    except SetupError as error:
        sys.exit(f"setup: {error}")
    except KeyboardInterrupt:
        COMMANDS.stop()
        sys.exit("setup: interrupted; run it again to go on")
