"""Questions that `ros2` commands ask, put through rclpy."""

import time

from rcl_interfaces.msg import Parameter, ParameterType
from rcl_interfaces.srv import DescribeParameters, GetParameters, ListParameters, SetParameters
from rig import value_of

FIELDS = {
    ParameterType.PARAMETER_BOOL: "bool_value",
    ParameterType.PARAMETER_INTEGER: "integer_value",
    ParameterType.PARAMETER_DOUBLE: "double_value",
    ParameterType.PARAMETER_STRING: "string_value",
    ParameterType.PARAMETER_DOUBLE_ARRAY: "double_array_value",
    ParameterType.PARAMETER_INTEGER_ARRAY: "integer_array_value",
    ParameterType.PARAMETER_STRING_ARRAY: "string_array_value",
}


def nodes(r):
    """ros2 node list"""
    return sorted(f"{ns.rstrip('/')}/{n}" for n, ns in r.node.get_node_names_and_namespaces())


def services(r):
    """ros2 service list -t"""
    return dict(r.node.get_service_names_and_types())


def topics(r):
    """ros2 topic list -t"""
    return dict(r.node.get_topic_names_and_types())


def up(r, name, timeout=60.0):
    """Waits until a node answers questions for its parameters."""
    end = time.monotonic() + timeout
    while f"{name}/get_parameters" not in services(r) or name not in nodes(r):
        assert time.monotonic() < end, f"no node {name} within {timeout} s: {nodes(r)}\n{r.logs()}"
        time.sleep(0.05)


def names(r, node):
    """ros2 param list NODE"""
    return r.call(ListParameters, f"{node}/list_parameters", ListParameters.Request()).result.names


def get(r, node, *wanted):
    """ros2 param get NODE NAME; one value, or a dictionary of several."""
    answer = r.call(GetParameters, f"{node}/get_parameters", GetParameters.Request(names=list(wanted)))
    assert len(answer.values) == len(wanted), f"{wanted}: {answer}"
    values = [getattr(v, FIELDS[v.type]) if v.type in FIELDS else None for v in answer.values]
    values = [list(v) if not isinstance(v, (str, bool, int, float, type(None))) else v for v in values]
    return values[0] if len(wanted) == 1 else dict(zip(wanted, values, strict=True))


def put(r, node, **values):
    """ros2 param set NODE NAME VALUE, one after another: the results."""
    request = SetParameters.Request(
        parameters=[Parameter(name=k.replace("__", "."), value=value_of(v)) for k, v in values.items()]
    )
    return r.call(SetParameters, f"{node}/set_parameters", request).results


def describe(r, node, name):
    """ros2 param describe NODE NAME"""
    request = DescribeParameters.Request(names=[name])
    return r.call(DescribeParameters, f"{node}/describe_parameters", request).descriptors[0]
