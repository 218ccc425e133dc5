"""Servers and topics that a test puts between the node and the built-in robot: what they do to each other's messages is
up to the test. The robot's own are remapped out of the node's sight, so that the node meets the test's."""

import copy
import threading
import time

import rclpy
from action_msgs.msg import GoalStatus
from control_msgs.action import FollowJointTrajectory, GripperCommand
from rclpy.action import ActionClient, ActionServer, CancelResponse, GoalResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import MultiThreadedExecutor
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from vision_msgs.msg import Detection3DArray

ARM, GRIPPER = "/arm_controller/follow_joint_trajectory", "/gripper_controller/gripper_cmd"
JOINTS, DETECTIONS = "/joint_states", "/detections"
HIDDEN = "/behind"


def hidden(*names):
    """The remappings that take the robot's own out of sight."""
    return [f"{n}:={HIDDEN}{n}" for n in names]


class Between:
    """A node of the test's own, in a rig's domain."""

    def __init__(self, rig):
        self.context = rclpy.Context()
        rclpy.init(context=self.context, domain_id=rig.domain)
        self.node = rclpy.create_node("between", context=self.context)
        self.group = ReentrantCallbackGroup()
        self.executor = MultiThreadedExecutor(8, context=self.context)
        self.executor.add_node(self.node)
        self.over = threading.Event()
        self.thread = threading.Thread(target=self._spin, daemon=True)

    def spin(self):
        self.thread.start()
        return self

    def _spin(self):
        try:
            self.executor.spin()
        except Exception:  # the context ends under the executor
            pass

    def relay(self, kind, topic, change):
        """Passes a topic on: what change makes of each message, or nothing where it makes none."""
        publisher = self.node.create_publisher(kind, topic, QoSProfile(depth=20))

        def on(m):
            m = change(m)
            if m is not None:
                publisher.publish(m)

        self.node.create_subscription(kind, HIDDEN + topic, on, 50, callback_group=self.group)

    def joint_states(self, change):
        self.relay(JointState, JOINTS, change)

    def detections(self, change):
        self.relay(Detection3DArray, DETECTIONS, change)

    def close(self):
        self.over.set()
        self.executor.shutdown(2.0)
        self.context.try_shutdown()
        self.thread.join(5.0)


class Proxy:
    """An action server that has the robot's own carry its goals out."""

    def __init__(self, between, kind, name):
        self.between, self.kind = between, kind
        n, group = between.node, between.group
        self.goals, self.cancels = 0, 0
        self.behind = ActionClient(n, kind, HIDDEN + name, callback_group=group)
        self.handle = None  # at the robot's own
        self.front = ActionServer(
            n,
            kind,
            name,
            self.execute,
            goal_callback=lambda _: GoalResponse.ACCEPT,
            cancel_callback=self.on_cancel,
            callback_group=group,
        )

    def on_cancel(self, _goal):
        self.cancels += 1
        return CancelResponse.ACCEPT

    def execute(self, goal):
        raise NotImplementedError

    def wait(self, future, timeout=30.0):
        done = threading.Event()
        future.add_done_callback(lambda _: done.set())
        assert done.wait(timeout), "no answer from the robot's own"
        return future.result()

    def send(self, goal):
        """Has the robot's own begin; self.result is its result, once there."""
        assert self.behind.wait_for_server(20.0)
        self.result = None
        self.handle = self.wait(self.behind.send_goal_async(goal))
        assert self.handle.accepted, "refused by the robot's own"
        self.handle.get_result_async().add_done_callback(lambda f: setattr(self, "result", f.result()))

    def halt(self):
        """Ends what the robot's own carries out."""
        if self.handle is not None:
            self.wait(self.handle.cancel_goal_async())


class Arm(Proxy):
    """A trajectory controller at a share of the commanded speed, which goes on for a while after a cancel."""

    def __init__(self, between, speed=1.0, coast=0.0):
        self.speed, self.coast = speed, coast
        super().__init__(between, FollowJointTrajectory, ARM)

    def slowed(self, goal):
        goal = copy.deepcopy(goal)
        if len(goal.trajectory.points) < 2:
            return goal  # where to hold
        for p in goal.trajectory.points:
            at = (p.time_from_start.sec + p.time_from_start.nanosec * 1e-9) / self.speed
            p.time_from_start.sec, p.time_from_start.nanosec = int(at), int(at % 1 * 1e9)
            p.velocities = [v * self.speed for v in p.velocities]
            p.accelerations = [a * self.speed**2 for a in p.accelerations]
        return goal

    def execute(self, goal):
        self.goals += 1
        self.send(self.slowed(goal.request))
        canceled = None
        while self.result is None and not self.between.over.is_set():
            time.sleep(0.02)
            if goal.is_cancel_requested and canceled is None:
                canceled = time.monotonic()
            if canceled is not None and time.monotonic() - canceled >= self.coast:
                self.halt()
                canceled = float("inf")
        if goal.is_cancel_requested:
            goal.canceled()
        elif self.result is not None and self.result.status == GoalStatus.STATUS_SUCCEEDED:
            goal.succeed()
        else:
            goal.abort()
        return self.result.result if self.result is not None else FollowJointTrajectory.Result()


class Gripper(Proxy):
    """A gripper whose goals end only by a cancel, once it is told to be so."""

    def __init__(self, between):
        self.forgets = False
        super().__init__(between, GripperCommand, GRIPPER)

    def execute(self, goal):
        self.goals += 1
        self.send(goal.request)
        while not self.between.over.is_set():
            time.sleep(0.05)
            if self.result is not None and not self.forgets:
                goal.succeed()
                return self.result.result
            if goal.is_cancel_requested:
                goal.canceled()
                return GripperCommand.Result()
            goal.publish_feedback(GripperCommand.Feedback(stalled=False))
        goal.abort()
        return GripperCommand.Result()
