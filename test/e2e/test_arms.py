"""Arms, grippers, cameras and localisation as reported in the field: the built-in robot with a test in between."""

import json
import time

import pytest
from agent_msgs.msg import ActuatorState, Plan, PlanStep
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool

import between
from cases import case
from judge import honest
from test_navigators import check, in_order

PAN = "shoulder_pan_joint"
CARRY = [0.0, -1.85, 2.7, -2.4208, -1.5708, 0.0]


@pytest.fixture
def amid(rig):
    """A rig with a node of the test's own between robot and node: amid(hidden names, setup) gives both."""
    made = []

    def make(names, setup, node_params=None):
        r = rig(sim=False, node=False)
        r.start_sim(remaps=between.hidden(*names))
        b = between.Between(r)
        made.append(b)
        setup(b)
        b.spin()
        r.arm = []
        r.node.create_subscription(JointState, f"{between.HIDDEN}/joint_states", lambda m: note(r, m), 50)
        r.node.create_subscription(JointState, "/joint_states", lambda m: note(r, m), 50)
        r.start_node(node_params)
        return r, b

    yield make
    for b in made:
        b.close()


def note(r, m):
    """The arm as the robot measures it, in front of the test or behind it."""
    if PAN in m.name:
        i = m.name.index(PAN)
        r.arm.append((m.header.stamp.sec + m.header.stamp.nanosec * 1e-9, m.position[i], m.velocity[i]))


def turn(r, angle=-1.5):
    """A plan that turns the arm, by about four seconds at a third of its speed."""
    joints = [angle, *CARRY[1:]]
    step = PlanStep(id="s1", tool="move_arm", arguments_json=json.dumps({"joints": joints}))
    return r.goal("", plan=Plan(task="turn", steps=[step], success_criteria=[f"arm_at({', '.join(map(str, joints))})"]))


def turning(r):
    r.until(lambda: r.arm and abs(r.arm[-1][2]) > 0.1, 30.0, "the arm to move")


def still_at(r, moment):
    """The arm's last measurements stamped before a moment."""
    before = [v for at, _, v in r.arm if at <= moment][-5:]
    return len(before) == 5 and max(map(abs, before)) < 0.011


@case("flt-025")
def test_an_arm_that_goes_on_after_its_cancel_is_waited_for(amid, case):
    arms = []
    r, _ = amid([between.ARM], lambda b: arms.append(between.Arm(b, speed=0.3, coast=1.5)))
    goal = turn(r)
    turning(r)
    time.sleep(1.0)
    goal.cancel()
    goal.wait(20)
    check(case, r, goal)
    assert still_at(r, goal.ended - 0.1), r.arm[-20:]
    assert arms[0].goals == 1 and arms[0].cancels == 1
    assert [s.tool for s in goal.result.completed_steps] == ["move_arm"], goal.told()


@case("flt-037")
def test_a_released_emergency_stop_moves_no_arm(amid, case):
    """A controller that carries on by itself when the button is released, unless its goal was canceled."""

    class Sticky(between.Arm):
        def on_cancel(self, goal):
            self.canceled = True
            return super().on_cancel(goal)

    arms = []
    r, b = amid([between.ARM], lambda b: arms.append(Sticky(b, speed=0.3)))
    arm = arms[0]
    arm.canceled, arm.resumed = False, False
    held = []

    def button(m):
        if m.data:
            held.append(arm.handle)
        elif held and not arm.canceled:
            arm.resumed = True

    b.node.create_subscription(Bool, "/emergency_stop", button, 10, callback_group=b.group)
    press = r.node.create_publisher(Bool, "/emergency_stop", QoSProfile(depth=10))
    r.until(lambda: press.get_subscription_count() >= 2, 20.0, "the button to be heard")
    goal = turn(r)
    turning(r)
    time.sleep(1.0)
    press.publish(Bool(data=True))
    goal.wait(20)
    check(case, r, goal)
    path = [ActuatorState.IN_FLIGHT, ActuatorState.ESTOP]
    assert in_order(r.actuator_path("arm"), path), r.actuator_path("arm")
    time.sleep(1.0)
    at = r.arm[-1][1]
    press.publish(Bool(data=False))
    time.sleep(3.0)
    assert abs(r.arm[-1][1] - at) <= case["expect"]["moved_after_release_rad"]
    assert arm.canceled and not arm.resumed, "the goal was left at the controller"
    assert r.actuator("arm") == ActuatorState.ESTOP
    r.until(lambda: r.trigger("reset").success, 20.0, "a reset after the release")


@case("flt-040")
def test_a_slow_arm_is_no_timeout(amid, case):
    r, _ = amid([between.ARM], lambda b: between.Arm(b, speed=0.45))
    goal = turn(r)
    goal.wait(40)
    check(case, r, goal)
    assert not goal.kinds(), goal.told()


@case("flt-049")
def test_an_arm_that_measures_nan_never_rests(amid, case):
    bad = []

    def change(m):
        if bad and m.velocity:
            m.velocity[m.name.index("elbow_joint")] = float("nan")
        return m

    class Liar(between.Arm):
        def execute(self, goal):
            if self.goals:
                return super().execute(goal)
            self.goals += 1
            bad.append(True)
            goal.succeed()
            return self.kind.Result()

    def setup(b):
        b.joint_states(change)
        Liar(b)

    r, _ = amid([between.ARM, between.JOINTS], setup)
    goal = turn(r)
    goal.wait(30)
    check(case, r, goal)
    assert goal.end()[0] not in case["expect"]["never"], goal.told()
    assert r.actuator("arm") in (ActuatorState.FAULT, ActuatorState.STOPPING)
    bad.clear()
    r.until(lambda: r.trigger("reset").success, 20.0, "a reset once it is measured again")


@case("flt-052")
def test_a_robot_in_a_forbidden_zone_says_so_and_can_be_led_out(house, case):
    house.put(0.0, 0.1, 0.0)
    goal = house.run("go to the kitchen", 30)
    check(case, house, goal)
    assert "keep-out" in goal.told() and not house.commanded(), goal.told()
    assert house.trigger("stop").success
    # A person leads it out; then it works again.
    house.put(0.0, 1.0, 0.0)
    again = house.run("drive 0.2 m forward", 30)
    honest(house, again)
    assert again.end() == ("DONE", "accepted"), again.told()


@case("flt-058")
def test_a_detection_without_an_orientation_is_refused(amid, case):
    def change(m):
        for d in m.detections:
            for r in d.results:
                q = r.pose.pose.orientation
                q.x = q.y = q.z = q.w = 0.0
            q = d.bbox.center.orientation
            q.x = q.y = q.z = q.w = 0.0
        return m

    r, _ = amid([between.DETECTIONS], lambda b: b.detections(change))
    goal = r.run("pick up the red cube", 90)
    check(case, r, goal)
    assert goal.end()[0] != "DONE" and r.agent.alive(), goal.told()
    assert "NaN" not in goal.told() and "quaternion" in r.agent.text() + goal.told(), r.agent.text()[-3000:]


@case("flt-070")
def test_a_gripper_that_never_ends_is_ended(amid, case):
    grippers = []
    r, _ = amid([between.GRIPPER], lambda b: grippers.append(between.Gripper(b)))
    goal = r.goal("pick up the red cube")
    r.until(lambda: grippers[0].goals >= 1, 60.0, "the gripper to be opened")
    r.until(lambda: grippers[0].result is not None, 20.0, "it to be open")
    grippers[0].forgets = True
    begun = time.monotonic()
    r.until(lambda: grippers[0].goals >= 2, 60.0, "the gripper to be closed")
    begun = time.monotonic()
    goal.wait(case["expect"]["within_s"] + 20)
    assert time.monotonic() - begun < case["expect"]["within_s"]
    check(case, r, goal)
    assert goal.end()[0] != "DONE" and "gripper" in goal.told(), goal.told()
