"""Answers questions about geometry with other people's libraries.

A question is a line of JSON, {"op": name, "n": count, ...}, followed by count little-endian doubles; an answer
has the same form, or is {"error": text}. Quaternions are x y z w. Everything is in m, rad and s.
"""

import json
import sys
import time
import traceback

import numpy as np

MODELS = {}  # by name
HULLS = []  # corner points, by index


def load(q, _):
    """A model of Pinocchio's; joints are in the order that the question names, and follow others as the file says."""
    import pinocchio as pin

    model = pin.buildModelFromUrdf(q["urdf"], mimic=True)
    index = [model.joints[model.getJointId(name)] for name in q["joints"]]
    MODELS[q["name"]] = m = {"model": model, "data": model.createData(), "index": index, "urdf": q["urdf"]}
    m["links"] = [(f.name, i) for i, f in enumerate(model.frames) if f.type == pin.FrameType.BODY]
    return {"links": [name for name, _ in m["links"]], "version": pin.__version__}, None


def full(m, row):
    """The model's configuration: a joint that turns for ever is a point on a circle there."""
    import pinocchio as pin

    q = pin.neutral(m["model"])
    for j, v in zip(m["index"], row, strict=True):
        if j.nq == 2:
            q[j.idx_q], q[j.idx_q + 1] = np.cos(v), np.sin(v)
        else:
            q[j.idx_q] = v
    return q


def frames(q, data):
    """Rotation (by rows) and translation of every link in the base link's frame, per configuration."""
    import pinocchio as pin

    m = MODELS[q["name"]]
    model, d = m["model"], m["data"]
    base = model.getFrameId(q["base"])
    want = [model.getFrameId(name) for name in q["links"]]
    rows = data.reshape(-1, len(m["index"]))
    out = np.empty((len(rows), len(want), 12))
    for k, row in enumerate(rows):
        pin.framesForwardKinematics(model, d, full(m, row))
        root = d.oMf[base].inverse()
        for i, f in enumerate(want):
            t = root * d.oMf[f]
            out[k, i, :9], out[k, i, 9:] = t.rotation.ravel(), t.translation
    return {}, out


def jacobians(q, data):
    """Rows vx vy vz wx wy wz of a link, at its origin, along the base link's axes."""
    import pinocchio as pin

    m = MODELS[q["name"]]
    model, d = m["model"], m["data"]
    base, tip = model.getFrameId(q["base"]), model.getFrameId(q["tip"])
    rows = data.reshape(-1, len(m["index"]))
    out = np.empty((len(rows), 6, len(m["index"])))
    for k, row in enumerate(rows):
        c = full(m, row)
        jac = pin.computeFrameJacobian(model, d, c, tip, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
        pin.framesForwardKinematics(model, d, c)
        r = d.oMf[base].rotation.T
        cols = jac[:, [j.idx_v for j in m["index"]]]
        out[k, :3], out[k, 3:] = r @ cols[:3], r @ cols[3:]
    return {}, out


def shape(lib, kind, p):
    import coal
    import fcl

    if kind == "hull":
        hull = HULLS[int(p[0])]
        if lib not in hull and lib == "coal":
            v = coal.StdVec_Vec3s()
            v.extend([np.array(x) for x in hull["points"]])
            hull[lib] = coal.Convex.convexHull(v, False, "")
        elif lib not in hull:
            faces = hull["faces"]
            corners = np.array([x for f in faces for x in (3, *f)])
            hull[lib] = fcl.Convex(np.array(hull["points"]), len(faces), corners)
        return hull[lib]
    mod = coal if lib == "coal" else fcl
    return {
        "sphere": lambda: mod.Sphere(p[0]),
        "capsule": lambda: mod.Capsule(p[0], p[1]),
        "cylinder": lambda: mod.Cylinder(p[0], p[1]),
        "box": lambda: mod.Box(p[0], p[1], p[2]),
    }[kind]()


def hulls(q, _):
    """Corner points and triangles for the kind "hull"; its first parameter is the index here."""
    HULLS[:] = q["hulls"]
    return {}, None


def rotation(quat):
    x, y, z, w = quat
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def pairs(q, data):
    """Signed distances of pairs of shapes: 3 parameters, quaternion, position of the one, then of the other. Also
    what one such question costs, in s, with Python's part in it."""
    lib = q["lib"]
    rows = data.reshape(-1, 20)
    out = np.empty(len(rows))
    spent = 0.0
    for k, r in enumerate(rows):
        a, b = shape(lib, q["a"], r[:3]), shape(lib, q["b"], r[10:13])
        if lib == "coal":
            import coal

            request, result = coal.DistanceRequest(), coal.DistanceResult()
            request.enable_signed_distance = True
            ta, tb = coal.Transform3s(rotation(r[3:7]), r[7:10]), coal.Transform3s(rotation(r[13:17]), r[17:20])
            begin = time.perf_counter()
            out[k] = coal.distance(a, ta, b, tb, request, result)
        else:
            import fcl

            oa = fcl.CollisionObject(a, fcl.Transform(rotation(r[3:7]), r[7:10]))
            ob = fcl.CollisionObject(b, fcl.Transform(rotation(r[13:17]), r[17:20]))
            request = fcl.DistanceRequest(enable_signed_distance=True, gjk_solver_type=fcl.GJKSolverType.GST_LIBCCD)
            result = fcl.DistanceResult()
            begin = time.perf_counter()
            out[k] = fcl.distance(oa, ob, request, result)
        spent += time.perf_counter() - begin
    return {"each": spent / max(len(rows), 1)}, out


def scene(q, _):
    """A robot's shapes by Pinocchio and Coal, and bodies around it; distances are those of the pairs of names given."""
    import pinocchio as pin

    m = MODELS[q["name"]]
    model = m["model"]
    geom = pin.buildGeomFromUrdf(model, m["urdf"], pin.GeometryType.COLLISION)
    owner = [model.frames[g.parentFrame].name for g in geom.geometryObjects]
    base = model.getFrameId(q["base"])
    for b in q["bodies"]:
        at = pin.SE3(rotation(b["pose"][:4]), np.array(b["pose"][4:]))
        place = model.frames[base].placement * at  # the base does not move
        g = pin.GeometryObject(b["name"], model.frames[base].parentJoint, place, shape("coal", b["kind"], b["size"]))
        geom.addGeometryObject(g)
        owner.append(b["name"])
    for one, other in q["pairs"]:
        for i, a in enumerate(owner):
            for k, b in enumerate(owner):
                if a == one and b == other:
                    geom.addCollisionPair(pin.CollisionPair(min(i, k), max(i, k)))
    m["geom"], m["geom_data"] = geom, pin.GeometryData(geom)
    return {"pairs": len(geom.collisionPairs)}, None


def clearances(q, data):
    """By how much the scene's pairs exceed what they must have (a margin for those with bodies, else 0), the least of
    them, per configuration."""
    import pinocchio as pin

    m = MODELS[q["name"]]
    geom, gd = m["geom"], m["geom_data"]
    bodies = {i for i, g in enumerate(geom.geometryObjects) if g.name == q["bodies"]}
    need = [q["margin"] if {c.first, c.second} & bodies else 0.0 for c in geom.collisionPairs]
    rows = data.reshape(-1, len(m["index"]))
    out = np.empty(len(rows))
    for k, row in enumerate(rows):
        pin.computeDistances(m["model"], m["data"], geom, gd, full(m, row))
        out[k] = min(r.min_distance - n for r, n in zip(gd.distanceResults, need, strict=True))
    return {}, out


def sampled(q, data):
    """What a controller makes of a trajectory, by SciPy: the greatest quotients of positions beyond their middle, of
    velocities and of accelerations to their limits, at many instants. Rows: time, positions, velocities (and
    accelerations), each of all joints; the first row is where it begins."""
    from scipy.interpolate import BPoly

    n, order = len(q["velocity"]), q["order"]
    rows = data.reshape(-1, 1 + n * (order + 1))
    t = rows[:, 0]
    middle, half = np.array(q["middle"]), np.array(q["half"])
    worst = np.zeros(3)
    for k in range(n):
        ends = [list(r[1 + k :: n][: order + 1]) for r in rows]
        # A measured state has no acceleration: a controller's way from there to the first point is a cubic.
        degrees = [3 if q["measured"] or order == 1 else 5] + [2 * order + 1] * (len(t) - 2)
        curve = BPoly.from_derivatives(t, ends, orders=degrees)
        # Each piece by itself: at a knot the accelerations of both sides count, and a curve has only one of them there.
        for i, (a, b) in enumerate(zip(t[:-1], t[1:], strict=True)):
            piece = BPoly(curve.c[:, i : i + 1], t[i : i + 2])
            u = np.linspace(a, b, q["samples"])
            worst = np.maximum(
                worst,
                [
                    (np.abs(piece(u) - middle[k]) / half[k]).max(),
                    np.abs(piece(u, 1)).max() / q["velocity"][k],
                    np.abs(piece(u, 2)).max() / q["acceleration"][k],
                ],
            )
    return {}, worst


def toppra(q, data):
    """Duration of the fastest way along a smooth curve through waypoints, within velocity and acceleration limits."""
    import toppra as ta
    from toppra import algorithm, constraint

    way = data.reshape(-1, len(q["velocity"]))
    path = ta.SplineInterpolator(np.linspace(0, 1, len(way)), way)
    v, a = np.array(q["velocity"]), np.array(q["acceleration"])
    limits = [
        constraint.JointVelocityConstraint(np.stack([-v, v], 1)),
        constraint.JointAccelerationConstraint(np.stack([-a, a], 1)),
    ]
    begin = time.perf_counter()
    made = algorithm.TOPPRA(limits, path, parametrizer="ParametrizeConstAccel").compute_trajectory()
    return {"duration": made.duration if made is not None else -1, "seconds": time.perf_counter() - begin}, None


def ruckig(q, data):
    """Duration of the fastest way from rest to rest, each joint for itself, all of them arriving together."""
    import ruckig as rk

    n = len(q["velocity"])
    rows = data.reshape(-1, 2, n)
    out = np.empty(len(rows))
    spent = 0.0
    for k, (a, b) in enumerate(rows):
        p = rk.InputParameter(n)
        p.current_position, p.target_position = list(a), list(b)
        p.max_velocity, p.max_acceleration = q["velocity"], q["acceleration"]
        p.max_jerk = q.get("jerk") or [float("inf")] * n
        t = rk.Trajectory(n)
        begin = time.perf_counter()
        rk.Ruckig(n).calculate(p, t)
        spent += time.perf_counter() - begin
        out[k] = t.duration
    return {"each": spent / max(len(rows), 1)}, out


def solve(q, data):
    """Inverse kinematics of others: poses as rotation by rows and translation, from one seed. Solutions, then per
    pose 1 for solved, and the seconds that it took. Where the library makes another robot of the description than
    Pinocchio does, there are none, and it is said why."""
    import pinocchio as pin

    m = MODELS[q["name"]]
    n = len(m["index"])
    seed, rows = data[:n].copy(), data[n:].reshape(-1, 12)
    targets = []
    for r in rows:
        t = np.eye(4)
        t[:3, :3], t[:3, 3] = r[:9].reshape(3, 3), r[9:]
        targets.append(t)
    try:
        forward, inverse = {"ikpy": with_ikpy, "rtb": with_rtb}[q["lib"]](q, seed)
        model, d = m["model"], m["data"]
        pin.framesForwardKinematics(model, d, full(m, seed + 0.1))
        want = d.oMf[model.getFrameId(q["base"])].inverse() * d.oMf[model.getFrameId(q["tip"])]
        if np.abs(forward(seed + 0.1) - want.homogeneous).max() > 1e-6:
            return {"why": "makes another robot of the description"}, None
    except Exception as e:  # it is theirs, and said
        return {"why": f"cannot read the description: {type(e).__name__}: {e}"}, None
    out = np.zeros((len(rows), n + 2))
    for k, t in enumerate(targets):
        begin = time.perf_counter()
        found, ok = inverse(t)
        out[k, :n], out[k, n], out[k, n + 1] = found, ok, time.perf_counter() - begin
    return {}, out


def with_rtb(q, seed):
    import warnings

    import roboticstoolbox as rtb

    warnings.filterwarnings("ignore")
    ets = rtb.Robot.URDF(q["urdf"]).ets(start=q["base"], end=q["tip"])
    ets.qlim = np.stack([np.array(q["lower"]), np.array(q["upper"])])

    def inverse(t):
        s = ets.ik_LM(t, q0=seed, ilimit=30, slimit=100, tol=1e-12, joint_limits=True, method="chan")
        return s.q, float(s.success)

    return lambda x: ets.eval(x), inverse


def with_ikpy(q, seed):
    import warnings

    from ikpy.chain import Chain

    warnings.filterwarnings("ignore")
    chain = Chain.from_urdf_file(q["urdf"], base_elements=[q["base"]])
    chain.active_links_mask = np.array([link.name in q["joints"] for link in chain.links])
    at = [[link.name for link in chain.links].index(name) for name in q["joints"]]

    def spread(x):
        out = np.zeros(len(chain.links))
        out[at] = x
        return out

    def inverse(t):
        try:
            return chain.inverse_kinematics_frame(t, initial_position=spread(seed), orientation_mode="all")[at], 1.0
        except ValueError:
            return seed, 0.0

    return lambda x: chain.forward_kinematics(spread(x)), inverse


OPS = {
    f.__name__: f for f in (load, frames, jacobians, hulls, pairs, scene, clearances, sampled, toppra, ruckig, solve)
}


def main():
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # whatever a library prints is no answer
    for line in iter(source.readline, b""):
        q = json.loads(line)
        data = np.frombuffer(source.read(8 * q["n"]), dtype="<f8")
        try:
            head, out = OPS[q["op"]](q, data)
            out = np.zeros(0) if out is None else np.ascontiguousarray(out, dtype="<f8").ravel()
        except Exception:  # whatever goes wrong is the asker's to see
            head, out = {"error": traceback.format_exc()}, np.zeros(0)
        sink.write(json.dumps({**head, "n": out.size}).encode() + b"\n" + out.tobytes())
        sink.flush()


if __name__ == "__main__":
    main()
