"""Driving along a path: turn towards it, pure pursuit, turn as the goal does, stand. It recovers from nothing."""

import math

from flat import wrap

CRUISE, TURNING = 0.45, 0.80  # m/s, rad/s
TURN_FIRST, TURN_ENOUGH = 0.70, 0.15  # rad off the path: turn on the spot
ARRIVED, BESIDES = 0.01, 0.04  # m of path left; m beside the goal that is put right, once
ALIGNED, SLOW = 0.015, 0.10  # rad, rad/s
PATIENCE, PROGRESS = 5.0, 0.05  # s, m
REST = (0.01, 0.02)  # m/s, rad/s
AT_LEAST, AT_MOST = 0.1, 1.0  # s that it stands

FAILED_TO_MAKE_PROGRESS = 105


class NoProgress(Exception):
    """The base does not get on."""


class Pursuit:
    """Drives one path of at least one pose."""

    def __init__(self, path, figures):
        self.figures, self.corrected = figures, False
        self.stuck, self.anchor, self.stood = 0.0, None, 0.0
        self._follow(path)
        self.yaw_left = 0.0

    def _follow(self, path):
        self.path, self.at, self.phase = path, 0, "turn to path"
        self.ahead = [0.0] * len(path)
        for i in range(len(path) - 2, -1, -1):
            self.ahead[i] = self.ahead[i + 1] + math.dist(path[i][:2], path[i + 1][:2])
        self.left = self.ahead[0]

    def distance_remaining(self):
        return self.left

    def time_remaining(self):
        return self.left / CRUISE + abs(self.yaw_left) / TURNING

    def step(self, pose, twist, scaling, dt):
        """The velocity to go on with, None at the goal and at rest. NoProgress where it is stuck."""
        self._watch(pose, scaling, dt)
        self._locate(pose)
        self.yaw_left = wrap(self.path[-1][2] - pose[2])
        if self.phase in ("turn to path", "drive"):
            return self._track(pose)
        if self.phase == "turn to goal":
            if abs(self.yaw_left) > ALIGNED or abs(twist[1]) > SLOW:
                return 0.0, self._spin(self.yaw_left)
            self.phase = "stand"
        self.stood += dt
        still = abs(twist[0]) <= REST[0] and abs(twist[1]) <= REST[1]
        return None if still and self.stood >= AT_LEAST or self.stood >= AT_MOST else (0.0, 0.0)

    def _watch(self, pose, scaling, dt):
        if self.phase == "stand" or self.anchor is None:
            self.anchor, self.stuck = pose, 0.0
            return
        moved, turned = math.dist(pose[:2], self.anchor[:2]), abs(wrap(pose[2] - self.anchor[2]))
        if moved >= PROGRESS or turned >= 2 * PROGRESS:
            self.anchor, self.stuck = pose, 0.0
        elif scaling > 0:  # a robot that holds itself is not stuck
            self.stuck += dt
        if self.stuck > PATIENCE:
            raise NoProgress(f"no progress for {PATIENCE:.0f} s, {self.left:.2f} m before the goal")

    def _locate(self, pose):
        """How far along the path the robot is; it never goes back."""
        near = range(self.at, min(self.at + 5, len(self.path)))
        self.at = min(near, key=lambda i: math.dist(self.path[i][:2], pose[:2]))
        heading = self._heading(self.at)
        dx, dy = self.path[self.at][0] - pose[0], self.path[self.at][1] - pose[1]
        self.left = max(0.0, self.ahead[self.at] + dx * math.cos(heading) + dy * math.sin(heading))

    def _heading(self, i):
        return self.path[i - 1 if i == len(self.path) - 1 and i > 0 else i][2]

    def _track(self, pose):
        goal = self.path[-1]
        if self.left <= ARRIVED:
            if math.dist(pose[:2], goal[:2]) > BESIDES and not self.corrected:
                self.corrected = True
                heading = math.atan2(goal[1] - pose[1], goal[0] - pose[0])
                self._follow([(*pose[:2], heading), goal])
            else:
                self.phase = "turn to goal"
            return 0.0, 0.0
        speed = min(CRUISE, math.sqrt(self.figures.linear_deceleration * self.left))
        x, y = self._target(max(0.18, 0.6 * speed))
        bearing = wrap(math.atan2(y - pose[1], x - pose[0]) - pose[2])
        if abs(bearing) > (TURN_ENOUGH if self.phase == "turn to path" else TURN_FIRST):
            self.phase = "turn to path"
            return 0.0, self._spin(bearing)
        self.phase = "drive"
        curvature = 2 * math.sin(bearing) / max(math.dist((x, y), pose[:2]), 1e-6)
        speed = min(speed, TURNING / max(abs(curvature), 1e-9))
        return speed, speed * curvature

    def _target(self, ahead):
        """The point of the path so far ahead; beyond its end it goes straight on."""
        want = self.left - ahead
        for i in range(self.at, len(self.path)):
            if self.ahead[i] <= want:
                return self.path[i][:2]
        heading, beyond = self._heading(len(self.path) - 1), max(0.0, -want)
        return self.path[-1][0] + math.cos(heading) * beyond, self.path[-1][1] + math.sin(heading) * beyond

    def _spin(self, angle):
        a = abs(angle)
        rate = min(TURNING, 2.5 * a, math.sqrt(self.figures.angular_acceleration * a))
        return math.copysign(rate, angle)
