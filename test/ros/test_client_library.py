"""Parameters, life cycle, log and type descriptions of a Go node, seen from rclpy in another process."""

import yaml
from conftest import eventually, wait
from lifecycle_msgs.msg import State, Transition, TransitionEvent
from lifecycle_msgs.srv import ChangeState, GetAvailableStates, GetAvailableTransitions, GetState
from rcl_interfaces.msg import Log, ParameterEvent, ParameterType
from rcl_interfaces.srv import DescribeParameters, GetParameterTypes, ListParameters, SetParametersAtomically
from rclpy.lifecycle import LifecycleNode
from rclpy.parameter import Parameter, parameter_value_to_python
from rclpy.parameter_client import AsyncParameterClient
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy
from type_description_interfaces.srv import GetTypeDescription

ROBOT = "/fleet/robot"


def call(node, service_type, name, request=None):
    client = node.create_client(service_type, name)
    assert client.wait_for_service(20)
    answer = wait(client.call_async(request or service_type.Request()))
    node.destroy_client(client)
    return answer


def test_parameters(program, spinner):
    robot = program("client_library", "--ros-args", "-p", "speed.max:=1.5", "-p", "doubles:=[1, 2]")
    node = spinner.node("asker")
    events = []
    node.create_subscription(ParameterEvent, "/parameter_events", events.append, 100)
    client = AsyncParameterClient(node, ROBOT)
    assert client.wait_for_services(20)

    names = ["speed.max", "speed.count", "name", "any", "bytes", "bools", "doubles", "use_sim_time"]
    values = [parameter_value_to_python(v) for v in wait(client.get_parameters(names)).values]
    assert values[:4] == [1.5, 2, "r1", ["a", "b"]] and list(values[5]) == [True, False]
    assert [bytes(b) if isinstance(b, bytes) else b for b in values[4]] in ([b"\x01", b"\x02"], [1, 2])
    assert list(values[6]) == [1.0, 2.0] and values[7] is False

    listed = wait(client.list_parameters(["speed"], 10)).result
    assert (list(listed.names), list(listed.prefixes)) == (["speed.count", "speed.max"], ["speed"])
    everything = call(node, ListParameters, ROBOT + "/list_parameters").result.names
    assert sorted(everything) == sorted(names)

    results = wait(client.set_parameters([
        Parameter("speed.max", value=0.5), Parameter("speed.max", value=9.0), Parameter("speed.max", value="fast"),
        Parameter("name", value="r2"), Parameter("nonsense", value=1), Parameter("speed.count", value=5),
        Parameter("any", value=7),
    ])).results  # fmt: skip
    assert [r.successful for r in results] == [True, False, False, False, False, False, True]
    assert all(bool(r.reason) != r.successful for r in results)
    assert "five is not liked" in results[5].reason
    eventually(lambda: [
        (e.node, p.name, p.value.double_value) for e in events for p in e.changed_parameters if p.name == "speed.max"
    ] == [(ROBOT, "speed.max", 0.5)])  # fmt: skip

    atomic = wait(
        client.set_parameters_atomically([Parameter("speed.max", value=2.0), Parameter("speed.count", value=0)])
    )
    assert not atomic.result.successful
    robot.tell(do="get", text="speed.max")
    assert robot.expect(event="value")["value"] == 0.5
    good = SetParametersAtomically.Request(
        parameters=[
            Parameter("speed.max", value=2.0).to_parameter_msg(),
            Parameter("speed.count", value=6).to_parameter_msg(),
        ]
    )
    assert call(node, SetParametersAtomically, ROBOT + "/set_parameters_atomically", good).result.successful

    d = call(
        node,
        DescribeParameters,
        ROBOT + "/describe_parameters",
        DescribeParameters.Request(names=["speed.max", "name"]),
    )
    speed, name = d.descriptors
    r = speed.floating_point_range[0]
    assert (speed.name, speed.type, speed.description) == (
        "speed.max",
        ParameterType.PARAMETER_DOUBLE,
        "Highest speed, m/s.",
    )
    assert (r.from_value, r.to_value, r.step) == (0.0, 2.0, 0.25)
    assert name.read_only and name.additional_constraints == "a word" and not speed.read_only
    types = call(
        node, GetParameterTypes, ROBOT + "/get_parameter_types", GetParameterTypes.Request(names=["any", "bytes"])
    )
    assert list(types.types) == [ParameterType.PARAMETER_INTEGER, ParameterType.PARAMETER_BYTE_ARRAY]

    robot.tell(do="dump")
    dumped = yaml.safe_load(robot.expect(event="dump")["text"])[ROBOT]["ros__parameters"]
    assert dumped["speed"] == {"max": 2.0, "count": 6} and dumped["name"] == "r1" and dumped["doubles"] == [1.0, 2.0]
    robot.stop(None)


def test_lifecycle_is_told_as_rclpy_tells_it(program, spinner):
    """The machine of an rclpy managed node is the measure."""
    program("client_library")
    node = spinner.node("manager")
    model = LifecycleNode("model", context=spinner.context)
    spinner.executor.add_node(model)
    spinner.nodes.append(model)

    def machine(name):
        states = call(node, GetAvailableStates, name + "/get_available_states").available_states
        graph = call(node, GetAvailableTransitions, name + "/get_transition_graph").available_transitions
        now = call(node, GetAvailableTransitions, name + "/get_available_transitions").available_transitions
        return (
            sorted((s.id, s.label) for s in states),
            *(
                sorted((t.transition.id, t.transition.label, t.start_state.id, t.goal_state.id) for t in transitions)
                for transitions in (graph, now)
            ),
        )

    assert machine(ROBOT) == machine("/model")


def test_lifecycle_transitions(program, spinner):
    program("client_library")
    node = spinner.node("manager")
    events = []
    node.create_subscription(TransitionEvent, ROBOT + "/transition_event", events.append, 100)
    eventually(lambda: node.count_publishers(ROBOT + "/transition_event") == 1)

    def change(id=0, label=""):
        request = ChangeState.Request(transition=Transition(id=id, label=label))
        return call(node, ChangeState, ROBOT + "/change_state", request).success

    def state():
        s = call(node, GetState, ROBOT + "/get_state").current_state
        return s.id, s.label

    assert state() == (State.PRIMARY_STATE_UNCONFIGURED, "unconfigured")
    assert not change(Transition.TRANSITION_ACTIVATE)
    assert not change(Transition.TRANSITION_CONFIGURE)  # the first time fails
    assert state()[1] == "unconfigured"
    assert change(Transition.TRANSITION_CONFIGURE)
    assert change(label="activate")
    assert state() == (State.PRIMARY_STATE_ACTIVE, "active")
    assert change(label="shutdown")
    assert state() == (State.PRIMARY_STATE_FINALIZED, "finalized")
    eventually(lambda: [e.goal_state.label for e in events][-6:] == [
        "configuring", "inactive", "activating", "active", "shuttingdown", "finalized",
    ])  # fmt: skip


def test_rosout(program, spinner):
    robot = program("client_library", "--ros-args", "--log-level", "fleet.robot.guard:=warn")
    robot.tell(do="log", level="ERROR", text="early")
    node = spinner.node("screen")
    logs = []
    qos = QoSProfile(
        depth=1000, history=HistoryPolicy.KEEP_LAST, reliability=ReliabilityPolicy.RELIABLE,
        durability=DurabilityPolicy.TRANSIENT_LOCAL,
    )  # fmt: skip
    node.create_subscription(Log, "/rosout", lambda m: logs.append(m) if m.name.startswith("fleet") else None, qos)
    eventually(lambda: [m.msg for m in logs] == ["early"])
    robot.tell(do="log", level="INFO", text="below the logger's level")
    robot.tell(do="log", level="WARN", text="late")
    eventually(lambda: [m.msg for m in logs] == ["early", "late"])
    assert (logs[1].name, logs[1].level) == ("fleet.robot.guard", Log.WARN)
    assert logs[1].file.endswith("main.go") and logs[1].line > 0 and logs[1].stamp.sec > 0

    infos = node.get_publishers_info_by_topic("/rosout")
    mine = [i for i in infos if i.node_name == "robot"]
    assert len(mine) == 1 and mine[0].qos_profile.lifespan.nanoseconds == 10_000_000_000


def test_rosout_can_be_disabled(program, spinner):
    robot = program("client_library", "--ros-args", "--disable-rosout-logs")
    node = spinner.node("screen")
    eventually(lambda: ("robot", "/fleet") in node.get_node_names_and_namespaces())
    assert not [i for i in node.get_publishers_info_by_topic("/rosout") if i.node_name == "robot"]
    robot.stop(None)


def test_type_description_is_told_as_rclpy_tells_it(program, spinner):
    program("client_library")
    node = spinner.node("asker")
    hash_of = {}
    for info in node.get_publishers_info_by_topic("/parameter_events"):
        hash_of[info.topic_type] = str(info.topic_type_hash)
    assert hash_of
    for name, type_hash in hash_of.items():
        request = GetTypeDescription.Request(type_name=name, type_hash=type_hash, include_type_sources=True)
        theirs = call(node, GetTypeDescription, "/asker/get_type_description", request)
        ours = call(node, GetTypeDescription, ROBOT + "/get_type_description", request)
        assert theirs.successful and ours.successful, ours.failure_reason
        assert ours.type_description == theirs.type_description
        # rcl leaves out the last line's end.
        texts = [
            {(s.type_name, s.encoding, s.raw_file_contents.rstrip()) for s in a.type_sources} for a in (ours, theirs)
        ]
        assert texts[0] == texts[1]
    wrong = call(node, GetTypeDescription, ROBOT + "/get_type_description",
                 GetTypeDescription.Request(type_name=name, type_hash="RIHS01_" + "0" * 64))  # fmt: skip
    assert not wrong.successful and wrong.failure_reason
