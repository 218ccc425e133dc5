"""Parameters of a running node, as `ros2 param` sees and sets them."""

import pytest
from asking import describe, get, names, put, up
from rcl_interfaces.msg import Parameter, ParameterEvent, ParameterType
from rcl_interfaces.srv import GetParameters, GetParameterTypes, ListParameters, SetParametersAtomically
from rig import value_of

NODE = "/agent_node"


@pytest.fixture(scope="module")
def node(bare):
    """One node without a robot for all questions."""
    r, _ = bare("-p", "autostart:=false", "-p", "qos_overrides./odom.subscription.depth:=3", name="node")
    events = []
    r.node.create_subscription(ParameterEvent, "/parameter_events", events.append, 100)
    up(r, NODE)
    return r, events


def test_every_parameter_has_a_description(node):
    r, _ = node
    for name in names(r, NODE):
        assert describe(r, NODE, name).description, name


@pytest.mark.parametrize(
    ("name", "kind", "low", "high"),
    [
        ("feedback_rate", "floating_point_range", 0.1, 100.0),
        ("queue_length", "integer_range", 0, 100000),
        ("budget.max_steps", "integer_range", 0, 2**32 - 1),
    ],
)
def test_ranges_are_told(node, name, kind, low, high):
    r, _ = node
    (told,) = getattr(describe(r, NODE, name), kind)
    assert (told.from_value, told.to_value) == (low, high)


def test_words_that_a_parameter_takes_are_told(node):
    r, _ = node
    assert "reject, queue, preempt" in describe(r, NODE, "queue_policy").additional_constraints


def test_types_are_told(node):
    r, _ = node
    request = GetParameterTypes.Request(names=["profile", "queue_length", "feedback_rate", "autostart", "policy.tools"])
    p = ParameterType
    assert list(r.call(GetParameterTypes, f"{NODE}/get_parameter_types", request).types) == [
        p.PARAMETER_STRING,
        p.PARAMETER_INTEGER,
        p.PARAMETER_DOUBLE,
        p.PARAMETER_BOOL,
        p.PARAMETER_STRING_ARRAY,
    ]


def test_parameters_are_listed_by_prefix_and_depth(node):
    r, _ = node
    service = f"{NODE}/list_parameters"
    below = r.call(ListParameters, service, ListParameters.Request(prefixes=["budget"])).result
    assert below.names and all(n.startswith("budget.") for n in below.names) and "budget" in below.prefixes
    top = r.call(ListParameters, service, ListParameters.Request(depth=1)).result.names
    assert "profile" in top and not any("." in n for n in top)


def test_a_change_takes_effect_at_once_where_it_can(node):
    r, _ = node
    (result,) = put(r, NODE, queue_length=5)
    assert result.successful and result.reason == ""
    assert get(r, NODE, "queue_length") == 5


@pytest.mark.parametrize(
    ("name", "value", "when"),
    [
        ("model.name", "other", "takes effect at the next configure"),
        ("budget.max_steps", 12, "takes effect at the next configure"),
        ("result_timeout", 30.0, "takes effect at the next activate"),
        ("autostart", True, "takes effect at the next start"),
    ],
)
def test_a_change_that_waits_says_for_what(node, name, value, when):
    r, _ = node
    (result,) = put(r, NODE, **{name: value})
    assert result.successful and when in result.reason
    assert when in describe(r, NODE, name).additional_constraints


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("feedback_rate", 1000.0, "100"),  # over its range
        ("feedback_rate", float("nan"), "feedback_rate"),
        ("queue_length", -1, "0"),
        ("queue_length", "five", "string"),
        ("queue_policy", "perhaps", "perhaps"),
        ("policy.tools", "drive", "policy.tools"),
        ("no_such.thing", 1, "no_such.thing"),
        ("qos_overrides./odom.subscription.depth", 4, "read-only"),
    ],
)
def test_a_change_that_means_nothing_is_refused_with_its_reason(node, name, value, says):
    r, _ = node
    (result,) = put(r, NODE, **{name: value})
    assert not result.successful and says in result.reason, result.reason


def test_parameters_set_together_are_all_set_or_none(node):
    r, _ = node
    before = get(r, NODE, "queue_length")
    request = SetParametersAtomically.Request(
        parameters=[
            Parameter(name="queue_length", value=value_of(before + 1)),
            Parameter(name="feedback_rate", value=value_of(0.0)),
        ]
    )
    result = r.call(SetParametersAtomically, f"{NODE}/set_parameters_atomically", request).result
    assert not result.successful and "feedback_rate" in result.reason
    assert get(r, NODE, "queue_length") == before


def test_changes_are_told_on_parameter_events(node):
    r, events = node
    del events[:]
    assert put(r, NODE, queue_length=9)[0].successful

    def told():
        return [p for e in events if e.node == NODE for p in e.changed_parameters if p.name == "queue_length"]

    r.until(lambda: told() and told()[-1].value.integer_value == 9, 10.0, "the change on /parameter_events")


def test_a_question_for_an_unknown_parameter_has_no_value(node):
    r, _ = node
    answer = r.call(
        GetParameters, f"{NODE}/get_parameters", GetParameters.Request(names=["queue_length", "no_such.thing"])
    )
    assert not answer.values


def test_simulated_time_is_switched_while_it_runs(node):
    r, _ = node
    assert put(r, NODE, use_sim_time=True)[0].successful
    r.until(lambda: r.node.count_subscribers("/clock") == 1, 10.0, "a subscription to /clock")
    assert put(r, NODE, use_sim_time=False)[0].successful
    r.until(lambda: r.node.count_subscribers("/clock") == 0, 10.0, "no subscription to /clock")
