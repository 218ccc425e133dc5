"""What truly happens, by /sim/ground_truth and /sim/counters: no fault touches them."""

import math
import time

from diagnostic_msgs.msg import DiagnosticArray
from nav_msgs.msg import Odometry

# What counts as rest in the truth: the rule's thresholds and a little for rounding.
REST_LINEAR, REST_ANGULAR = 0.011, 0.022

PLACES = {"kitchen": (1.4, 1.5), "office": (-3.0, 1.5), "dock": (-1.6, -1.5), "table": (2.25, -1.6)}


def stamp(m):
    """A message's stamp in seconds."""
    return m.header.stamp.sec + m.header.stamp.nanosec * 1e-9


def still(m):
    t = m.twist.twist
    return math.hypot(t.linear.x, t.linear.y) <= REST_LINEAR and abs(t.angular.z) <= REST_ANGULAR


class Truth:
    """The newest truth, and all of it since the last fresh start."""

    def __init__(self, node, namespace=""):
        self.samples, self.counts = [], {}
        node.create_subscription(Odometry, f"{namespace}/sim/ground_truth", self._on_truth, 50)
        node.create_subscription(DiagnosticArray, f"{namespace}/sim/counters", self._on_counters, 10)

    def _on_truth(self, m):
        self.samples.append((time.monotonic(), m))

    def _on_counters(self, m):
        self.counts = {v.key: int(v.value) for s in m.status for v in s.values}

    def newest(self):
        return self.samples[-1][1]

    def speed(self):
        t = self.newest().twist.twist
        return math.hypot(t.linear.x, t.linear.y), abs(t.angular.z)

    def pose(self):
        p = self.newest().pose.pose
        return p.position.x, p.position.y, 2 * math.atan2(p.orientation.z, p.orientation.w)

    def before(self, moment, count):
        """The last samples stamped before a moment (time.time())."""
        return [m for _, m in self.samples if stamp(m) <= moment][-count:]

    def path(self, since=0.0):
        """Metres driven since a moment (time.time())."""
        points = [m.pose.pose.position for _, m in self.samples if stamp(m) >= since]
        return sum(math.hypot(b.x - a.x, b.y - a.y) for a, b in zip(points, points[1:], strict=False))

    def still_since(self):
        """Since when (time.time()) the robot has truly stood still."""
        since = stamp(self.newest())
        for _, m in reversed(self.samples):
            if not still(m):
                break
            since = stamp(m)
        return since
