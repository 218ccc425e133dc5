"""What real drives and contacts do, and what the built-in robot leaves out."""

import math

import pytest


def run(physics, seconds, each=None):
    for _ in range(round(seconds * 100)):
        if each:
            each()
        physics.step()


def test_it_drives_straight_and_stops_within_its_deceleration(physics):
    (x, y, yaw), _ = physics.truth()
    physics.command_base(0.4, 0.0)
    run(physics, 2.0)
    assert physics.truth()[1][0] == pytest.approx(0.4, abs=0.02)
    (before, _, _), _ = physics.truth()
    physics.command_base(0.0, 0.0)
    run(physics, 1.0)
    (after, side, turned), twist = physics.truth()
    assert twist == pytest.approx((0, 0, 0), abs=2e-3)
    assert 0.4**2 / 2 * 0.9 < after - before < 0.4**2 / 2 + 0.03, "1 m/s2, as the profile has it"
    assert side == pytest.approx(y, abs=0.01) and turned == pytest.approx(yaw, abs=0.01)


def test_odometry_lags_and_does_not_know_of_slip(physics):
    physics.command_base(0.5, 0.0)
    run(physics, 0.3)
    said, true = physics.odometry.twist[0], physics.truth()[1][0]
    assert said < true - 0.01
    # Held fast by a wall, the wheels turn on: odometry goes on, the robot does not.
    physics.teleport(3.63, 0.0, 0.0)
    before = physics.odometry.pose
    physics.command_base(0.3, 0.0)
    run(physics, 3.0)
    driven = math.dist(before[:2], physics.odometry.pose[:2])
    moved = physics.truth()[0][0] - 3.63
    assert moved < 0.06 and physics.touching()
    assert driven > moved + 0.04, "the wheels slip on the floor"


def follow(physics, goal, seconds, each=lambda: None):
    """Lets the arm go to joint positions."""
    from mujoco_robot.trajectory import Follower, Tolerances, Trajectory, check

    names, zero = physics.arm_names, [0.0] * 6
    way = Trajectory(check(names, names, [(seconds, goal, zero, zero)]), physics.arm()[0], zero)
    f = Follower(way, Tolerances(names))
    for _ in range(round(100 * (seconds + 1.5))):
        command, done = f.step(*physics.arm(), 1.0, 0.01)
        if done:
            return
        physics.command_arm(*command)
        physics.step()
        each()
    raise AssertionError("the arm does not arrive")


def upright(physics):
    """The vertical part of the base's own vertical: 1 where it stands level."""
    return float(physics.data.body("base_link").xmat[8])


def test_the_arm_follows_within_its_tolerance_and_stands(physics):
    goal, at = [0.6, -1.2, 2.0, -2.4, -1.2, 0.8], []
    follow(physics, goal, 1.5, lambda: at.append(physics.arm()[0]))
    assert physics.arm()[0] == pytest.approx(goal, abs=0.02)
    run(physics, 0.5)
    assert physics.arm()[0] == pytest.approx(goal, abs=2e-3)
    # Each joint goes one way only: the servos are damped.
    for i, (first, last) in enumerate(zip(at[0], at[-1], strict=True)):
        way = [(q[i] - first) * math.copysign(1, last - first) for q in at]
        assert all(b > a - 2e-3 for a, b in zip(way, way[1:], strict=False)), physics.arm_names[i]


def test_stretched_out_it_stands(physics):
    follow(physics, [0.0, 0.0, 0.0, 0.0, -1.57, 0.0], 3.0)
    assert upright(physics) > 0.9999
    run(physics, 1.0)
    assert upright(physics) > 0.9999


def test_pressing_on_a_table_lifts_the_robot_and_not_the_drives_give_way(physics):
    """The drives are stronger than the robot is heavy: told to go through a table, the arm gets where it was told to
    be, and the base tips. Nothing that the robot measures of its joints tells of it."""
    physics.teleport(2.25, -1.6, 0.0)
    names = physics.arm_names
    limits = [float(physics.model.actuator(n).forcerange[1]) for n in names]

    def judge():
        for name, limit in zip(names, limits, strict=True):
            assert abs(float(physics.data.actuator(name).force[0])) <= limit * 1.001

    down = [0.0, 0.35, 0.0, 0.0, -1.57, 0.0]  # stretched forward and down, through the table
    follow(physics, down, 3.0, judge)
    assert physics.arm()[0] == pytest.approx(down, abs=0.02)
    assert upright(physics) < 0.97
    assert any("table" in pair for pair in physics.touching())


def test_fingers_hold_by_friction_and_let_go(physics):
    """An object between the fingers is held by what they press with, and falls when they open."""
    import numpy as np

    physics.command_gripper(0.08, 20.0)
    run(physics, 1.2)
    assert physics.gripper()[0] == pytest.approx(0.08, abs=1e-3)
    tool = np.array(physics.data.body("tool0").xpos)
    axes = physics.data.body("tool0").xmat.reshape(3, 3)
    yaw = math.atan2(axes[1, 1], axes[0, 1]) - math.pi / 2  # its y axis is the fingers' way

    def hold():
        physics.put("red cube", *tool, yaw)

    physics.command_gripper(0.0, 20.0)
    run(physics, 0.5, hold)
    run(physics, 1.0)
    width, speed, pressed = physics.gripper()
    assert physics.held().name == "red cube" and width == pytest.approx(0.05, abs=2e-3)
    assert abs(speed) < 1e-3 and pressed == pytest.approx(20.0, abs=0.5)
    thing = next(at for o, at, _ in physics.objects() if o.name == "red cube")
    assert list(thing) == pytest.approx(list(tool), abs=5e-3), "it slips"
    physics.command_gripper(0.08, 20.0)
    run(physics, 1.5)
    fallen = next(at for o, at, _ in physics.objects() if o.name == "red cube")
    assert physics.held() is None and fallen[2] < tool[2] - 0.02


def test_the_lidar_sees_walls_and_the_camera_sees_objects(physics):
    import flat as flats

    ranges = physics.scan()
    (x, y, yaw), _ = physics.truth()
    for i in range(0, 360, 10):
        angle = yaw - math.pi + i * math.pi / 180
        if not math.isinf(ranges[i]):
            end = (x + ranges[i] * math.cos(angle), y + ranges[i] * math.sin(angle))
            assert flats.clearance(physics.flat, *end) < 0.06 or ranges[i] > 5.9, (i, ranges[i])
    assert not physics.seen()
    physics.teleport(2.25, -1.6, 0.0)
    seen = {o.name: at for o, at, _, _ in physics.seen()}
    assert set(seen) == {"red cube", "blue cube"}


def test_the_same_seed_is_the_same_run():
    from mujoco_robot.physics import Physics

    runs = []
    for seed in (3, 3, 4):
        p = Physics(seed)
        p.command_base(0.3, 0.3)
        run(p, 1.0)
        runs.append((p.truth(), p.odometry.pose, p.scan().tolist(), p.arm()))
    assert runs[0] == runs[1]
    assert runs[0] != runs[2]
