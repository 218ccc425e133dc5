"""The stand-in node for what Gazebo lacks, with a peer in Gazebo's place."""

import math
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

rclpy = pytest.importorskip("rclpy", reason="no ROS 2 in this environment")

from diagnostic_msgs.msg import DiagnosticArray  # noqa: E402
from geometry_msgs.msg import Twist, TwistStamped  # noqa: E402
from nav_msgs.msg import Odometry  # noqa: E402
from rclpy.executors import SingleThreadedExecutor  # noqa: E402
from vision_msgs.msg import Detection3DArray  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test" / "e2e"))
from processes import Domain, end_with_parent, interruptible  # noqa: E402

TABLE = (2.25, -1.6, 0.0)  # where the robot stands before the table
CUBES = {"red_cube": (2.80, -1.45, 0.425), "blue_cube": (2.80, -1.80, 0.425)}


class Gazebo:
    """A peer that tells what Gazebo would, and hears what the stand-in says."""

    def __init__(self, domain):
        self.context = rclpy.Context()
        rclpy.init(context=self.context, domain_id=domain)
        self.node = n = rclpy.create_node("gazebo", context=self.context)
        self.heard = {"drive": [], "seen": [], "objects": [], "counters": []}
        for key, kind, name in (
            ("drive", Twist, "/sim/base/cmd_vel"),
            ("seen", Detection3DArray, "/detections"),
            ("objects", Detection3DArray, "/sim/objects"),
            ("counters", DiagnosticArray, "/sim/counters"),
        ):
            n.create_subscription(kind, name, lambda m, k=key: self.heard[k].append((time.monotonic(), m)), 50)
        self.velocity = n.create_publisher(Twist, "/cmd_vel", 10)
        self.stamped = n.create_publisher(TwistStamped, "/cmd_vel_stamped", 10)
        self.things = {name: n.create_publisher(Odometry, f"/sim/truth/{name}", 10) for name in CUBES}
        self.truth = n.create_publisher(Odometry, "/sim/ground_truth", 10)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(n)
        self.thread = threading.Thread(target=self.executor.spin, daemon=True)
        self.thread.start()

    def until(self, condition, what, timeout=30.0):
        end = time.monotonic() + timeout
        while not condition():
            assert time.monotonic() < end, f"waited for {what}"
            time.sleep(0.02)

    def last(self, key):
        return self.heard[key][-1][1] if self.heard[key] else None

    def stand_at(self, x, y, yaw):
        m = Odometry()
        m.pose.pose.position.x, m.pose.pose.position.y = x, y
        m.pose.pose.orientation.z, m.pose.pose.orientation.w = math.sin(yaw / 2), math.cos(yaw / 2)
        self.truth.publish(m)

    def show(self, things):
        for name, at in things.items():
            m = Odometry()
            p = m.pose.pose.position
            p.x, p.y, p.z = at
            self.things[name].publish(m)

    def found(self):
        return all(p.get_subscription_count() for p in (self.truth, *self.things.values()))

    def close(self):
        self.executor.shutdown(2.0)
        self.context.try_shutdown()
        self.thread.join(5.0)


@pytest.fixture(scope="module")
def gazebo():
    claim = Domain()
    env = {**os.environ, "ROS_DOMAIN_ID": str(claim.number), "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}
    program = subprocess.Popen(
        interruptible(Odometry, ROOT / "sim" / "gazebo" / "standin.py"), env=env, preexec_fn=end_with_parent
    )
    peer = Gazebo(claim.number)
    try:
        peer.until(lambda: peer.heard["counters"] and peer.velocity.get_subscription_count(), "the stand-in", 60.0)
        yield peer
        # Ended in the middle of a message; the drive is told to stop.
        peer.until(peer.found, "the stand-in")
        peer.heard["drive"].clear()
        program.send_signal(signal.SIGUSR1)
        end = time.monotonic() + 30
        while program.poll() is None:
            assert time.monotonic() < end, "the stand-in does not end within 30 s of SIGINT"
            peer.stand_at(*TABLE)
            time.sleep(0.02)
        assert program.returncode == 0
        peer.until(lambda: peer.heard["drive"], "a last zero")
        assert peer.last("drive") == Twist()
    finally:
        program.kill()
        peer.close()
        claim.release()


def test_a_command_goes_on_to_the_drive_and_silence_stops_it(gazebo):
    m = Twist()
    m.linear.x, m.angular.z = 0.3, -0.2
    gazebo.velocity.publish(m)
    gazebo.until(lambda: gazebo.heard["drive"], "the command")
    at, first = gazebo.heard["drive"][0]
    assert (first.linear.x, first.angular.z) == (0.3, -0.2)
    gazebo.until(lambda: len(gazebo.heard["drive"]) > 1, "the stop")
    stopped, second = gazebo.heard["drive"][1]
    assert (second.linear.x, second.angular.z) == (0.0, 0.0)
    assert stopped - at > 0.3, "it is stopped before 0.5 s of silence"


def test_what_is_not_finite_is_a_stop_and_counts(gazebo):
    before = counters(gazebo)["/cmd_vel"]
    gazebo.heard["drive"].clear()
    m = Twist()
    m.linear.x = math.nan
    gazebo.velocity.publish(m)
    gazebo.until(lambda: gazebo.heard["drive"], "what becomes of it")
    assert gazebo.heard["drive"][0][1].linear.x == 0.0
    gazebo.until(lambda: counters(gazebo)["/cmd_vel"] == before + 1, "the count")


def test_an_old_stamp_moves_nothing(gazebo):
    gazebo.heard["drive"].clear()
    before = counters(gazebo)["/cmd_vel_stamped"]
    m = TwistStamped()
    m.header.stamp = (gazebo.node.get_clock().now() - rclpy.duration.Duration(seconds=5)).to_msg()
    m.twist.linear.x = 0.3
    gazebo.stamped.publish(m)
    gazebo.until(lambda: counters(gazebo)["/cmd_vel_stamped"] == before + 1, "the count")
    assert all(d.linear.x == 0.0 for _, d in gazebo.heard["drive"])


def counters(gazebo):
    gazebo.heard["counters"].clear()
    gazebo.until(lambda: gazebo.heard["counters"], "counters")
    return {v.key: int(v.value) for v in gazebo.last("counters").status[0].values}


def test_the_camera_sees_what_lies_before_it_and_not_what_is_hidden(gazebo):
    def seen_from(pose, wanted):
        """What is seen from there, when it has come to be what is wanted."""

        def shown():
            gazebo.stand_at(*pose)
            gazebo.show(CUBES)
            return gazebo.last("seen") and {d.id for d in gazebo.last("seen").detections} == wanted

        gazebo.until(shown, f"{wanted} to be seen")
        return gazebo.last("seen")

    gazebo.until(gazebo.found, "the stand-in")
    before = seen_from(TABLE, {"red cube", "blue cube"})
    assert before.header.frame_id == "camera_link"
    for d in before.detections:
        p = d.results[0].pose.pose.position
        x, y, z = CUBES[d.id.replace(" ", "_")]
        # The camera is on its mast at (-0.15, -0.09, 0.62) in base_link, tilted 0.40 rad down.
        dx, dy, dz = x - TABLE[0] + 0.15, y - TABLE[1] + 0.09, z - 0.62
        along, up = dx * math.cos(0.4) - dz * math.sin(0.4), dx * math.sin(0.4) + dz * math.cos(0.4)
        assert (p.x, p.y, p.z) == pytest.approx((along, dy, up), abs=0.015)
    seen_from((2.25, -1.6, math.pi), set())  # behind it
    seen_from(TABLE, {"red cube", "blue cube"})
    seen_from((-1.6, -1.5, 0.0), set())  # too far away
    assert {d.id for d in gazebo.last("objects").detections} == {"red cube", "blue cube"}
