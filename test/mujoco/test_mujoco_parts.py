"""Paths and trajectories of the robot in MuJoCo, without physics."""

import math
import random

import pytest


@pytest.fixture(scope="module")
def flat(mujoco_is_here):
    import flat as flats

    return flats.load()


@pytest.fixture(scope="module")
def planner(flat):
    from mujoco_robot.planner import Planner

    return Planner(flat)


def test_paths_keep_their_distance_and_end_where_they_should(flat, planner):
    import flat as flats
    from mujoco_robot.planner import MARGIN

    places = [tuple(p.pose) for p in flat.places]
    for start in places:
        for goal in places:
            path = planner.plan(start, goal)
            assert path[-1] == pytest.approx(goal)
            if start != goal:
                assert math.dist(path[0][:2], start[:2]) < 0.051
            for a, b in zip(path, path[1:], strict=False):
                assert math.dist(a[:2], b[:2]) < 0.051
                room = flats.clearance(flat, *b[:2], zones=True)
                assert room >= flat.robot.radius + MARGIN - 1e-9, (start, goal, b)


@pytest.mark.parametrize(
    ("start", "goal", "code"),
    [
        ((-9, 0, 0), (0, -1, 0), 203),
        ((0, -1, 0), (9, 0, 0), 204),
        ((1.4, 2.2, 0), (0, -1, 0), 205),
        ((0, -1, 0), (0, 0, 0), 206),
        ((0, -1, 0), (math.nan, 0, 0), 200),
    ],
)
def test_what_has_no_path_says_why(planner, start, goal, code):
    from mujoco_robot.planner import NoPath

    with pytest.raises(NoPath) as e:
        planner.plan(start, goal)
    assert e.value.code == code


NAMES = ["a", "b"]


@pytest.mark.parametrize(
    ("names", "points", "code"),
    [
        (["a", "c"], [(1, [0, 0], [], [])], -2),
        (["a", "a"], [(1, [0, 0], [], [])], -2),
        (NAMES, [], -1),
        (NAMES, [(1, [], [0, 0], [])], -1),
        (NAMES, [(1, [0], [], [])], -1),
        (NAMES, [(1, [0, math.nan], [], [])], -1),
        (NAMES, [(1, [0, 0], [], []), (1, [1, 1], [], [])], -1),
        (NAMES, [(1, [0, 0], [0, 1], [])], -1),
    ],
)
def test_a_goal_that_the_controller_refuses(names, points, code):
    from mujoco_robot.trajectory import Bad, check

    with pytest.raises(Bad) as e:
        check(NAMES, names, points)
    assert e.value.code == code


def test_points_come_in_the_arms_order():
    from mujoco_robot.trajectory import check

    (point,) = check(NAMES, ["b", "a"], [(1.0, [2, 1], [0, 0], [])])
    assert point[1] == [1, 2]


@pytest.mark.parametrize("given", ["positions", "velocities", "accelerations"])
def test_interpolation_goes_through_the_points_and_does_not_jump(given):
    from mujoco_robot.trajectory import Trajectory

    r = random.Random(1)

    def numbers(wanted):
        return [r.uniform(-1, 1) for _ in NAMES] if wanted else []

    for _ in range(10):
        times = sorted(r.uniform(0.2, 3.0) for _ in range(3))
        speeds, rates = given != "positions", given == "accelerations"
        points = [(t, numbers(True), numbers(speeds), numbers(rates)) for t in times]
        zero = [0.0, 0.0]
        points[-1] = (times[-1] + 0.1, points[-1][1], zero if speeds else [], zero if rates else [])
        way = Trajectory(points, zero, zero)
        for t, q, v, _ in points:
            at, speed = way.at(t - 1e-9)
            assert at == pytest.approx(q, abs=1e-6)
            if v and way.points[0][3] == [] and t != points[0][0]:
                assert speed == pytest.approx(v, abs=1e-4)
        last, step = way.at(0.0), 1e-4
        t = 0.0
        while t < way.end():
            t += step
            now = way.at(t)
            fastest = max(map(abs, now[1] + last[1])) + 1.0
            for a, b in zip(now[0], last[0], strict=True):
                assert abs(a - b) <= 1.5 * fastest * step
            last = now
            t += 0.01
            last = way.at(t)
        assert way.at(way.end() + 1)[1] == zero
