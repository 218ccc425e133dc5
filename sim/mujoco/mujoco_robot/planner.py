"""Paths on the map, and the reasons why there is none, with Nav2's codes.

A path is a list of poses, at most 5 cm apart, from the start to the goal: each looks along the path, the last one as
the goal does.
"""

import heapq
import math

import numpy as np

from flat import Grid, clearance, wrap

MARGIN = 0.06  # m, never closer between the robot's edge and anything
COMFORT = 0.20  # m, where there is room
SLACK = 0.05  # m, what the start may seem to overlap, by errors of localisation
SPACING = 0.05  # m

UNKNOWN, INVALID_PLANNER, TF_ERROR = 200, 201, 202
START_OUTSIDE, GOAL_OUTSIDE, START_OCCUPIED, GOAL_OCCUPIED, NO_PATH = 203, 204, 205, 206, 208


class NoPath(Exception):
    """Why there is no path: a code of nav2_msgs/action/ComputePathToPose."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


class Planner:
    def __init__(self, flat):
        self.flat, self.grid = flat, Grid(flat)
        self.radius = flat.robot.radius
        self.room = clearance(flat, *self.grid.centers(), zones=True).tolist()

    def _room(self, x, y):
        return clearance(self.flat, x, y, zones=True)

    def plan(self, start, goal):
        """The path between two poses; NoPath where there is none."""
        if not all(map(math.isfinite, (*start, *goal))):
            raise NoPath(UNKNOWN, f"start {start} and goal {goal} must be finite")
        source, target = self.grid.index(*start[:2]), self.grid.index(*goal[:2])
        if source is None:
            raise NoPath(START_OUTSIDE, f"start ({start[0]:.2f}, {start[1]:.2f}) m is off the map")
        if target is None:
            raise NoPath(GOAL_OUTSIDE, f"goal ({goal[0]:.2f}, {goal[1]:.2f}) m is off the map")
        here, there, need = self._room(*start[:2]), self._room(*goal[:2]), self.radius + MARGIN
        if here < self.radius - SLACK:
            raise NoPath(
                START_OCCUPIED, f"the robot stands {here:.3f} m from an obstacle or zone, its radius is {self.radius} m"
            )
        if there < need:
            raise NoPath(GOAL_OCCUPIED, f"the goal is {there:.3f} m from an obstacle or zone, {need:.3f} m are needed")
        cells = self._search(source, target, min(need, here - self.grid.resolution))
        if cells is None:
            raise NoPath(NO_PATH, f"no path from ({start[0]:.2f}, {start[1]:.2f}) to ({goal[0]:.2f}, {goal[1]:.2f}) m")
        points = [start[:2], *(self.grid.center(c) for c in cells[1:-1]), goal[:2]]
        return self._along(self._round(self._straighten(points)), goal[2])

    def _search(self, source, target, tight):
        """A* over the cells with room; around a tight start those that are no tighter."""
        g, need = self.grid, self.radius + MARGIN
        tx, ty = g.center(target)
        sx, sy = g.center(source)
        cost, came = {source: 0.0}, {}
        queue = [(0.0, source)]
        done = set()
        while queue:
            _, cell = heapq.heappop(queue)
            if cell == target:
                path = [cell]
                while cell != source:
                    cell = came[cell]
                    path.append(cell)
                return path[::-1]
            if cell in done:
                continue
            done.add(cell)
            row, column = divmod(cell, g.width)
            for dr, dc in ((0, 1), (0, -1), (1, 0), (-1, 0), (1, 1), (1, -1), (-1, 1), (-1, -1)):
                r, c = row + dr, column + dc
                if not (0 <= r < g.height and 0 <= c < g.width):
                    continue
                other = r * g.width + c
                room, (x, y) = self.room[other], g.center(other)
                if room < need and not (room >= tight and math.hypot(x - sx, y - sy) < 0.4):
                    continue
                short = max(0.0, self.radius + COMFORT - room) / COMFORT
                total = cost[cell] + math.hypot(dr, dc) * g.resolution * (1 + 3 * short)
                if total < cost.get(other, math.inf):
                    cost[other], came[other] = total, cell
                    heapq.heappush(queue, (total + math.hypot(tx - x, ty - y), other))
        return None

    def _free(self, a, b, room):
        """Whether the line between two points has so much room."""
        f = np.linspace(0, 1, 1 + max(1, math.ceil(math.dist(a, b) / (SPACING / 2))))
        return bool(np.all(self._room(a[0] + (b[0] - a[0]) * f, a[1] + (b[1] - a[1]) * f) >= room))

    def _straighten(self, points):
        """Corners only: as few as there may be with comfort, or with the room that the points themselves have."""
        out, i = [points[0]], 0
        rooms = self._room(*np.transpose(points))
        while i < len(points) - 1:
            j = len(points) - 1
            while j > i + 1:
                if self._free(points[i], points[j], min(self.radius + COMFORT, rooms[i : j + 1].min())):
                    break
                j -= max(1, (j - i) // 8)
            i = max(j, i + 1)
            out.append(points[i])
        return out

    def _round(self, corners):
        """Corners cut twice, where there is room."""
        for _ in range(3):
            out = [corners[0]]
            for a, b, c in zip(corners, corners[1:], corners[2:], strict=False):
                cut = min(0.3, 0.3 * math.dist(a, b), 0.3 * math.dist(b, c))
                before, after = _towards(b, a, cut), _towards(b, c, cut)
                room = min(self.radius + MARGIN, self._room(*b))
                out += [before, after] if self._free(before, after, room) else [b]
            corners = [*out, corners[-1]]
        return corners

    def _along(self, corners, yaw):
        path = []
        for a, b in zip(corners, corners[1:], strict=False):
            long = math.dist(a, b)
            if long < 1e-6:
                continue
            heading, n = math.atan2(b[1] - a[1], b[0] - a[0]), max(1, math.ceil(long / SPACING))
            path += [(a[0] + (b[0] - a[0]) * i / n, a[1] + (b[1] - a[1]) * i / n, heading) for i in range(n)]
        return [*path, (*corners[-1], wrap(yaw))]


def _towards(a, b, distance):
    long = math.dist(a, b)
    if long < 1e-9:
        return a
    return (a[0] + (b[0] - a[0]) * distance / long, a[1] + (b[1] - a[1]) * distance / long)
