"""What ros2_control's joint_trajectory_controller does with a goal: checks, interpolation, tolerances.

A point is (time, positions, velocities, accelerations); velocities and accelerations may be empty.
"""

import math

SUCCESSFUL, INVALID_GOAL, INVALID_JOINTS, OLD_STAMP, PATH_TOLERANCE, GOAL_TOLERANCE = 0, -1, -2, -3, -4, -5

PATH, GOAL, GOAL_VELOCITY, GOAL_TIME = 0.20, 0.02, 0.01, 1.0  # rad, rad, rad/s, s
SLOWING = 2.5  # 1/s, how fast the trajectory's time is brought to rest


class Bad(Exception):
    """Why a goal is refused or ends: a code of control_msgs/action/FollowJointTrajectory."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def check(names, asked, points, age=0.0):
    """The points with their joints in the order of names; Bad where the controller would refuse them. Age is how long
    ago the trajectory should have begun, s."""
    if sorted(asked) != sorted(names):
        raise Bad(INVALID_JOINTS, f"the joints are {list(names)}, each once, and not {list(asked)}")
    if not points:
        raise Bad(INVALID_GOAL, "there are no points")
    order = [list(asked).index(n) for n in names]
    out, last = [], -math.inf
    for i, (t, *values) in enumerate(points):
        if not values[0]:
            raise Bad(INVALID_GOAL, f"point {i} has no positions")
        if any(len(v) not in (0, len(names)) for v in values):
            raise Bad(INVALID_GOAL, f"point {i} has not {len(names)} numbers of each")
        if not all(math.isfinite(x) for v in values for x in v):
            raise Bad(INVALID_GOAL, f"point {i} has a number that is not finite")
        if t < 0 or t <= last:
            raise Bad(INVALID_GOAL, f"point {i} is at {t:.3f} s, not after {last:.3f} s")
        last = t
        out.append((t, *([v[k] for k in order] if v else [] for v in values)))
    if any(abs(v) > 1e-9 for v in out[-1][2]):
        raise Bad(INVALID_GOAL, "the last point has a velocity")
    if age > last:
        raise Bad(OLD_STAMP, f"it should have ended {age - last:.3f} s ago")
    return out


class Trajectory:
    """A way through points, from where the joints are."""

    def __init__(self, points, positions, velocities):
        if points[0][0] == 0:
            off = max(abs(a - b) for a, b in zip(points[0][1], positions, strict=True))
            if off > 0.05:
                raise Bad(INVALID_GOAL, f"the first point, at 0 s, is {off:.3f} rad from where a joint is")
            self.points = points
        else:
            self.points = [(0.0, list(positions), list(velocities), []), *points]

    def end(self):
        return self.points[-1][0]

    def at(self, t):
        """Positions and velocities at a time."""
        if t >= self.end():
            return list(self.points[-1][1]), [0.0] * len(self.points[-1][1])
        k = max(i for i, p in enumerate(self.points) if p[0] <= max(t, self.points[0][0]))
        k = min(k, len(self.points) - 2)
        a, b = self.points[k], self.points[k + 1]
        pairs = [_between(a, b, j, max(t, a[0])) for j in range(len(a[1]))]
        return [q for q, _ in pairs], [v for _, v in pairs]


def _between(a, b, j, t):
    """A line between two points; a cubic where both have velocities, a quintic where both have accelerations, too."""
    h, s = b[0] - a[0], (t - a[0]) / (b[0] - a[0])
    p, q = a[1][j], b[1][j]
    if not (a[2] and b[2]):
        return p + (q - p) * s, (q - p) / h
    v, w = a[2][j] * h, b[2][j] * h
    d = q - p
    if not (a[3] and b[3]):
        c2, c3 = 3 * d - 2 * v - w, -2 * d + v + w
        return p + s * (v + s * (c2 + s * c3)), (v + s * (2 * c2 + s * 3 * c3)) / h
    x, y = a[3][j] * h * h, b[3][j] * h * h
    c3 = 10 * d - 6 * v - 4 * w - 1.5 * x + 0.5 * y
    c4 = -15 * d + 8 * v + 7 * w + 1.5 * x - y
    c5 = 6 * d - 3 * v - 3 * w - 0.5 * x + 0.5 * y
    position = p + s * (v + s * (x / 2 + s * (c3 + s * (c4 + s * c5))))
    return position, (v + s * (x + s * (3 * c3 + s * (4 * c4 + s * 5 * c5)))) / h


class Tolerances:
    """How far each joint may be off, (rad, rad/s) each, on the path and at its end; 0 is no limit."""

    def __init__(self, names):
        self.names, self.time = list(names), GOAL_TIME
        self.path = {n: [PATH, 0.0] for n in names}
        self.goal = {n: [GOAL, GOAL_VELOCITY] for n in names}

    def take(self, which, name, position, velocity):
        """What a goal says: 0 is the default, a negative number no limit."""
        for i, say in enumerate((position, velocity)):
            if name in which and say != 0:
                which[name][i] = max(0.0, say)


class Follower:
    """Leads the arm along one trajectory."""

    def __init__(self, trajectory, tolerances):
        self.trajectory, self.tolerances = trajectory, tolerances
        self.time, self.rate, self.stopped = 0.0, 1.0, False
        self.desired = trajectory.at(0.0)

    def stop(self):
        """Brings the arm to rest on its path, for good."""
        self.stopped = True

    def step(self, positions, velocities, scaling, dt):
        """What the arm should do, and whether it is there. Bad where it is out of its tolerances."""
        wanted = 0.0 if self.stopped else scaling
        self.rate += min(max(wanted - self.rate, -SLOWING * dt), SLOWING * dt)
        self.time += self.rate * dt
        q, v = self.trajectory.at(self.time)
        self.desired = q, [x * self.rate for x in v]
        if self.stopped:
            return self.desired, False
        late = self.time - self.trajectory.end()
        off = {
            n: (abs(q[i] - positions[i]), abs(self.desired[1][i] - velocities[i]))
            for i, n in enumerate(self.tolerances.names)
        }
        if late < 0:
            self._judge(off, self.tolerances.path, PATH_TOLERANCE)
            return self.desired, False
        try:
            self._judge(off, self.tolerances.goal, GOAL_TOLERANCE)
        except Bad:
            if self.tolerances.time < 0 or late <= self.tolerances.time:
                return self.desired, False
            raise
        return self.desired, True

    def _judge(self, off, limits, code):
        for name, (position, velocity) in off.items():
            far, fast = limits[name]
            if far and not position <= far or fast and not velocity <= fast:
                raise Bad(
                    code,
                    f"{name} is off by {position:.3f} rad and {velocity:.3f} rad/s at {self.time:.2f} s,"
                    f" allowed are {far or 'any'} and {fast or 'any'}",
                )
