"""The base's speeds, its odometry and its localisation. A pose is (x, y, yaw), a twist is (m/s forward, rad/s to the
left)."""

import math

from flat import wrap


def compose(p, q):
    """The pose q, given in p's frame, in the frame that p is given in."""
    s, c = math.sin(p[2]), math.cos(p[2])
    return (p[0] + c * q[0] - s * q[1], p[1] + s * q[0] + c * q[1], wrap(p[2] + q[2]))


def inverse(p):
    """The pose that composes with p to none."""
    s, c = math.sin(p[2]), math.cos(p[2])
    return (-c * p[0] - s * p[1], s * p[0] - c * p[1], wrap(-p[2]))


def apart(p, q):
    """How far two poses are apart: m, rad."""
    return math.hypot(q[0] - p[0], q[1] - p[1]), abs(wrap(q[2] - p[2]))


class Ramp:
    """The set-point of the drives: it follows what is asked for within the base's limits."""

    def __init__(self, figures):
        self.figures = figures
        self.now = [0.0, 0.0]

    def step(self, wanted, dt):
        f = self.figures
        v = min(max(wanted[0], -f.linear), f.linear)
        w = min(max(wanted[1], -f.angular), f.angular)
        faster = abs(v) > abs(self.now[0]) and v * self.now[0] >= 0
        rate = f.linear_acceleration if faster else f.linear_deceleration
        self.now[0] += min(max(v - self.now[0], -rate * dt), rate * dt)
        rate = f.angular_acceleration
        self.now[1] += min(max(w - self.now[1], -rate * dt), rate * dt)
        return self.now

    def reset(self):
        self.now = [0.0, 0.0]


class Odometry:
    """What the wheels' encoders tell: lag, noise and errors of scale. Wheels that slip tell of it as of motion."""

    LAG = 0.06  # s
    SCALE = 0.002  # sigma of the wheels' radius and track, drawn once
    REST = (0.0006, 0.001)  # m/s and rad/s, sigma of what is always there

    def __init__(self, figures, random):
        self.figures, self.random = figures, random
        self.scale = 1 + self.SCALE * random.standard_normal(2)
        self.pose, self.twist, self.driven = (0.0, 0.0, 0.0), (0.0, 0.0), 0.0
        self.smooth = (0.0, 0.0)

    def step(self, left, right, dt):
        """The wheels' speeds, rad/s."""
        r, track = self.figures.wheel_radius * self.scale[0], self.figures.wheel_track * self.scale[1]
        v, w = r * (left + right) / 2, r * (right - left) / track
        k = dt / (self.LAG + dt)
        noise = self.random.standard_normal(2)
        # The noise is the reading's, and does not add up: encoders count.
        self.smooth = (self.smooth[0] + k * (v - self.smooth[0]), self.smooth[1] + k * (w - self.smooth[1]))
        self.twist = (self.smooth[0] + self.REST[0] * noise[0], self.smooth[1] + self.REST[1] * noise[1])
        self.pose = compose(self.pose, (v * dt, 0.0, w * dt))
        self.driven += abs(v) * dt


class Localisation:
    """Stands in for a particle filter on the map: it corrects the odometry's drift when odometry says that the robot
    moved, up to a small error, and says so as the pose of odom in map."""

    POSITION, HEADING = 0.006, 0.004  # m, rad, one sigma
    MEMORY = 0.8  # how much of an error the next one keeps
    MOVED, TURNED = 0.05, 0.05  # m, rad, before it corrects itself again

    def __init__(self, start, random):
        self.random = random
        self.map_to_odom, self.offset, self.last = start, [0.0, 0.0, 0.0], (0.0, 0.0, 0.0)

    def step(self, truth, odometry):
        moved, turned = apart(self.last, odometry)
        if moved < self.MOVED and turned < self.TURNED:
            return
        fresh = math.sqrt(1 - self.MEMORY**2)
        noise = self.random.standard_normal(3) * (self.POSITION, self.POSITION, self.HEADING)
        self.offset = [self.MEMORY * o + fresh * float(n) for o, n in zip(self.offset, noise, strict=True)]
        believed = tuple(t + o for t, o in zip(truth, self.offset, strict=True))
        self.map_to_odom, self.last = compose(believed, inverse(odometry)), odometry

    def reset(self, truth, odometry):
        """Takes the pose as given, as from a person who says where the robot is."""
        self.map_to_odom, self.offset, self.last = compose(truth, inverse(odometry)), [0.0, 0.0, 0.0], odometry
