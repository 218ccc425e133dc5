"""A wheeled robot on ROS 1: a base that obeys cmd_vel, and move_base by actionlib, both on rospy.

usage: /usr/bin/python3 robot.py [--clock]

It has the field's manners: the velocity topic is shared with the navigator; a preempted goal is answered at once, while
the base still brakes; map -> odom is stamped into the future, as amcl does; odometry jitters. The truth is told on
/truth (JSON), what it received too. Faults come on /fault: abort, ignore_cancel, or nothing. /begin puts it back where
it began, at rest, without fault and with nothing counted.
With --clock it tells simulated time, which runs at the pace of the machine's.
"""

import json
import math
import random
import sys
import threading
import time

import actionlib
import rospy
import tf2_ros
from geometry_msgs.msg import Quaternion, TransformStamped, Twist
from move_base_msgs.msg import MoveBaseAction, MoveBaseFeedback, MoveBaseResult
from nav_msgs.msg import OccupancyGrid, Odometry
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import BatteryState
from std_msgs.msg import Empty as Nothing
from std_msgs.msg import String
from std_srvs.srv import Empty, EmptyResponse

TICK = 0.02  # s
ACCELERATION, BRAKE, TURN = 0.8, 1.0, 2.5  # m/s2, m/s2, rad/s2
SILENCE = 0.5  # s without a velocity: stop


def quaternion(yaw):
    return Quaternion(0.0, 0.0, math.sin(yaw / 2), math.cos(yaw / 2))


def yaw_of(q):
    return 2 * math.atan2(q.z, q.w)


def wrap(angle):
    return math.atan2(math.sin(angle), math.cos(angle))


def approach(now, want, step):
    return now + max(-step, min(step, want - now))


class Robot:
    def __init__(self, clock):
        self.lock = threading.Lock()
        self.begun = 0
        self.on_begin()
        self.clock = rospy.Publisher("/clock", Clock, queue_size=1) if clock else None
        self.began = time.monotonic()
        self.velocity = rospy.Publisher("/cmd_vel", Twist, queue_size=1)
        self.odom = rospy.Publisher("/odom", Odometry, queue_size=5)
        self.truth = rospy.Publisher("/truth", String, queue_size=5)
        self.battery = rospy.Publisher("/battery_state", BatteryState, queue_size=1)
        self.map = rospy.Publisher("/map", OccupancyGrid, queue_size=1, latch=True)
        self.map.publish(self.grid())
        self.tf = tf2_ros.TransformBroadcaster()
        self.static = tf2_ros.StaticTransformBroadcaster()
        rospy.Subscriber("/cmd_vel", Twist, self.on_velocity, queue_size=5)
        rospy.Subscriber("/fault", String, self.on_fault)
        rospy.Subscriber("/begin", Nothing, self.on_begin)
        rospy.Service("~clear_costmaps", Empty, self.on_clear)
        self.server = actionlib.SimpleActionServer("move_base", MoveBaseAction, self.navigate, auto_start=False)
        self.server.register_preempt_callback(self.on_preempt)
        self.server.start()

    def grid(self):
        """Six by four metres, free, in a wall."""
        m = OccupancyGrid()
        m.header.frame_id = "map"
        m.info.resolution, m.info.width, m.info.height = 0.05, 120, 80
        m.info.origin.position.x, m.info.origin.position.y, m.info.origin.orientation.w = -3.0, -2.0, 1.0
        m.data = [100 if i in (0, 119) or j in (0, 79) else 0 for j in range(80) for i in range(120)]
        return m

    def on_velocity(self, m):
        with self.lock:
            self.want, self.heard = (m.linear.x, m.angular.z), time.monotonic()
            caller = m._connection_header["callerid"]
            if (m.linear.x or m.angular.z) and caller != rospy.get_name():
                self.counters["velocities"] += 1

    def on_begin(self, _=None):
        with self.lock:
            self.x = self.y = self.yaw = self.v = self.w = 0.0
            self.want, self.heard = (0.0, 0.0), 0.0
            self.fault = ""
            self.counters = {"goals": 0, "velocities": 0, "cancels": 0, "costmaps": 0}
            self.begun += 1

    def on_fault(self, m):
        self.fault = m.data

    def on_clear(self, _):
        self.counters["costmaps"] += 1
        return EmptyResponse()

    def on_preempt(self):
        self.counters["cancels"] += 1

    def send(self, v, w):
        t = Twist()
        t.linear.x, t.angular.z = v, w
        self.velocity.publish(t)

    def navigate(self, goal):
        """Turns, drives and turns, as far as nobody cancels."""
        self.counters["goals"] += 1
        p = goal.target_pose.pose
        x, y, yaw = p.position.x, p.position.y, yaw_of(p.orientation)
        while not rospy.is_shutdown():
            if self.server.is_preempt_requested() and self.fault != "ignore_cancel":
                self.send(0.0, 0.0)
                self.server.set_preempted()  # as move_base does: now, though the base still brakes
                return
            if self.fault == "abort":
                self.send(0.0, 0.0)
                self.server.set_aborted(MoveBaseResult(), "no way to the goal")
                return
            far = math.hypot(x - self.x, y - self.y)
            bearing = wrap(math.atan2(y - self.y, x - self.x) - self.yaw)
            last = wrap(yaw - self.yaw)
            if far > 0.06 and abs(bearing) > 0.25:
                self.send(0.0, max(-0.9, min(0.9, 2.0 * bearing)))
            elif far > 0.06:
                self.send(min(0.4, 0.9 * far), 1.5 * bearing)
            elif abs(last) > 0.05:
                self.send(0.0, max(-0.9, min(0.9, 2.0 * last)))
            else:
                self.send(0.0, 0.0)
                self.server.set_succeeded(MoveBaseResult(), "there")
                return
            feedback = MoveBaseFeedback()
            feedback.base_position.header.frame_id = "map"
            feedback.base_position.pose.position.x, feedback.base_position.pose.position.y = self.x, self.y
            feedback.base_position.pose.orientation = quaternion(self.yaw)
            self.server.publish_feedback(feedback)
            time.sleep(0.1)

    def step(self, dt):
        with self.lock:
            v, w = self.want if time.monotonic() - self.heard < SILENCE else (0.0, 0.0)
            rate = BRAKE if abs(v) < abs(self.v) else ACCELERATION
            self.v, self.w = approach(self.v, v, rate * dt), approach(self.w, w, TURN * dt)
            self.x += self.v * math.cos(self.yaw) * dt
            self.y += self.v * math.sin(self.yaw) * dt
            self.yaw = wrap(self.yaw + self.w * dt)

    def transform(self, parent, child, stamp, yaw=0.0, x=0.0, y=0.0):
        t = TransformStamped()
        t.header.stamp, t.header.frame_id, t.child_frame_id = stamp, parent, child
        t.transform.translation.x, t.transform.translation.y = x, y
        t.transform.rotation = quaternion(yaw)
        return t

    def tell(self, tick):
        now = rospy.Time.now()
        if tick % 2 == 0 and random.random() < 0.9:  # now and then one is missing
            m = Odometry()
            m.header.stamp, m.header.frame_id, m.child_frame_id = now, "odom", "base_link"
            m.pose.pose.position.x, m.pose.pose.position.y = self.x, self.y
            m.pose.pose.orientation = quaternion(self.yaw)
            m.twist.twist.linear.x, m.twist.twist.angular.z = self.v, self.w
            self.odom.publish(m)
            self.tf.sendTransform(self.transform("odom", "base_link", now, self.yaw, self.x, self.y))
        if tick % 5 == 0:
            self.tf.sendTransform(self.transform("map", "odom", now + rospy.Duration(0.1)))
            state = {"x": self.x, "y": self.y, "yaw": self.yaw, "v": self.v, "w": self.w, "begun": self.begun}
            state.update(self.counters)
            self.truth.publish(json.dumps(state))
        if tick % 50 == 0:
            self.battery.publish(BatteryState(percentage=0.8, voltage=12.1))

    def run(self):
        next_tick, tick = time.monotonic(), 0
        while not rospy.is_shutdown():
            if self.clock:
                t = 1000.0 + time.monotonic() - self.began
                self.clock.publish(Clock(rospy.Time.from_sec(t)))
            self.step(TICK)
            if not self.clock or rospy.Time.now().to_sec() > 0:
                if tick == 0:
                    self.static.sendTransform(self.transform("base_link", "base_scan", rospy.Time.now(), x=0.1))
                self.tell(tick)
                tick += 1
            next_tick += TICK
            time.sleep(max(0.0, next_tick - time.monotonic()))


if __name__ == "__main__":
    rospy.init_node("move_base", disable_signals=False)
    Robot("--clock" in sys.argv).run()
