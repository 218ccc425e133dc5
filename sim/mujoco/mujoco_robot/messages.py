"""Filling messages."""

import math

from builtin_interfaces.msg import Duration, Time
from geometry_msgs.msg import Point, Pose, PoseStamped, Quaternion, TransformStamped, Vector3
from std_msgs.msg import Header
from vision_msgs.msg import Detection3D, Detection3DArray, ObjectHypothesisWithPose


def time_of(seconds):
    """A stamp from seconds."""
    whole = math.floor(seconds)
    return Time(sec=int(whole), nanosec=min(999_999_999, int((seconds - whole) * 1e9)))


def duration_of(seconds):
    whole = math.floor(max(0.0, seconds))
    return Duration(sec=int(whole), nanosec=min(999_999_999, int((max(0.0, seconds) - whole) * 1e9)))


def seconds_of(t):
    """The seconds of a stamp or a duration."""
    return t.sec + t.nanosec * 1e-9


def header(stamp, frame=""):
    return Header(stamp=stamp, frame_id=frame)


def turned(yaw):
    return Quaternion(z=math.sin(yaw / 2), w=math.cos(yaw / 2))


def flat_pose(pose):
    return Pose(position=Point(x=float(pose[0]), y=float(pose[1])), orientation=turned(pose[2]))


def stamped_pose(head, pose):
    return PoseStamped(header=head, pose=flat_pose(pose))


def point(v):
    return Point(x=float(v[0]), y=float(v[1]), z=float(v[2]))


def vector(v):
    return Vector3(x=float(v[0]), y=float(v[1]), z=float(v[2]))


def quaternion(wxyz):
    """From MuJoCo's order."""
    w, x, y, z = (float(v) for v in wxyz)
    return Quaternion(x=x, y=y, z=z, w=w)


def transform(stamp, parent, child, position, turn):
    t = TransformStamped(header=header(stamp, parent), child_frame_id=child)
    t.transform.translation, t.transform.rotation = vector(position), turn
    return t


def yaw_of(q):
    """The heading of a unit quaternion about the vertical; None where it is none."""
    norm = math.sqrt(q.x**2 + q.y**2 + q.z**2 + q.w**2)
    if not abs(norm - 1) <= 1e-2 or not math.hypot(q.x, q.y) <= 1e-2:
        return None
    return 2 * math.atan2(q.z, q.w)


def detections(head, things):
    """From (object, position, quaternion w x y z, score, variance in m^2) each."""
    out = Detection3DArray(header=head)
    for thing, position, turn, score, variance in things:
        result = ObjectHypothesisWithPose()
        result.hypothesis.class_id, result.hypothesis.score = thing.name, float(score)
        result.pose.pose = Pose(position=point(position), orientation=quaternion(turn))
        for k in range(3):
            result.pose.covariance[7 * k] = float(variance)
        d = Detection3D(header=head, id=thing.name, results=[result])
        d.bbox.center = result.pose.pose
        d.bbox.size = vector((thing.size, thing.size, thing.size))
        out.detections.append(d)
    return out
