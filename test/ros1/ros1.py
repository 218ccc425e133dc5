"""A ROS 1 graph of a test's own: Debian's rosmaster, a robot, a person's program, and the programs under test."""

import ctypes
import json
import os
import queue
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD = Path(os.environ.get("AGENT_NODE_BUILD", ROOT / "build"))
PYTHON = "/usr/bin/python3"  # rospy belongs to the system's Python, not to the ROS 2 prefix's
GENPY, GENACTION = Path("/usr/lib/genpy/genmsg_py.py"), Path("/usr/lib/actionlib_msgs/genaction.py")
DEFINITIONS = {p: Path("/usr/share") / p / "msg" for p in ("actionlib_msgs", "std_msgs")}  # what agent_msgs is made of


def missing():
    """What of Debian's ROS 1 is not there, or nothing."""
    needs = "import actionlib, diagnostic_msgs.msg, genpy, move_base_msgs.msg, nav_msgs.msg, rosgraph_msgs.msg"
    needs += ", rosnode, rosparam, rospy, rosservice, rostopic, sensor_msgs.msg, std_srvs.srv, tf2_ros"
    probe = subprocess.run([PYTHON, "-c", needs], capture_output=True, text=True, env=environment())
    if probe.returncode != 0:
        return (probe.stderr.strip().splitlines() or ["no " + PYTHON])[-1]
    if not shutil.which("rosmaster"):
        return "no rosmaster"
    lacking = [str(p) for p in (GENPY, GENACTION, *DEFINITIONS.values()) if not p.exists()]
    return "no " + ", ".join(lacking) if lacking else ""


def environment(**more):
    """Without ROS 2: the system's Python finds Debian's packages by itself."""
    drop = ("AMENT_", "ROS_", "RMW_", "PYTHON", "LD_LIBRARY_PATH", "VIRTUAL_ENV")
    env = {k: v for k, v in os.environ.items() if not k.startswith(drop)}
    return {**env, "ROS_IP": "127.0.0.1", "PATH": "/usr/local/bin:/usr/bin:/bin", **more}


def agent_msgs(folder):
    """agent_msgs' Python classes for ROS 1, made as catkin makes them. Returns a PYTHONPATH."""
    source, out = folder / "agent_msgs", folder / "python" / "agent_msgs"
    subprocess.run([sys.executable, ROOT / "tools" / "ros1-package", source], check=True, capture_output=True)
    actions = folder / "actions"
    for f in (source / "action").iterdir():
        subprocess.run([PYTHON, GENACTION, f, "-o", actions], check=True, capture_output=True, env=environment())
    include = [f"-Iagent_msgs:{source / 'msg'}", f"-Iagent_msgs:{actions}"]
    include += [f"-I{name}:{path}" for name, path in DEFINITIONS.items()]
    for kind, files in {
        "msg": [*(source / "msg").iterdir(), *actions.iterdir()],
        "srv": list((source / "srv").iterdir()),
    }.items():
        tool = GENPY if kind == "msg" else GENPY.with_name("gensrv_py.py")
        where = ["-p", "agent_msgs", "-o", out / kind]
        for arguments in ([*include, *where, *files], [*where, "--initpy"]):
            subprocess.run([PYTHON, tool, *arguments], check=True, capture_output=True, env=environment())
    (out / "__init__.py").touch()
    return str(out.parent)


PR_SET_PDEATHSIG = 1


def end_with_parent():
    """A test run that is killed leaves no robot and no master behind (Linux)."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Program:
    """A process whose output goes to a file."""

    def __init__(self, command, log, env, **options):
        self.name, self.log = log.stem, log
        with open(log, "ab") as out:
            self.popen = subprocess.Popen(
                [str(c) for c in command],
                stdout=options.pop("stdout", out),
                stderr=out,
                env=env,
                cwd=log.parent,
                preexec_fn=end_with_parent,
                **options,
            )

    def text(self):
        return self.log.read_text(errors="replace")

    def wait(self, timeout):
        try:
            return self.popen.wait(timeout)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"{self.name} did not end within {timeout} s\n{self.text()}") from None

    def stop(self, sig=signal.SIGINT, timeout=30):
        if self.popen.poll() is None:
            self.popen.send_signal(sig)
        try:
            return self.wait(timeout)
        finally:
            if self.popen.poll() is None:
                self.popen.kill()
                self.popen.wait(5)


class Person(Program):
    """peer.py, asked by lines."""

    def __init__(self, log, env):
        super().__init__([PYTHON, HERE / "peer.py"], log, env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.answers = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        self._answer(60)

    def _read(self):
        for line in self.popen.stdout:
            self.answers.put(json.loads(line))
        self.answers.put({"error": "the person's program has ended"})

    def _answer(self, timeout):
        try:
            return self.answers.get(timeout=timeout)
        except queue.Empty:
            raise AssertionError(f"no answer within {timeout} s\n{self.text()}") from None

    def ask(self, do, **order):
        self.popen.stdin.write(json.dumps({"do": do, **order}) + "\n")
        self.popen.stdin.flush()
        answer = self._answer(order.get("timeout", 0) + 20)
        assert "error" not in answer, f"{do} {order}: {answer}\n{self.text()}"
        return answer

    def stop(self, sig=None, timeout=10):
        self.popen.stdin.close()
        try:
            return self.wait(timeout)
        finally:
            if self.popen.poll() is None:
                self.popen.kill()
                self.popen.wait(5)


class Graph:
    """A master, and what a test starts."""

    def __init__(self, folder, messages):
        self.folder, self.programs = folder, []
        folder.mkdir(parents=True, exist_ok=True)
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.port = s.getsockname()[1]
        self.env = environment(
            ROS_MASTER_URI=f"http://127.0.0.1:{self.port}",
            ROS_LOG_DIR=str(folder / "roslog"),
            ROS_HOME=str(folder),
            XDG_STATE_HOME=str(folder),
            PYTHONPATH=messages,
            PYTHONUNBUFFERED="1",
        )
        self.start([PYTHON, shutil.which("rosmaster"), "--core", "-p", self.port], "rosmaster")
        self.until("the master listens", self.listens)

    def listens(self):
        with socket.socket() as s:
            return s.connect_ex(("127.0.0.1", self.port)) == 0

    def until(self, what, holds, timeout=60):
        end = time.monotonic() + timeout
        while not holds():
            assert time.monotonic() < end, f"not within {timeout} s: {what}"
            time.sleep(0.05)

    def start(self, command, name, **options):
        p = Program(command, self.folder / f"{name}.log", self.env, **options)
        self.programs.append(p)
        return p

    def param(self, name, value):
        """Sets a parameter as a launch file does."""
        code = "import rosparam, sys, json; rosparam.set_param_raw(sys.argv[1], json.loads(sys.argv[2]))"
        subprocess.run([PYTHON, "-c", code, name, json.dumps(value)], env=self.env, check=True, capture_output=True)

    def robot(self, *arguments):
        return self.start([PYTHON, HERE / "robot.py", *arguments], "robot")

    def person(self):
        p = Person(self.folder / "person.log", self.env)
        self.programs.append(p)
        return p

    def node(self, *arguments):
        """The node; its profile and parameters are the parameter server's."""
        return self.start([BUILD / "agent_node", "--ros1", *arguments], "agent_node")

    def command(self, *arguments, timeout=60):
        """One of the program's other subcommands, to its end."""
        return subprocess.run(
            [BUILD / "agent_node", *arguments],
            env=self.env,
            capture_output=True,
            text=True,
            timeout=timeout,
            cwd=self.folder,
        )

    def tool(self, name, *arguments):
        """One of ROS 1's own command line tools."""
        code = f"import sys, {name}; sys.argv[0] = '{name}'; {name}.{name}main()"
        return subprocess.run(
            [PYTHON, "-c", code, *arguments], env=self.env, capture_output=True, text=True, timeout=30
        )

    def close(self):
        """Ends all, and tells the exit codes. Master and robot are not under test."""
        codes = {}
        for p in reversed(self.programs):
            codes[p.name] = p.stop(signal.SIGKILL) if p.name in ("rosmaster", "robot") else p.stop()
        return codes

    def logs(self):
        return "\n".join(f"== {p.name}\n{p.text()[-6000:]}" for p in self.programs)
