"""The programs under test, as processes in a ROS domain of their own."""

import ctypes
import fcntl
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("AGENT_NODE_BUILD", ROOT / "build"))


class Domain:
    """A ROS domain (1 to 101) of one's own: claimed by a locked file, which the system frees when this process ends,
    and one whose first participant's port nobody on this machine has taken."""

    def __init__(self):
        start = random.randrange(101)
        for step in range(101):
            self.number = 1 + (start + step) % 101
            self._claim = open(Path(tempfile.gettempdir()) / f"ros-domain-{os.getuid()}-{self.number}", "w")
            try:
                fcntl.flock(self._claim, fcntl.LOCK_EX | fcntl.LOCK_NB)
                with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
                    probe.bind(("", 7410 + 250 * self.number))
                return
            except OSError:
                self._claim.close()
        raise RuntimeError("every ROS domain is taken")

    def release(self):
        self._claim.close()


# Runs a program that gets a SIGINT while it reads a message, once a SIGUSR1 has come: there, a handler that raises is
# swallowed or makes nonsense of the message.
WITHIN_A_MESSAGE = """
import importlib, os, runpy, signal, sys
module, name, program, *rest = sys.argv[1:]
read = getattr(importlib.import_module(module), name)
begin, due = read.__init__, []
signal.signal(signal.SIGUSR1, lambda *_: due.append(None))
def init(self, *a, **k):
    if due:
        due.clear()
        os.kill(os.getpid(), signal.SIGINT)
    begin(self, *a, **k)
read.__init__ = init
sys.argv = [program, *rest]
sys.path[0] = os.path.dirname(program)
runpy.run_path(program, run_name="__main__")
"""


def interruptible(message, program, *arguments):
    """What to run for a program that is interrupted within the next message of a class after SIGUSR1."""
    return [sys.executable, "-c", WITHIN_A_MESSAGE, message.__module__, message.__name__, str(program), *arguments]


PR_SET_PDEATHSIG = 1


def end_with_parent():
    """A test run that is killed leaves no robot behind (Linux)."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Process:
    """A program under test; its output goes to a file that a failing test shows."""

    def __init__(self, name, arguments, log, env, program=None):
        """Program is what is run, the one of this name that was built if it is not given."""
        self.name, self.log = name, log
        self.file = open(log, "ab")
        self.popen = subprocess.Popen(
            [*(program or [str(BUILD / name)]), *arguments],
            stdout=self.file,
            stderr=subprocess.STDOUT,
            env=env,
            cwd=log.parent,
            preexec_fn=end_with_parent,
        )

    def alive(self):
        return self.popen.poll() is None

    def kill(self):
        """SIGKILL: no way to tidy up."""
        if self.alive():
            self.popen.kill()
        self.popen.wait(10)
        self.file.close()

    def stop(self, sig=signal.SIGINT, timeout=60.0):
        """Ends the program by a signal and returns its exit code."""
        if self.alive():
            self.popen.send_signal(sig)
        try:
            return self.popen.wait(timeout)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"{self.name} did not end within {timeout} s of {sig!r}") from None
        finally:
            self.file.close()

    def ended(self, timeout):
        """The exit code of a program that ends by itself."""
        return self.popen.wait(timeout)

    def text(self):
        return self.log.read_text(errors="replace")

    def usage(self):
        """What the process holds now: open descriptors, threads and resident memory in KiB."""
        proc = Path(f"/proc/{self.popen.pid}")
        status = dict(line.split(":", 1) for line in (proc / "status").read_text().splitlines() if ":" in line)
        return {
            "descriptors": len(list((proc / "fd").iterdir())),
            "threads": int(status["Threads"]),
            "resident": int(status["VmRSS"].split()[0]),
        }

    def cpu(self):
        """Seconds of processor time used so far."""
        fields = Path(f"/proc/{self.popen.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
