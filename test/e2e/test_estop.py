"""The emergency stop: from any publisher, on either topic, in any motion; latched until false and ~/reset."""

import time

import pytest
from agent_msgs.msg import ActuatorState
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from std_msgs.msg import Bool

from goals import STATUS
from judge import honest, rests_for_good

PUBLISHERS = {
    "ordinary": QoSProfile(depth=10),
    "best_effort": QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT),
    "transient_local": QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL),
}
TASKS = {"navigate": "go to the kitchen", "drive": "drive 2 m forward"}


class Button:
    """An emergency stop's publisher. One of best effort says again and again what it says: the middleware sends a
    single message of it to subscriptions that do not know of it yet, and never again."""

    def __init__(self, rig, topic="/emergency_stop", qos="ordinary"):
        self.rig, self.topic = rig, topic
        self.publisher = rig.node.create_publisher(Bool, topic, PUBLISHERS[qos])
        self.timer = rig.node.create_timer(0.1, self.say) if qos == "best_effort" else None
        self.says = None

    def found(self):
        # A publisher's settings decide which of the node's subscriptions it meets. The first must do.
        end = time.monotonic() + 20.0
        while self.publisher.get_subscription_count() < 1:
            assert time.monotonic() < end, f"the node does not find the button\n{self.rig.logs()}"
            time.sleep(0.0005)
        return self

    def press(self, pressed=True):
        self.says = pressed
        self.say()

    def say(self):
        if self.says is not None:
            self.publisher.publish(Bool(data=self.says))

    def remove(self):
        if self.timer is not None:
            self.rig.asked(lambda: self.rig.node.destroy_timer(self.timer))
        self.rig.asked(lambda: self.rig.node.destroy_publisher(self.publisher))


@pytest.mark.parametrize("qos", PUBLISHERS)
def test_every_press_is_heard(house, qos):
    """Of 25 buttons, each pressed as soon as it sees a subscription. One that is best effort repeats itself, ten times
    a second; the others say it once."""
    for n in range(25):
        b = Button(house, qos=qos).found()
        b.press()
        house.until_actuator(ActuatorState.ESTOP, 5.0)
        b.press(False)
        house.until(lambda: house.trigger("reset").success, 10.0, f"the release of button {n + 1}")
        house.until_actuator(ActuatorState.HOLDING)
        b.remove()


@pytest.fixture
def button(house):
    buttons = []

    def make(rig=house, **options):
        buttons.append(Button(rig, **options).found())
        return buttons[-1]

    yield make
    for b in buttons:
        b.press(False)
        # Released before it goes: a button that vanishes while it is pressed stays pressed.
        b.rig.until(lambda b=b: b.rig.trigger("reset").success, 20.0, "the release")
        b.remove()


def assert_stopped(rig, goal):
    goal.wait(20)
    honest(rig, goal)
    assert (goal.status, goal.end()) == (STATUS["ABORTED"], ("INTERRUPTED", "emergency_stop")), goal.told()
    assert goal.result.completed_steps[-1].error_kind == "canceled", goal.told()
    rests_for_good(rig, 1.0)
    assert rig.actuator() == ActuatorState.ESTOP


def assert_moves_nothing(rig, task):
    rig.counted = rig.counters()
    goal = rig.run(task, 20)
    honest(rig, goal)
    assert goal.end() == ("INTERRUPTED", "emergency_stop"), goal.told()
    assert not rig.commanded() and rig.at_rest_now()


@pytest.mark.parametrize("qos", PUBLISHERS)
@pytest.mark.parametrize("motion", TASKS)
def test_it_stops_a_motion_and_stays_latched_until_false_and_reset(house, button, motion, qos):
    b = button(qos=qos)
    goal = house.goal(TASKS[motion])
    house.moving()
    b.press()
    assert_stopped(house, goal)

    # Latched: later goals move nothing, with the button pressed and after it was released alike.
    assert_moves_nothing(house, TASKS[motion])
    refused = house.trigger("reset")
    assert not refused.success and "emergency" in refused.message, refused
    b.press(False)
    assert_moves_nothing(house, TASKS[motion])
    assert house.actuator() == ActuatorState.ESTOP

    # Only false and ~/reset open the latch; then it moves again.
    assert house.trigger("resume").success
    assert house.actuator() == ActuatorState.ESTOP
    house.until(lambda: house.trigger("reset").success, 10.0, "a reset after the release")
    house.until_actuator(ActuatorState.HOLDING)
    again = house.run("drive 0.3 m forward", 30)
    assert again.end() == ("DONE", "accepted"), again.told()


def test_a_question_is_answered_while_it_is_latched(house, button):
    b = button()
    b.press()
    house.until_actuator(ActuatorState.ESTOP)
    b.press(False)
    goal = house.run("where are you?", 20)
    honest(house, goal)
    assert goal.end() == ("DONE", "accepted"), goal.told()


def test_one_buttons_false_does_not_outvote_anothers_true(house, button):
    first, second = button(), button(qos="transient_local")
    first.press()
    house.until_actuator(ActuatorState.ESTOP)
    second.press(False)
    assert not house.trigger("reset").success
    first.press(False)
    house.until(lambda: house.trigger("reset").success, 10.0, "a reset after the release")


def test_a_pressed_button_of_before_is_heard(rig):
    """A transient-local true that was there before the node: latched from the start."""
    r = rig(node=False)
    b = Button(r, qos="transient_local")
    b.press()
    r.start_node(wait=False)
    r.until_actuator(ActuatorState.ESTOP)
    assert r.actions.wait_for_server(20)
    goal = r.run("drive 1 m forward", 20)
    assert goal.end() == ("INTERRUPTED", "emergency_stop"), goal.told()
    assert r.truth.path() < 0.001 and "/cmd_vel" not in r.commanded()


@pytest.mark.parametrize("topic", ["/emergency_stop", "/robot1/emergency_stop"], ids=["absolute", "relative"])
def test_both_topics_reach_a_node_in_a_namespace(shared, button, topic):
    r = shared("namespaced", namespace="robot1")
    b = button(r, topic=topic)
    goal = r.goal("drive 2 m forward")
    r.moving()
    b.press()
    assert_stopped(r, goal)


def test_the_robots_own_emergency_stop_counts(house):
    goal = house.goal("go to the kitchen")
    house.moving()
    house.set_sim(**{"sim.estop": True})
    assert_stopped(house, goal)
    assert not house.trigger("reset").success
    house.set_sim(**{"sim.estop": False})
    house.until(lambda: house.trigger("reset").success, 10.0, "a reset after the release")


class Beat:
    """A publisher that says, five times a second, that nothing is wrong."""

    def __init__(self, rig):
        self.publisher = rig.node.create_publisher(Bool, "/emergency_stop", 10)
        self.on = True
        self.timer = rig.node.create_timer(0.2, lambda: self.on and self.publisher.publish(Bool(data=False)))


def test_where_it_is_required_silence_is_a_stop(rig):
    r = rig(node=False)
    r.start_node({"estop.required": True, "estop.timeout": 1.0}, wait=False)
    r.until_actuator(ActuatorState.ESTOP)  # nobody has said anything yet
    assert not r.trigger("reset").success
    beat = Beat(r)
    r.until(lambda: r.trigger("reset").success, 20.0, "a reset while the beat goes on")
    goal = r.goal("go to the kitchen")
    r.moving()
    beat.on = False
    silent = time.monotonic()
    assert_stopped(r, goal)
    assert time.monotonic() - silent < 10.0
    assert not r.trigger("reset").success
    beat.on = True
    r.until(lambda: r.trigger("reset").success, 20.0, "a reset after the beat goes on")
    beat.on = False
    r.until_actuator(ActuatorState.ESTOP)
    told = r.trigger("reset")
    assert not told.success and "estop.required" in told.message, told.message
    # Required no longer: nobody has to say anything.
    r.set_node(**{"estop.required": False})
    r.until(lambda: r.trigger("reset").success, 20.0, "a reset where silence is no stop")


def test_another_process_may_release_what_one_pressed_that_is_gone(house):
    first = Button(house).found()
    first.press()
    house.until_actuator(ActuatorState.ESTOP)
    first.remove()
    house.until(lambda: house.node.count_publishers("/emergency_stop") == 0, 10.0, "the button to be gone")
    assert not house.trigger("reset").success, "a button that vanishes while it is pressed stays pressed"
    second = Button(house).found()
    second.press(False)
    house.until(lambda: house.trigger("reset").success, 20.0, "the release")
    second.remove()
