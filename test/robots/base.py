"""A wheeled base as a TurtleBot's drivers, its localisation and its map server show it: /cmd_vel in, odometry,
transforms, scan, battery and map out. The truth is integrated here."""

import math
import random
import threading
import time

from geometry_msgs.msg import PoseWithCovarianceStamped, TransformStamped, Twist, TwistStamped
from nav_msgs.msg import OccupancyGrid, Odometry
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy, qos_profile_sensor_data
from sensor_msgs.msg import BatteryState, LaserScan
from tf2_msgs.msg import TFMessage

STEP = 0.02  # s
ACCELERATION, ANGULAR_ACCELERATION = 2.5, 3.2  # as Nav2's defaults
SILENCE = 0.5  # s without a velocity, after which it stops: diff_drive_controller's cmd_vel_timeout
OFFSET = (0.3, -0.2, 0.1)  # of the odometry's frame in the map: m, m, rad

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)

# The room, m in the map frame: what it is bounded by, and what stands in it.
ROOM = (-4.0, -3.0, 4.0, 3.0)
BLOCK = (1.6, -0.4, 2.2, 0.4)
CELL = 0.05


def cells():
    """The map's width, height and data."""
    width, height = round((ROOM[2] - ROOM[0]) / CELL), round((ROOM[3] - ROOM[1]) / CELL)
    data = []
    for j in range(height):
        y = ROOM[1] + (j + 0.5) * CELL
        for i in range(width):
            x = ROOM[0] + (i + 0.5) * CELL
            wall = i < 2 or j < 2 or i >= width - 2 or j >= height - 2
            data.append(100 if wall or inside(x, y, 0.0) else 0)
    return width, height, data


def inside(x, y, margin):
    """Within the block."""
    return BLOCK[0] - margin < x < BLOCK[2] + margin and BLOCK[1] - margin < y < BLOCK[3] + margin


def free(x, y, margin=0.25):
    """A robot that reaches so far has room there."""
    in_room = (
        ROOM[0] + margin + 0.1 < x < ROOM[2] - margin - 0.1 and ROOM[1] + margin + 0.1 < y < ROOM[3] - margin - 0.1
    )
    return in_room and not inside(x, y, margin)


def seen(x, y, angle, reach):
    """How far a ray goes."""
    far = reach
    c, s = math.cos(angle), math.sin(angle)
    for x0, y0, x1, y1 in (ROOM, BLOCK):
        for edge, at, d, other, e, low, high in (
            (x0, x, c, y, s, y0, y1),
            (x1, x, c, y, s, y0, y1),
            (y0, y, s, x, c, x0, x1),
            (y1, y, s, x, c, x0, x1),
        ):
            if abs(d) > 1e-9:
                t = (edge - at) / d
                if 0.0 < t < far and low <= other + t * e <= high:
                    far = t
    return far


def turned(q, yaw):
    q.z, q.w = math.sin(yaw / 2), math.cos(yaw / 2)


def compose(a, b):
    """Pose b, seen in a's parent."""
    c, s = math.cos(a[2]), math.sin(a[2])
    return a[0] + c * b[0] - s * b[1], a[1] + s * b[0] + c * b[1], a[2] + b[2]


def inverse(a):
    c, s = math.cos(a[2]), math.sin(a[2])
    return -c * a[0] - s * a[1], s * a[0] - c * a[1], -a[2]


class Base:
    """The base: unicycle kinematics at bounded accelerations."""

    def __init__(self, nodes, habits, stamped, truth):
        self.habits, self.truth = habits, truth
        self.lock = threading.Lock()
        self.pose, self.v, self.w = (0.0, 0.0, 0.0), 0.0, 0.0  # in the map
        self.command, self.heard = (0.0, 0.0), -math.inf
        self.commands = 0  # other than zero
        self.over = threading.Event()
        self.wheels, self.amcl, self.maps = nodes("diffdrive_controller"), nodes("amcl"), nodes("map_server")
        self.body = nodes("turtlebot_node")
        kind = TwistStamped if stamped else Twist
        self.wheels.create_subscription(kind, "/cmd_vel", lambda m: self._on_velocity(m.twist if stamped else m), 10)
        self.odometry = self.map = None
        self.tell_odometry()
        self.links = self.wheels.create_publisher(TFMessage, "/tf", 100)
        self.localised = self.amcl.create_publisher(TFMessage, "/tf", 100)
        self.where = self.amcl.create_publisher(PoseWithCovarianceStamped, "/amcl_pose", LATCHED)
        self.scan = self.body.create_publisher(LaserScan, "/scan", qos_profile_sensor_data)
        self.battery = self.body.create_publisher(BatteryState, "/battery_state", 10)
        self.tell_map()
        self.costs = nodes("local_costmap", "/local_costmap").create_publisher(
            OccupancyGrid, "/local_costmap/costmap", LATCHED
        )
        self.corrected = None
        self.threads = [threading.Thread(target=f, daemon=True) for f in (self._move, self._measure, self._slowly)]

    def start(self):
        for t in self.threads:
            t.start()

    def tell_odometry(self):
        """Makes the odometry's publisher, of the quality of service that the habits say."""
        effort = ReliabilityPolicy.BEST_EFFORT if self.habits.best_effort else ReliabilityPolicy.RELIABLE
        made = self.wheels.create_publisher(Odometry, "/odom", QoSProfile(depth=10, reliability=effort))
        with self.lock:  # nobody publishes meanwhile
            old, self.odometry = self.odometry, made
        if old is not None:
            self.wheels.destroy_publisher(old)

    def tell_map(self):
        """Makes the map's publisher, latched or not, and tells the map."""
        made = self.maps.create_publisher(OccupancyGrid, "/map", LATCHED if self.habits.map_latched else 1)
        made.publish(self._map())
        with self.lock:
            old, self.map = self.map, made
        if old is not None:
            self.maps.destroy_publisher(old)

    def _map(self):
        m = OccupancyGrid()
        m.header.frame_id, m.header.stamp = "map", self.now()
        m.info.resolution = CELL
        m.info.width, m.info.height, data = cells()
        m.info.origin.position.x, m.info.origin.position.y = ROOM[0], ROOM[1]
        m.info.origin.orientation.w = 1.0
        m.data = data
        return m

    def now(self):
        return self.wheels.get_clock().now().to_msg()

    def put(self, x, y, yaw):
        """Puts it down elsewhere, at rest; localisation knows."""
        with self.lock:
            self.pose, self.v, self.w, self.command = (x, y, yaw), 0.0, 0.0, (0.0, 0.0)

    def _on_velocity(self, t):
        with self.lock:
            self.command, self.heard = (t.linear.x, t.angular.z), time.monotonic()
            self.commands += self.command != (0.0, 0.0)

    def _move(self):
        """At a steady rate, by the time that has passed."""
        last = time.monotonic()
        while not self.over.wait(STEP):
            now = time.monotonic()
            dt, last = min(now - last, 0.1), now
            with self.lock:
                v, w = self.command if now - self.heard < SILENCE else (0.0, 0.0)
                self.v += min(max(v - self.v, -ACCELERATION * dt), ACCELERATION * dt)
                self.w += min(max(w - self.w, -ANGULAR_ACCELERATION * dt), ANGULAR_ACCELERATION * dt)
                x, y, yaw = self.pose
                middle = yaw + self.w * dt / 2
                self.pose = (x + self.v * math.cos(middle) * dt, y + self.v * math.sin(middle) * dt, yaw + self.w * dt)
                pose, v, w = self.pose, self.v, self.w
            m = self._odometry(pose, v, w)
            m.header.frame_id = "map"
            self.truth.publish(m)

    def _odometry(self, pose, v, w):
        m = Odometry()
        m.header.stamp = self.now()
        m.header.frame_id, m.child_frame_id = "odom", "base_link"
        p = m.pose.pose
        p.position.x, p.position.y = pose[0], pose[1]
        turned(p.orientation, pose[2])
        m.twist.twist.linear.x, m.twist.twist.angular.z = v, w
        return m

    def _measure(self):
        """Odometry and its transform, and localisation's, which is stamped in the future as AMCL does it."""
        begun, due = time.monotonic(), time.monotonic()
        while not self.over.is_set():
            with self.lock:
                pose, v, w = self.pose, self.v, self.w
            local = compose(inverse(OFFSET), pose)
            m = self._odometry(local, v + random.gauss(0.0, 3e-4) * (v != 0.0), w)
            if self.habits.jitter > 0:  # it was measured now, and comes later
                self.over.wait(self.habits.odometry_period * random.uniform(0.0, self.habits.jitter))
            with self.lock:
                self.odometry.publish(m)
            if (time.monotonic() - begun) % 4.0 >= self.habits.tf_gap:
                self.links.publish(TFMessage(transforms=[link("odom", "base_link", local, m.header.stamp)]))
                ahead = self.wheels.get_clock().now()
                ahead = type(ahead)(nanoseconds=ahead.nanoseconds + 1_000_000_000, clock_type=ahead.clock_type)
                self.localised.publish(TFMessage(transforms=[link("map", "odom", OFFSET, ahead.to_msg())]))
            self._correct(pose)
            due = max(due + self.habits.odometry_period, time.monotonic() - 0.1)
            self.over.wait(max(0.0, due - time.monotonic()))

    def _correct(self, pose):
        """AMCL tells its pose only after it has driven some way."""
        if self.corrected and math.dist(pose[:2], self.corrected[:2]) < 0.25 and abs(pose[2] - self.corrected[2]) < 0.2:
            return
        self.corrected = pose
        m = PoseWithCovarianceStamped()
        m.header.frame_id, m.header.stamp = "map", self.now()
        m.pose.pose.position.x, m.pose.pose.position.y = pose[0], pose[1]
        turned(m.pose.pose.orientation, pose[2])
        for i, of in ((0, 0.04), (7, 0.04), (35, 0.02)):
            m.pose.covariance[i] = of
        self.where.publish(m)

    def _slowly(self):
        count = 0
        while not self.over.wait(0.2):
            count += 1
            with self.lock:
                x, y, yaw = self.pose
            m = LaserScan(angle_min=-math.pi, angle_increment=math.radians(4), range_min=0.12, range_max=3.5)
            m.angle_max = m.angle_min + 89 * m.angle_increment
            m.header.frame_id, m.header.stamp = "base_link", self.now()
            m.ranges = [
                d if d < m.range_max else math.inf
                for d in (seen(x, y, yaw + m.angle_min + i * m.angle_increment, m.range_max) for i in range(90))
            ]
            self.scan.publish(m)
            if count % 5 == 0:
                b = BatteryState(voltage=12.1, percentage=0.83, present=True)
                b.header.stamp = self.now()
                self.battery.publish(b)
                c = OccupancyGrid()
                c.header.frame_id, c.header.stamp = "odom", self.now()
                c.info.resolution, c.info.width, c.info.height = CELL, 60, 60
                c.info.origin.orientation.w = 1.0
                c.data = [0] * 3600
                self.costs.publish(c)
            if count % 10 == 0 and not self.habits.map_latched:
                m = self._map()
                with self.lock:
                    self.map.publish(m)

    def close(self):
        self.over.set()
        for t in self.threads:
            t.join(5.0)


def link(parent, child, pose, at):
    t = TransformStamped(child_frame_id=child)
    t.header.frame_id, t.header.stamp = parent, at
    t.transform.translation.x, t.transform.translation.y = pose[0], pose[1]
    turned(t.transform.rotation, pose[2])
    return t
