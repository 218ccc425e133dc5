"""What the robot's camera sees of the objects: an object whose centre is in view, unless walls or furniture stand
before the side that it turns to the camera. The camera looks along the x axis of its link."""

import math


def hidden(flat, eye, target):
    """Whether an obstacle stands between two points."""
    return any(_crosses(eye, target, o) for o in flat.obstacles)


def _crosses(a, b, obstacle):
    near, far = 0.0, 1.0
    box = obstacle.box
    for p, q, low, high in (
        (a[0], b[0], box[0], box[2]),
        (a[1], b[1], box[1], box[3]),
        (a[2], b[2], 0, obstacle.height),
    ):
        d = q - p
        if d == 0:
            if not low <= p <= high:
                return False
            continue
        s, t = sorted(((low - p) / d, (high - p) / d))
        near, far = max(near, s), min(far, t)
    return near <= far


def sees(flat, eye, axes, position, size):
    """The position of an object's centre in the camera's frame, None where it is not seen. The axes are the camera's
    x, y and z in the map, as three rows."""
    way = [p - e for p, e in zip(position, eye, strict=True)]
    at = [sum(w * a for w, a in zip(way, axis, strict=True)) for axis in axes]
    camera, distance = flat.camera, math.sqrt(sum(w * w for w in way))
    if at[0] <= 0 or not camera.range_min <= distance <= camera.range_max:
        return None
    if abs(at[1]) > at[0] * math.tan(camera.horizontal_fov / 2) or abs(at[2]) > at[0] * math.tan(
        camera.vertical_fov / 2
    ):
        return None
    face = [e + w * (1 - size / 2 / distance) for e, w in zip(eye, way, strict=True)]
    return None if hidden(flat, eye, face) else at
