"""Fixtures of the tests in which rclpy talks to Go programs in other processes."""

import json
import os
import queue
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest

# A domain of this run's own, on this machine only: DOMAIN, or one by process.
os.environ["ROS_DOMAIN_ID"] = os.environ.get("DOMAIN") or str(1 + os.getpid() % 99)
os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"

rclpy = pytest.importorskip("rclpy", reason="no ROS 2 in this environment")
from rclpy.executors import MultiThreadedExecutor  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
WITHIN = 30.0  # seconds; how long anything may take on a loaded machine


class Program:
    """A Go program that says JSON objects, one a line, and is told them."""

    def __init__(self, path, *arguments):
        self.process = subprocess.Popen(
            [str(path), *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        self.said = queue.Queue()
        self.skipped = []
        threading.Thread(target=self._read, daemon=True).start()
        self.expect(event="ready")

    def _read(self):
        for line in self.process.stdout:
            self.said.put(json.loads(line))
        self.said.put(None)

    def tell(self, **command):
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()

    def expect(self, **fields):
        """The next object with these fields; those before it are kept in skipped."""
        deadline = time.monotonic() + WITHIN
        while True:
            try:
                said = self.said.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                raise AssertionError(f"the program did not say {fields}; it said {self.skipped[-9:]}") from None
            assert said is not None, f"the program ended and did not say {fields}; it said {self.skipped[-9:]}"
            if all(said.get(k) == v for k, v in fields.items()):
                return said
            self.skipped.append(said)

    def outcome(self, key):
        """What became of a goal, and all that was said of it before."""
        deadline = time.monotonic() + WITHIN
        while True:
            for said in self.skipped:
                if said.get("key") == key and said["event"] in ("outcome", "error"):
                    return said, [s for s in self.skipped if s.get("key") == key]
            said = self.said.get(timeout=max(0.0, deadline - time.monotonic()))
            assert said is not None, f"the program ended; it said {self.skipped[-9:]}"
            self.skipped.append(said)

    def stop(self, how=signal.SIGTERM):
        """End the program as a user does and wait until it has said that it has closed."""
        if how is None:
            self.process.stdin.close()
        else:
            self.process.send_signal(how)
        self.expect(event="closed")
        assert self.process.wait(WITHIN) == 0

    def kill(self):
        self.process.kill()
        self.end()

    def end(self):
        """End it gently where it still runs: Fast DDS does not take it well when peers are killed."""
        self.process.stdin.close()
        self.process.terminate()
        try:
            self.process.wait(WITHIN)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    """The folder of the test programs, built once."""
    out = tmp_path_factory.mktemp("bin")
    subprocess.run(["go", "build", "-tags", "ros2", "-o", f"{out}/", "./test/ros/cmd/..."], cwd=ROOT, check=True)
    return out


@pytest.fixture
def program(built):
    """A factory of running programs; what still runs at the test's end is ended."""
    running = []

    def start(name, *arguments):
        running.append(Program(built / name, *arguments))
        return running[-1]

    yield start
    for p in running:
        p.end()


class Spinner:
    """Nodes of a context of their own, spun by a thread."""

    def __init__(self):
        self.context = rclpy.Context()
        rclpy.init(context=self.context)
        self.executor = MultiThreadedExecutor(num_threads=4, context=self.context)
        self.thread = threading.Thread(target=self._spin, daemon=True)
        self.nodes = []
        self.at_close = []  # destroying a node leaves its action servers and clients in sight of others
        self.running = True
        self.thread.start()

    def _spin(self):
        while self.running:
            self.executor.spin_once(timeout_sec=0.1)

    def node(self, name, **options):
        node = rclpy.create_node(name, context=self.context, **options)
        self.executor.add_node(node)
        self.nodes.append(node)
        return node

    def close(self):
        self.running = False
        self.executor.wake()
        self.thread.join(WITHIN)
        for destroy in self.at_close:
            destroy()
        for node in self.nodes:
            node.destroy_node()
        self.executor.shutdown()
        self.context.try_shutdown()


@pytest.fixture
def spinner():
    s = Spinner()
    yield s
    s.close()


def wait(future, within=WITHIN):
    """The result of an rclpy future that another thread's executor completes."""
    done = threading.Event()
    future.add_done_callback(lambda _: done.set())
    assert done.wait(within), "no answer in time"
    return future.result()


def eventually(what, within=WITHIN):
    """Poll until what() is true, and return it."""
    deadline = time.monotonic() + within
    while not (value := what()):
        assert time.monotonic() < deadline, "not in time"
        time.sleep(0.01)
    return value
