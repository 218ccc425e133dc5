"""A ROS 2 peer in Python: does what it is told on stdin, says what it sees on stdout, one JSON object a line.

Messages are JSON objects with every field; NaN and the infinities are the strings "NaN", "Infinity", "-Infinity".
"""

import importlib
import json
import math
import queue
import sys
import threading

import numpy
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import QoSProfile
import test_msgs.message_fixtures

DEPTH = 2000


def interface(name):
    """Find the class of pkg/msg/Name, pkg/srv/Name, or of a part of an action."""
    package, kind, base = name.split("/")
    module = importlib.import_module(f"{package}.{kind}")
    if hasattr(module, base):
        return getattr(module, base)
    whole, part = base.rsplit("_", 1)
    if part in ("Request", "Response"):
        return getattr(interface(f"{package}/{kind}/{whole}"), part)
    action = getattr(module, whole)
    parts = {
        "Goal": "Goal",
        "Result": "Result",
        "Feedback": "Feedback",
        "FeedbackMessage": "Impl.FeedbackMessage",
        "SendGoal": "Impl.SendGoalService",
        "GetResult": "Impl.GetResultService",
    }
    for step in parts[part].split("."):
        action = getattr(action, step)
    return action


def number(value):
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def dump(value):
    """Turn a message, or a value of one of its fields, into what JSON can say."""
    if hasattr(value, "get_fields_and_field_types"):
        return {field: dump(getattr(value, field)) for field in value.get_fields_and_field_types()}
    if isinstance(value, bytes):
        assert len(value) == 1
        return value[0]
    if isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return number(value)
    if isinstance(value, numpy.ndarray):
        return [number(item) for item in value.tolist()]
    return [dump(item) for item in value]


def one(kind, value):
    """Turn a JSON value into that of a field's element, by the element's type in IDL."""
    if "/" in kind:
        package, name = kind.split("/")
        return fill(interface_of_field(package, name), value)
    if kind in ("float", "double"):
        value = float(value)
        return float(numpy.float32(value)) if kind == "float" else value
    if kind == "octet":
        return bytes([value])
    return value


def interface_of_field(package, name):
    return interface(f"{package}/msg/{name}") if "_" not in name else interface(f"{package}/action/{name}")


def fill(message_class, values):
    message = message_class()
    fields = message_class.get_fields_and_field_types()
    assert set(fields) == set(values), (message_class, set(fields) ^ set(values))
    for name, kind in fields.items():
        if kind.startswith("sequence<"):
            kind = kind[len("sequence<") : -1]
            head, _, bound = kind.rpartition(", ")
            element = head if head and bound.isdigit() else kind
            setattr(message, name, [one(element, item) for item in values[name]])
        elif kind.endswith("]"):
            element = kind[: kind.rindex("[")]
            items = [one(element, item) for item in values[name]]
            held = getattr(message, name)
            setattr(message, name, numpy.array(items, dtype=held.dtype) if isinstance(held, numpy.ndarray) else items)
        else:
            setattr(message, name, one(kind, values[name]))
    return message


class Peer:
    """Carries out commands on one node."""

    def __init__(self):
        self.node = rclpy.create_node("rclpy_echo")
        self.publishers = {}
        self.kept = []  # entities that live as long as the node
        self.lock = threading.Lock()

    def say(self, **what):
        with self.lock:
            print(json.dumps(what), flush=True)

    def command(self, do, **with_):
        return getattr(self, "do_" + do)(**with_)

    def do_subscribe(self, type, topic):
        self.kept.append(
            self.node.create_subscription(
                interface(type), topic, lambda m: self.say(got=topic, message=dump(m)), QoSProfile(depth=DEPTH)
            )
        )
        return {}

    def do_publisher(self, type, topic):
        self.publishers[topic] = self.node.create_publisher(interface(type), topic, QoSProfile(depth=DEPTH))
        return {}

    def do_matched(self, topic):
        return {"count": self.publishers[topic].get_subscription_count()}

    def do_publish(self, type, topic, message):
        self.publishers[topic].publish(fill(interface(type), message))
        return {}

    def do_fixtures(self, type, topic):
        """Publish what test_msgs itself keeps to test with."""
        name = type.split("/")[-1]
        snake = "".join(
            "_" + c.lower() if c.isupper() and i and not name[i - 1].isupper() else c.lower()
            for i, c in enumerate(name)
        )
        messages = getattr(test_msgs.message_fixtures, "get_msg_" + snake)()
        for message in messages:
            self.publishers[topic].publish(message)
        return {"messages": [dump(m) for m in messages]}

    def do_default(self, type):
        return {"message": dump(interface(type)())}

    def do_serve(self, type, service, response):
        service_class = interface(type)

        def handle(request, _):
            self.say(asked=service, message=dump(request))
            return fill(service_class.Response, response)

        self.kept.append(self.node.create_service(service_class, service, handle))
        return {}

    def do_call(self, type, service, request):
        service_class = interface(type)
        client = self.node.create_client(service_class, service)
        if not client.wait_for_service(timeout_sec=20):
            return {"error": "no server of " + service}
        future = client.call_async(fill(service_class.Request, request))
        self.executor.spin_until_future_complete(future, timeout_sec=20)
        response = future.result()
        self.node.destroy_client(client)
        return {"error": "no response"} if response is None else {"message": dump(response)}

    def run(self):
        commands = queue.Queue()

        def read():
            for line in sys.stdin:
                commands.put(json.loads(line))
            commands.put(None)

        threading.Thread(target=read, daemon=True).start()
        self.executor = SingleThreadedExecutor()
        self.executor.add_node(self.node)
        self.say(ready=True)
        while True:
            self.executor.spin_once(timeout_sec=0.01)
            try:
                command = commands.get_nowait()
            except queue.Empty:
                continue
            if command is None:
                return
            try:
                self.say(done=self.command(**command))
            except Exception as error:  # reported to the test, which fails
                self.say(done={"error": f"{error!r} in {command['do']}"})


if __name__ == "__main__":
    rclpy.init()
    try:
        Peer().run()
    finally:
        rclpy.shutdown()
