"""How the node looks in the graph while it works: topics, services, actions, logs, diagnostics, life cycle."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from action_msgs.msg import GoalStatusArray
from action_msgs.srv import CancelGoal
from agent_msgs.action import ExecuteTask
from agent_msgs.msg import AgentState
from asking import nodes, services, topics
from diagnostic_msgs.msg import DiagnosticStatus
from lifecycle_msgs.msg import TransitionEvent
from lifecycle_msgs.srv import GetAvailableStates, GetAvailableTransitions
from processes import BUILD
from rcl_interfaces.msg import Log
from rclpy.action import get_action_names_and_types
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from type_description_interfaces.srv import GetTypeDescription

LATCHED = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL)
NODE = "/agent_node"


def hear(r, kind, topic, qos=10):
    """ros2 topic echo: what comes from now on."""
    heard = []
    r.asked(lambda: r.node.create_subscription(kind, topic, heard.append, qos))
    return heard


def offered(r):
    """ros2 node info /agent_node: its services. (A service list names those, too, that only clients wait for.)"""
    return dict(r.node.get_service_names_and_types_by_node("agent_node", "/"))


def test_the_actions_are_told_with_their_types(house):
    """ros2 action list -t"""
    there = dict(get_action_names_and_types(house.node))
    assert there[f"{NODE}/execute_task"] == ["agent_msgs/action/ExecuteTask"]
    assert there[f"{NODE}/resume_task"] == ["agent_msgs/action/ResumeTask"]
    assert there[f"{NODE}/decompose"] == ["agent_msgs/action/Decompose"]


@pytest.mark.parametrize("action, kind", [("execute_task", "ExecuteTask"), ("resume_task", "ResumeTask")])
def test_an_action_has_the_five_names_that_ros_gives_it(house, action, kind):
    """ros2 service list --include-hidden-services, ros2 topic list --include-hidden-topics"""
    base = f"{NODE}/{action}/_action"
    there = services(house)
    assert there[f"{base}/send_goal"] == [f"agent_msgs/action/{kind}_SendGoal"]
    assert there[f"{base}/get_result"] == [f"agent_msgs/action/{kind}_GetResult"]
    assert there[f"{base}/cancel_goal"] == ["action_msgs/srv/CancelGoal"]
    assert topics(house)[f"{base}/feedback"] == [f"agent_msgs/action/{kind}_FeedbackMessage"]
    assert topics(house)[f"{base}/status"] == ["action_msgs/msg/GoalStatusArray"]


def test_the_services_are_told_with_their_types(house):
    """ros2 service list -t"""
    there = services(house)
    for name in ("stop", "pause", "resume", "reset"):
        assert there[f"{NODE}/{name}"] == ["std_srvs/srv/Trigger"]
    assert there[f"{NODE}/list_tools"] == ["agent_msgs/srv/ListTools"]


def test_the_state_is_kept_for_who_comes_later(house):
    """ros2 topic echo --once --qos-durability transient_local /agent_node/state"""
    heard = hear(house, AgentState, f"{NODE}/state", LATCHED)
    house.until(lambda: heard, 10.0, "the state, said before")
    assert heard[-1].state == AgentState.IDLE and {a.name for a in heard[-1].actuators} == {"base", "arm", "gripper"}


@pytest.mark.parametrize(
    ("topic", "durability"),
    [
        (f"{NODE}/state", DurabilityPolicy.TRANSIENT_LOCAL),
        (f"{NODE}/approvals", DurabilityPolicy.TRANSIENT_LOCAL),
        (f"{NODE}/execute_task/_action/status", DurabilityPolicy.TRANSIENT_LOCAL),
        ("/rosout", DurabilityPolicy.TRANSIENT_LOCAL),
        (f"{NODE}/trace", DurabilityPolicy.VOLATILE),
        ("/diagnostics", DurabilityPolicy.VOLATILE),
        ("/cmd_vel", DurabilityPolicy.VOLATILE),
    ],
)
def test_topics_have_the_qualities_of_service_that_ros_gives_them(house, topic, durability):
    """ros2 topic info -v"""
    mine = [i for i in house.node.get_publishers_info_by_topic(topic) if i.node_name == "agent_node"]
    assert len(mine) == 1, mine
    assert mine[0].qos_profile.durability == durability
    assert mine[0].qos_profile.reliability == ReliabilityPolicy.RELIABLE


def test_sensors_are_heard_at_best_effort(house):
    """ros2 topic info -v /odom: a subscription that every publisher fits."""
    mine = [i for i in house.node.get_subscriptions_info_by_topic("/odom") if i.node_name == "agent_node"]
    assert [i.qos_profile.reliability for i in mine] == [ReliabilityPolicy.BEST_EFFORT]


def test_one_topic_is_heard_by_one_subscription(house):
    """ros2 node info /agent_node: arm, gripper and tools want the joint states, and hear them once."""
    mine = [i for i in house.node.get_subscriptions_info_by_topic("/joint_states") if i.node_name == "agent_node"]
    durabilities = [i.qos_profile.durability for i in mine]
    assert len(durabilities) == len(set(durabilities)) <= 2, mine


def test_diagnostics_come_once_a_second(house):
    """ros2 topic hz /diagnostics"""
    del house.diagnostics[:]
    house.until(lambda: len(mine(house)) >= 4, 15.0, "diagnostics")
    stamps = [m.header.stamp.sec + m.header.stamp.nanosec * 1e-9 for m in mine(house)]
    gaps = [b - a for a, b in zip(stamps, stamps[1:], strict=False)]
    assert 0.7 < sum(gaps) / len(gaps) < 1.5, gaps


def mine(r):
    return [m for m in list(r.diagnostics) if any(s.name.startswith("agent_node: node") for s in m.status)]


def test_diagnostics_tell_of_every_part(house):
    """ros2 topic echo /diagnostics"""
    house.until(lambda: mine(house), 10.0, "diagnostics")
    wanted = {"node", "model", "budget", "tf", "actuator base", "actuator arm", "actuator gripper", "world map"}
    wanted |= {"binding of actuator base", "tool navigate_to", "tool drive", "tool get_battery"}

    def well():
        told = {s.name.removeprefix("agent_node: "): s.level for s in mine(house)[-1].status}
        return wanted <= set(told) and all(told[n] == DiagnosticStatus.OK for n in wanted)

    house.until(well, 15.0, f"all of {wanted} to be OK")
    (battery,) = [s for s in mine(house)[-1].status if s.name == "agent_node: tool get_battery"]
    values = {v.key: v.value for v in battery.values}
    assert values["topic"] == "/battery_state" and values["type"] == "sensor_msgs/msg/BatteryState"
    assert values["present"] == "true" and "reliable" in values["qos"]


def test_a_type_is_described(house):
    """ros2 interface show, from the node itself: ~/get_type_description"""
    kind = "agent_msgs/action/ExecuteTask"
    hash_of = house.node.get_publishers_info_by_topic(f"{NODE}/state")[0].topic_type_hash
    answer = house.call(
        GetTypeDescription,
        f"{NODE}/get_type_description",
        GetTypeDescription.Request(
            type_name="agent_msgs/msg/AgentState", type_hash=str(hash_of), include_type_sources=True
        ),
    )
    assert answer.successful, answer.failure_reason
    assert answer.type_description.type_description.type_name == "agent_msgs/msg/AgentState"
    assert any("actuators" in s.raw_file_contents for s in answer.type_sources)
    unknown = house.call(
        GetTypeDescription,
        f"{NODE}/get_type_description",
        GetTypeDescription.Request(type_name=kind + "X", type_hash=""),
    )
    assert not unknown.successful and unknown.failure_reason


def test_each_part_logs_under_its_own_name(house):
    """ros2 topic echo /rosout"""
    heard = hear(house, Log, "/rosout", QoSProfile(depth=1000, durability=DurabilityPolicy.TRANSIENT_LOCAL))
    goal = house.run("what is the battery's charge?", 30)
    assert goal.end() == ("DONE", "accepted"), goal.told()
    house.until(lambda: any(m.name == "agent_node.goals" for m in heard), 10.0, "agent_node.goals on /rosout")
    assert all(m.name.split(".")[0] in ("agent_node", "sim_robot") for m in heard), {m.name for m in heard}


def test_goals_end_in_the_status_topic(house):
    """ros2 topic echo /agent_node/execute_task/_action/status"""
    heard = hear(house, GoalStatusArray, f"{NODE}/execute_task/_action/status", LATCHED)
    goal = house.run("where are you?", 30)
    id = bytes(goal.handle.goal_id.uuid)

    def ended():
        return any(
            bytes(s.goal_info.goal_id.uuid) == id and s.status == goal.status for m in heard for s in m.status_list
        )

    house.until(ended, 10.0, "its end in the status")


def test_a_cancel_of_all_goals_is_one_of_none(house):
    """ros2 service call /agent_node/execute_task/_action/cancel_goal action_msgs/srv/CancelGoal"""
    name = f"{NODE}/execute_task/_action/cancel_goal"
    assert not house.call(CancelGoal, name, CancelGoal.Request()).goals_canceling
    goal = house.goal("go to the office")
    house.moving()
    answer = house.call(CancelGoal, name, CancelGoal.Request())
    assert [bytes(g.goal_id.uuid) for g in answer.goals_canceling] == [bytes(goal.handle.goal_id.uuid)]
    goal.wait(20)
    assert goal.end() == ("INTERRUPTED", "canceled"), goal.told()


def test_the_life_cycle_is_that_of_managed_nodes(house):
    """ros2 lifecycle list, ros2 lifecycle set"""
    states = house.call(GetAvailableStates, f"{NODE}/get_available_states", GetAvailableStates.Request())
    assert {s.label for s in states.available_states} >= {"unconfigured", "inactive", "active", "finalized"}
    possible = house.call(
        GetAvailableTransitions, f"{NODE}/get_available_transitions", GetAvailableTransitions.Request()
    )
    assert {t.transition.label for t in possible.available_transitions} == {"deactivate", "shutdown"}
    events = hear(house, TransitionEvent, f"{NODE}/transition_event")
    house.until(lambda: house.node.count_publishers(f"{NODE}/transition_event") == 1, 10.0, "its events")
    assert house.transition("deactivate")
    for action in ("execute_task", "resume_task"):
        goals = f"{NODE}/{action}/_action/send_goal"
        house.until(lambda goals=goals: goals not in offered(house), 10.0, f"the action {action} to be gone")
    assert house.transition("activate")
    house.until(lambda: any(e.goal_state.label == "active" for e in events), 10.0, "the event of being active")
    assert house.actions.wait_for_server(30)


def test_what_the_node_uses_is_what_is_listed(house):
    """agent_node profile policy: the basis of an SROS 2 policy, held against the graph itself."""
    told = subprocess.run(
        [str(BUILD / "agent_node"), "profile", "policy", "--json"],
        capture_output=True,
        text=True,
        check=True,
        env=house.env,
    )
    listed = json.loads(told.stdout)
    n = house.node
    hidden = lambda pairs: {name for name, _ in pairs if "/_action/" not in name}  # noqa: E731
    for key, there in (
        ("publishes", n.get_publisher_names_and_types_by_node("agent_node", "/")),
        ("subscribes", n.get_subscriber_names_and_types_by_node("agent_node", "/")),
        ("serves", n.get_service_names_and_types_by_node("agent_node", "/")),
        ("calls", n.get_client_names_and_types_by_node("agent_node", "/")),
    ):
        names = {x["name"] for x in listed[key]}
        assert hidden(there) - names == set(), f"{key}: used and not listed"
        assert names - hidden(there) <= {"/clock"}, f"{key}: listed and not used"
    actions = {x["name"] for x in listed["calls_actions"]}
    assert actions == {
        name.removesuffix("/_action/send_goal")
        for name, _ in n.get_client_names_and_types_by_node("agent_node", "/")
        if name.endswith("/_action/send_goal")
    }


FULL = bool(os.environ.get("PROOF"))
CROWD = (200, 10) if FULL else (30, 4)  # nodes, topics of each

CROWD_CODE = """
import sys, rclpy
from std_msgs.msg import Empty
nodes, topics = int(sys.argv[1]), int(sys.argv[2])
rclpy.init()
kept = [rclpy.create_node(f"crowd_{i}", enable_rosout=False, start_parameter_services=False) for i in range(nodes)]
pubs = [n.create_publisher(Empty, f"{n.get_name()}/topic_{k}", 1) for n in kept for k in range(topics)]
print("there", flush=True)
sys.stdin.read()
"""


def test_a_crowd_in_the_graph_slows_nothing(house):
    """200 nodes and 2,000 topics (a sample of that here): questions take as long as before."""

    def ask():
        begin = time.monotonic()
        goal = house.run("where are you?", 60)
        assert goal.end() == ("DONE", "accepted"), goal.told()
        return time.monotonic() - begin

    alone = sorted(ask() for _ in range(5))[2]
    crowd = subprocess.Popen(
        [sys.executable, "-c", CROWD_CODE, *map(str, CROWD)],
        env=house.env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        assert crowd.stdout.readline().strip() == b"there"
        house.until(lambda: sum("/crowd_" in n for n in nodes(house)) >= CROWD[0], 120.0, "the crowd")
        among = sorted(ask() for _ in range(5))[2]
    finally:
        crowd.communicate(b"", timeout=60)
    print(f"a question takes {alone:.3f} s alone and {among:.3f} s among {CROWD[0]} nodes")
    assert among < 4 * alone + 0.2
    house.until(lambda: not any("/crowd_" in n for n in nodes(house)), 60.0, "the crowd to be gone")


def test_a_signal_ends_the_node_in_good_order(house, bare):
    """Ctrl-C, and what launch sends: exit code 0, and nothing of it is left in the graph."""
    r, process = bare("-p", "autostart:=false", name="ended")
    r.until(lambda: NODE in nodes(r), 30.0, "the node")
    assert process.stop() == 0
    r.until(lambda: NODE not in nodes(r), 30.0, "the node to be gone")
    assert Path(process.log).exists()


def test_one_client_does_not_see_anothers_goal(house):
    """Two clients of one action: each gets its own result."""
    first = house.goal("where are you?")
    first.wait(30)
    second = house.goal("what is the battery's charge?")
    second.wait(30)
    assert first.session() != second.session()
    assert first.result.completed_steps[0].tool != second.result.completed_steps[0].tool
    assert ExecuteTask.Result.DONE == first.result.outcome == second.result.outcome
