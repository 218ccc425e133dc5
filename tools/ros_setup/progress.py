"""Lines for the person who waits, and commands whose output is shown only when they fail."""

import hashlib
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path


class SetupError(Exception):
    """What went wrong, in one line that says what to do."""


def say(text: str) -> None:
    print(f"setup: {text}", flush=True)


class Stage:
    """A step that takes a while: says when it begins, that it still runs, and how long it took."""

    def __init__(self, text: str, every: float = 20.0):
        self.text, self.every = text, every
        self.over = threading.Event()

    def _tick(self) -> None:
        while not self.over.wait(self.every):
            say(f"{self.text} ... {time.monotonic() - self.began:.0f} s")

    def __enter__(self) -> "Stage":
        say(f"{self.text} ...")
        self.began = time.monotonic()
        self.ticker = threading.Thread(target=self._tick, daemon=True)
        self.ticker.start()
        return self

    def __exit__(self, kind, _value, _trace) -> None:
        self.over.set()
        self.ticker.join()
        if kind is None:
            say(f"{self.text}: done in {time.monotonic() - self.began:.0f} s")


class Commands:
    """The commands that are running, so that an interrupt can end them."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.running: set[subprocess.Popen] = set()
        self.stopped = False

    def start(self, command: list, **how) -> subprocess.Popen:
        with self.lock:
            if self.stopped:
                raise SetupError("interrupted")
            # A group of its own: ended with all that it has started.
            child = subprocess.Popen([str(c) for c in command], start_new_session=True, **how)
            self.running.add(child)
            return child

    def wait(self, child: subprocess.Popen) -> int:
        code = child.wait()
        with self.lock:
            self.running.discard(child)
        return code

    def stop(self) -> None:
        """Ends what runs, and lets nothing begin."""
        with self.lock:
            self.stopped = True
            for child in self.running:
                if child.poll() is None:
                    os.killpg(child.pid, signal.SIGTERM)


COMMANDS = Commands()


def run(command: list, log: Path, env: dict | None = None, cwd: Path | None = None) -> None:
    """Runs command, its output appended to log; raises SetupError with the output's end."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with open(log, "ab") as out:
        out.write(f"\n$ {' '.join(map(str, command))}\n".encode())
        out.flush()
        child = COMMANDS.start(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=env, cwd=cwd)
        code = COMMANDS.wait(child)
    if COMMANDS.stopped:
        raise SetupError("interrupted")
    if code != 0:
        tail = log.read_text(errors="replace").splitlines()[-25:]
        sys.stderr.write("\n".join(tail) + "\n")
        raise SetupError(f"{Path(str(command[0])).name} failed (exit {code}); all of its output is in {log}")


def digest(*parts: object) -> str:
    """Hash of texts, and of files and folders by content; a missing file counts as such."""
    total = hashlib.sha256()

    def add(data: bytes) -> None:
        total.update(len(data).to_bytes(8, "little"))
        total.update(data)

    for part in parts:
        if not isinstance(part, Path):
            add(str(part).encode())
        elif part.is_dir():
            for file in sorted(part.rglob("*")):
                if file.is_file() and "__pycache__" not in file.parts:
                    add(str(file.relative_to(part)).encode())
                    add(file.read_bytes())
        else:
            add(part.read_bytes() if part.is_file() else b"missing")
    return total.hexdigest()


def write_atomically(path: Path, text: str) -> None:
    """Replaces path by text in one step, so that an interrupt leaves the old or the new file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f"{path.name}.{os.getpid()}")
    aside.write_text(text)
    os.replace(aside, path)
