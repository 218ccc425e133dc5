"""A person's program on ROS 1, on rospy and actionlib: reads one JSON object a line and answers with one.

usage: /usr/bin/python3 peer.py       (agent_msgs' Python classes on PYTHONPATH)
"""

import json
import sys
import threading
import time

import actionlib
import rospy
from agent_msgs.msg import ActuatorState, AgentState, ExecuteTaskAction, ExecuteTaskGoal
from genpy import Duration, Message, Time
from roslib.message import get_message_class, get_service_class
from std_msgs.msg import Bool, Empty, String

STATES = "PENDING ACTIVE PREEMPTED SUCCEEDED ABORTED REJECTED PREEMPTING RECALLING RECALLED LOST".split()


def plain(v):
    """A message as JSON has it."""
    if isinstance(v, Message):
        return {name: plain(getattr(v, name)) for name in v.__slots__}
    if isinstance(v, (Time, Duration)):
        return v.to_sec()
    if isinstance(v, (list, tuple)):
        return [plain(x) for x in v]
    if isinstance(v, bytes):
        return list(v)
    return v


class Goal:
    """One goal; what came of it is noted with its time."""

    def __init__(self, client, task, criteria):
        goal = ExecuteTaskGoal()
        goal.task, goal.success_criteria = task, criteria
        self.feedback, self.seen, self.done, self.ended = [], [], threading.Event(), 0.0
        self.handle = client.send_goal(goal, self.on_transition, self.on_feedback)

    def on_transition(self, handle):
        state = STATES[handle.get_goal_status()]
        if not self.seen or self.seen[-1] != state:
            self.seen.append(state)
        if handle.get_comm_state() == actionlib.CommState.DONE:
            self.ended = time.monotonic()
            self.done.set()

    def on_feedback(self, _, m):
        self.feedback.append(plain(m))


class Peer:
    def __init__(self):
        self.truths, self.goals, self.heard, self.state = [], {}, {}, None
        rospy.Subscriber("/truth", String, lambda m: self.truths.append((time.monotonic(), json.loads(m.data))))
        rospy.Subscriber("/agent_node/state", AgentState, self.on_state)
        self.fault = rospy.Publisher("/fault", String, queue_size=1, latch=True)
        self.estop = rospy.Publisher("/emergency_stop", Bool, queue_size=1)
        self.begin = rospy.Publisher("/begin", Empty, queue_size=1)
        self.client = actionlib.ActionClient("/agent_node/execute_task", ExecuteTaskAction)

    def on_state(self, m):
        self.state = m

    def ready(self, timeout):
        """The action's server is there, and the node has measured that the robot stands."""
        end = time.monotonic() + timeout
        if not self.client.wait_for_server(rospy.Duration(timeout)):
            return {"error": "no action server"}
        while not (self.state and all(a.state == ActuatorState.HOLDING for a in self.state.actuators)):
            if time.monotonic() > end:
                return {"error": f"not ready within {timeout} s: {self.state}"}
            time.sleep(0.02)
        return {}

    def send(self, name, task, criteria=()):
        self.goals[name] = Goal(self.client, task, list(criteria))
        return {}

    def cancel(self, name):
        self.goals[name].handle.cancel()
        return {}

    def result(self, name, timeout):
        g = self.goals[name]
        if not g.done.wait(timeout):
            return {"error": f"no result within {timeout} s", "seen": g.seen}
        at_end = [t for at, t in self.truths if at <= g.ended + 0.02]
        return {
            "status": STATES[g.handle.get_terminal_state()],
            "result": plain(g.handle.get_result()),
            "seen": g.seen,
            "feedback": len(g.feedback),
            "last_feedback": g.feedback[-1] if g.feedback else None,
            "truth": at_end[-1] if at_end else None,
        }

    def truth(self):
        began = time.monotonic()
        while not self.truths or self.truths[-1][0] < began:
            if time.monotonic() > began + 10:
                return {"error": "the robot tells nothing"}
            time.sleep(0.02)
        return self.truths[-1][1]

    def begin_anew(self, timeout):
        """The robot is put back where it began, and the node told that this was meant."""
        end, before = time.monotonic() + timeout, self.truth()["begun"]
        self.fault.publish("")
        self.estop.publish(False)
        while self.begin.get_num_connections() == 0 or self.truth()["begun"] == before:
            self.begin.publish()
            if time.monotonic() > end:
                return {"error": f"not within {timeout} s: the robot begins anew"}
        reset = rospy.ServiceProxy("/agent_node/reset", get_service_class("std_srvs/Trigger"))
        while not reset().success:
            if time.monotonic() > end:
                return {"error": f"not within {timeout} s: the node takes a reset"}
        self.goals.clear()
        return self.ready(end - time.monotonic())

    def set_fault(self, fault):
        self.fault.publish(fault)
        return {}

    def set_estop(self, on):
        self.estop.publish(on)
        return {"listeners": self.estop.get_num_connections()}

    def call(self, service, type, request=()):
        rospy.wait_for_service(service, 10)
        try:
            return {"response": plain(rospy.ServiceProxy(service, get_service_class(type))(*request))}
        except rospy.ServiceException as e:
            return {"failure": str(e)}

    def wait(self, topic, type, timeout):
        return {"message": plain(rospy.wait_for_message(topic, get_message_class(type), timeout))}

    def listen(self, topic, type):
        self.heard[topic] = []
        rospy.Subscriber(topic, get_message_class(type), lambda m: self.heard[topic].append(plain(m)))
        return {}

    def heard_on(self, topic):
        return {"messages": self.heard[topic]}


def main():
    rospy.init_node("person", anonymous=True, disable_signals=True)
    peer = Peer()
    print(json.dumps({"up": True}), flush=True)
    for line in sys.stdin:
        order = json.loads(line)
        try:
            answer = getattr(peer, order.pop("do"))(**order)
        except Exception as e:  # the test wants to know, whatever it is
            answer = {"error": f"{type(e).__name__}: {e}"}
        print(json.dumps(answer), flush=True)
    rospy.signal_shutdown("the test is over")


main()
