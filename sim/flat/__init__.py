"""The flat that the built-in robot lives in, for simulators in Python: the data of flat.json, and the map.

Everything is in m, rad and s, in the frame map, unless a name says otherwise.
"""

import json
import math
from pathlib import Path
from types import SimpleNamespace

import numpy as np


def load():
    """flat.json, its fields as attributes."""
    text = (Path(__file__).parent / "flat.json").read_text()
    return json.loads(text, object_hook=lambda fields: SimpleNamespace(**fields))


def wrap(angle):
    """An angle in (-pi, pi]."""
    angle = math.fmod(angle, 2 * math.pi)
    if angle > math.pi:
        return angle - 2 * math.pi
    return angle + 2 * math.pi if angle <= -math.pi else angle


def to_box(box, x, y):
    """How far a point is from a box (min x, min y, max x, max y), 0 inside. Of arrays of points, an array."""
    return np.hypot(
        np.maximum(np.maximum(box[0] - x, x - box[2]), 0), np.maximum(np.maximum(box[1] - y, y - box[3]), 0)
    )


def clearance(flat, x, y, zones=False):
    """How far a point is from the nearest obstacle and, where asked, from the nearest keep-out zone."""
    boxes = [o.box for o in flat.obstacles] + ([z.box for z in flat.zones] if zones else [])
    return np.min([to_box(b, x, y) for b in boxes], axis=0)


def top(flat, x, y):
    """The height of what stands at a point: 0 is the floor."""
    return max([0.0] + [o.height for o in flat.obstacles if to_box(o.box, x, y) == 0.0])


class Grid:
    """The occupancy grid: cell i has its centre at center(i), rows count from the least y."""

    def __init__(self, flat):
        self.resolution = flat.resolution
        self.x, self.y = flat.bounds[0], flat.bounds[1]
        self.width = round((flat.bounds[2] - flat.bounds[0]) / flat.resolution)
        self.height = round((flat.bounds[3] - flat.bounds[1]) / flat.resolution)
        self.occupied = clearance(flat, *self.centers()) == 0

    def center(self, i):
        row, column = divmod(i, self.width)
        return self.x + (column + 0.5) * self.resolution, self.y + (row + 0.5) * self.resolution

    def centers(self):
        """The centres of all cells: their x, their y."""
        rows, columns = np.divmod(np.arange(self.width * self.height), self.width)
        return self.x + (columns + 0.5) * self.resolution, self.y + (rows + 0.5) * self.resolution

    def index(self, x, y):
        """The cell that a point lies in; None off the map."""
        if not (math.isfinite(x) and math.isfinite(y)):
            return None
        column, row = math.floor((x - self.x) / self.resolution), math.floor((y - self.y) / self.resolution)
        if 0 <= column < self.width and 0 <= row < self.height:
            return row * self.width + column
        return None
