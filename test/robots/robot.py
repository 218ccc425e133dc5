"""Stand-ins of robots, with the interfaces that theirs have and the field's bad habits (habits.py): a TurtleBot with
Nav2, a six-joint arm on ros2_control, and both together.

usage: python3 robot.py turtlebot|turtlebot_stamped|arm|mobile_manipulator [--ros-args -p habit.NAME:=VALUE ...]

Beside what the robot itself shows there are /sim/ground_truth and /sim/joint_truth, which no habit touches,
/sim/counters, and the parameters sim.teleport (x, y, yaw), sim.arm (six positions), sim.hold and sim.thing (m, between
the fingers).
"""

import signal
import sys
import threading

import rclpy
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from nav_msgs.msg import Odometry
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState

from arm import Arm
from base import Base
from habits import Habits
from nav2 import Nav2

RESTART = 1.5  # s


class Robot:
    """One of the robots, on nodes of its own."""

    def __init__(self, kind):
        self.nodes = {}
        self.executor = SingleThreadedExecutor()
        self.main = self.node("sim_robot", parameters=True)
        self.habits = Habits(self.main)
        self.habits.on_change = self._on_habit
        truth = self.main.create_publisher(Odometry, "/sim/ground_truth", 50)
        self.stands = truth if kind == "arm" else None
        self.base = self.arm = None
        self.servers = []
        if kind != "arm":
            stamped = kind == "turtlebot_stamped"
            self.base = Base(self.node, self.habits, stamped, truth)
            self.servers += Nav2(self.node, self.base, self.habits, stamped).servers
        if kind in ("arm", "mobile_manipulator"):
            joints = self.main.create_publisher(JointState, "/sim/joint_truth", 50)
            self.arm = Arm(self.node, self.habits, joints, kind == "arm", kind != "arm")
            self.servers += self.arm.servers
        self.counters = self.main.create_publisher(DiagnosticArray, "/sim/counters", 10)
        self.main.create_timer(0.1, self._count)
        for name, value in (
            ("sim.teleport", [0.0, 0.0, 0.0]),
            ("sim.arm", [0.0] * 6),
            ("sim.hold", False),
            ("sim.thing", 0.0),
        ):
            self.main.declare_parameter(name, value)
        self.main.add_post_set_parameters_callback(self._on_set)
        self.down = threading.Event()
        for part in (self.base, self.arm):
            if part:
                part.start()

    def node(self, name, namespace="", parameters=False):
        """A node of that name, one for each."""
        n = rclpy.create_node(name, namespace=namespace, start_parameter_services=parameters, enable_rosout=False)
        self.executor.add_node(n)
        self.nodes[name] = n
        return n

    def _on_set(self, parameters):
        for p in parameters:
            if p.name == "sim.teleport" and self.base:
                self.base.put(*p.value)
            elif p.name == "sim.arm" and self.arm:
                self.arm.put(p.value)
            elif p.name == "sim.hold" and self.arm:
                self.arm.hold(p.value)
            elif p.name == "sim.thing" and self.arm:
                self.arm.thing = p.value

    def _on_habit(self, name):
        """In the executor's thread, as everything that makes or ends publishers and services must be."""
        if name == "best_effort":
            for tell in (self.base and self.base.tell_odometry, self.arm and self.arm.tell_states):
                if tell:
                    tell()
        elif name == "map_latched" and self.base:
            self.base.tell_map()
        elif name == "restart" and self.habits.restart:
            for s in self.servers:
                s.close()
            timer = self.main.create_timer(RESTART, lambda: self._back(timer))

    def _back(self, timer):
        timer.cancel()
        for s in self.servers:
            s.open()

    def _count(self):
        counts = {}
        for s in self.servers:
            counts[s.name], counts[f"{s.name} cancels"] = s.accepted, s.cancels
        if self.base:
            counts["/cmd_vel"] = self.base.commands
        values = [KeyValue(key=k, value=str(v)) for k, v in counts.items()]
        self.counters.publish(DiagnosticArray(status=[DiagnosticStatus(name="stand-in", values=values)]))
        if self.stands:
            m = Odometry()
            m.header.frame_id, m.header.stamp = "map", self.main.get_clock().now().to_msg()
            m.pose.pose.orientation.w = 1.0
            self.stands.publish(m)

    def close(self):
        for part in (self.base, self.arm):
            if part:
                part.close()


def main():
    rclpy.init(args=sys.argv, signal_handler_options=SignalHandlerOptions.NO)
    robot = Robot(sys.argv[1])
    over = threading.Event()
    for s in (signal.SIGINT, signal.SIGTERM):
        signal.signal(s, lambda *_: over.set())
    while not over.is_set():
        try:
            robot.executor.spin_once(timeout_sec=0.2)
        except ExternalShutdownException:
            break
    robot.close()


if __name__ == "__main__":
    main()
