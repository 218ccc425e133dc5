"""flat.xml against MuJoCo's own reading of the robot's URDF, and what stands in it."""

import xml.etree.ElementTree as ElementTree

import pytest


def from_urdf(text):
    """MuJoCo's own model of the URDF, base_link at the origin and nothing merged."""
    import mujoco

    root = ElementTree.fromstring(text)
    extension = ElementTree.SubElement(root, "mujoco")
    ElementTree.SubElement(extension, "compiler", fusestatic="false", discardvisual="true", strippath="false")
    return mujoco.MjModel.from_xml_string(ElementTree.tostring(root, encoding="unicode"))


def test_kinematics_and_inertias_are_the_urdfs(physics):
    import mujoco
    import numpy as np

    ours, theirs = physics.model, from_urdf(physics.flat.urdf)
    a, b = mujoco.MjData(ours), mujoco.MjData(theirs)
    links = [theirs.body(i).name for i in range(1, theirs.nbody)]
    assert len(links) > 15
    random = np.random.default_rng(7)
    for _ in range(20):
        a.qpos[:] = 0
        a.joint("base").qpos[3] = 1.0
        for name in physics.names:
            low, high = theirs.joint(name).range
            q = random.uniform(low, high) if theirs.joint(name).limited else random.uniform(-3, 3)
            a.joint(name).qpos[0] = b.joint(name).qpos[0] = q
        width = a.joint(physics.finger).qpos[0]
        a.joint("right_finger_joint").qpos[0] = b.joint("right_finger_joint").qpos[0] = width / 2
        mujoco.mj_forward(ours, a)
        mujoco.mj_forward(theirs, b)
        for link in links:
            assert a.body(link).xpos == pytest.approx(b.body(link).xpos, abs=1e-9), link
            assert a.body(link).xmat == pytest.approx(b.body(link).xmat, abs=1e-9), link
            assert a.body(link).xipos == pytest.approx(b.body(link).xipos, abs=1e-9), link
    for link in links:
        assert ours.body(link).mass[0] == pytest.approx(theirs.body(link).mass[0]), link
        assert sorted(ours.body(link).inertia) == pytest.approx(sorted(theirs.body(link).inertia), rel=1e-4), link


def test_limits_and_torques_are_the_urdfs(physics):
    root = ElementTree.fromstring(physics.flat.urdf)
    moving = [j for j in root.iter("joint") if j.get("type") != "fixed" and j.find("limit") is not None]
    assert len(moving) == 10
    for j in moving:
        limit, ours = j.find("limit"), physics.model.joint(j.get("name"))
        if limit.get("lower") is not None:
            assert list(ours.range) == pytest.approx([float(limit.get("lower")), float(limit.get("upper"))])
        if j.find("mimic") is None:
            effort = float(limit.get("effort"))
            assert list(physics.model.actuator(j.get("name")).forcerange) == pytest.approx([-effort, effort])


def test_everything_stands_where_it_should_and_stays_there(physics):
    flat, start = physics.flat, physics.flat.robot.start
    for o in flat.obstacles:
        g = physics.model.geom(o.name)
        low, high = g.pos - g.size, g.pos + g.size
        assert [*low, *high] == pytest.approx([o.box[0], o.box[1], 0, o.box[2], o.box[3], o.height]), o.name
    for _ in range(200):
        physics.step()
        assert not physics.touching()
    pose, twist = physics.truth()
    assert pose == pytest.approx(start, abs=1e-3) and twist == pytest.approx((0, 0, 0), abs=1e-3)
    for o, at, _ in physics.objects():
        assert list(at) == pytest.approx(o.position, abs=2e-3), o.name
    q, _ = physics.arm()
    assert q == pytest.approx([j.carry for j in flat.arm], abs=2e-3)
    assert physics.held() is None
