"""An action server made of the action's own services and topics, with the field's bad habits: a library would do too
much right. It blocks no executor: what is answered later is answered from the thread that knows by then."""

import threading
import time

from action_msgs.msg import GoalInfo, GoalStatus, GoalStatusArray
from action_msgs.srv import CancelGoal
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.qos import DurabilityPolicy, QoSProfile

InvalidHandle = rclpy_implementation.InvalidHandle

ACCEPTED, EXECUTING, CANCELING = GoalStatus.STATUS_ACCEPTED, GoalStatus.STATUS_EXECUTING, GoalStatus.STATUS_CANCELING
SUCCEEDED, CANCELED, ABORTED = GoalStatus.STATUS_SUCCEEDED, GoalStatus.STATUS_CANCELED, GoalStatus.STATUS_ABORTED

KEPT = 20  # goals that ended are remembered


def unless_gone(send):
    """A server that has vanished answers nobody."""
    try:
        send()
    except InvalidHandle:
        pass


class Later:
    """In place of a response: it is sent when somebody calls send."""

    def __init__(self):
        self._ready, self._send, self._response = threading.Lock(), None, None

    def send(self, response):
        with self._ready:
            self._response = response
            send = self._send
        if send:
            send(response)

    def route(self, send):
        with self._ready:
            self._send = send
            response = self._response
        if response is not None:
            send(response)


def serve(node, kind, name, callback):
    """A service whose callback may return Later."""
    service = node.create_service(kind, name, callback)
    at_once = service.send_response

    def send(response, header):
        if isinstance(response, Later):
            response.route(lambda r: unless_gone(lambda: at_once(r, header)))
        else:
            at_once(response, header)

    service.send_response = send
    return service


class Goal:
    """One goal: what was asked, whether it is to end, and how it ended."""

    def __init__(self, server, id, request):
        self.server, self.id, self.request = server, id, request
        self.status, self.result = EXECUTING, None
        self.fault = ""  # what the habits made it fail with
        self.canceling, self.dropped = threading.Event(), threading.Event()
        self.waiting = []
        self.begun = self.told = time.monotonic()

    def over(self):
        """It is to end: canceled, or its server is gone."""
        return self.canceling.is_set() or self.dropped.is_set()

    def fails(self, after):
        """The habits let it fail, so many seconds after it began."""
        habits = self.server.habits
        if not habits.abort or time.monotonic() - self.begun < after:
            return False
        self.fault = habits.abort
        if habits.abort_once:
            habits.abort = ""
        return True

    def feedback(self, make):
        """Sends feedback where it is due; make fills the message."""
        now = time.monotonic()
        if now - self.told < self.server.habits.feedback_period or self.dropped.is_set():
            return
        if self.server.habits.feedback_stops and now - self.begun > 0.5:
            return
        self.told = now
        m = self.server.kind.Impl.FeedbackMessage()
        m.goal_id.uuid = list(self.id)
        make(m.feedback)
        unless_gone(lambda: self.server.telling.publish(m))


class Server:
    """Serves one action. carry_out(goal) runs in the goal's own thread and returns its status and result."""

    def __init__(self, node, kind, name, habits, carry_out, check=lambda request: True):
        self.node, self.kind, self.name, self.habits = node, kind, name, habits
        self.carry_out, self.check = carry_out, check
        self.accepted = self.cancels = 0
        self.known, self.lock = {}, threading.RLock()
        self.open()

    def open(self):
        n, kind, name = self.node, self.kind.Impl, f"{self.name}/_action"
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self.telling = n.create_publisher(kind.FeedbackMessage, f"{name}/feedback", 10)
        self.statuses = n.create_publisher(GoalStatusArray, f"{name}/status", latched)
        self.services = [
            serve(n, kind.SendGoalService, f"{name}/send_goal", self._on_send),
            serve(n, CancelGoal, f"{name}/cancel_goal", self._on_cancel),
            serve(n, kind.GetResultService, f"{name}/get_result", self._on_result),
        ]

    def close(self):
        """As a process that dies: everything is forgotten, nothing is answered. The executor's thread calls it."""
        with self.lock:
            for goal in self.known.values():
                goal.dropped.set()
            self.known = {}
        for s in self.services:
            self.node.destroy_service(s)
        for p in (self.telling, self.statuses):
            self.node.destroy_publisher(p)

    def _on_send(self, request, response):
        response.accepted = bool(self.check(request.goal))
        response.stamp = self.node.get_clock().now().to_msg()
        if not response.accepted:
            return response
        goal = Goal(self, bytes(request.goal_id.uuid), request.goal)
        with self.lock:
            self.known[goal.id] = goal
            self.accepted += 1
        if self.habits.accept_lost:
            self._begin(goal)
            return Later()  # and never
        if self.habits.accept_delay > 0:
            later = Later()

            def answer():
                if not goal.dropped.is_set():
                    later.send(response)
                    self._begin(goal)

            threading.Timer(self.habits.accept_delay, answer).start()
            return later
        self._begin(goal)
        return response

    def _begin(self, goal):
        goal.begun = goal.told = time.monotonic()
        self.tell()
        threading.Thread(target=self._run, args=(goal,), daemon=True).start()

    def _run(self, goal):
        if self.habits.lie:
            self._end(goal, SUCCEEDED, self.kind.Result())
            return
        status, result = self.carry_out(goal)
        if status == CANCELED and self.habits.cancel_succeeds:
            status = SUCCEEDED
        if self.habits.result_delay > 0:
            goal.dropped.wait(self.habits.result_delay)
        self._end(goal, status, result)

    def _end(self, goal, status, result):
        with self.lock:
            if goal.dropped.is_set():
                return
            goal.status, goal.result = status, result
            waiting, goal.waiting = goal.waiting, []
            over = [g for g in self.known.values() if g.result is not None]
            for old in over[:-KEPT]:
                del self.known[old.id]
        for w in waiting:
            w.send(self._answer(goal))
        self.tell()

    def _on_cancel(self, request, response):
        id = bytes(request.goal_info.goal_id.uuid)
        with self.lock:
            meant = [g for g in self.known.values() if g.result is None and id in (g.id, bytes(16))]
            self.cancels += 1
            if not meant:
                known = id in self.known
                code = CancelGoal.Response
                response.return_code = code.ERROR_GOAL_TERMINATED if known else code.ERROR_UNKNOWN_GOAL_ID
                return response
            for g in meant:
                g.status = CANCELING
                info = GoalInfo()
                info.goal_id.uuid = list(g.id)
                response.goals_canceling.append(info)
        self.tell()
        for g in meant:
            g.canceling.set()
        return response

    def _on_result(self, request, response):
        with self.lock:
            goal = self.known.get(bytes(request.goal_id.uuid))
            if goal is None:
                response.status = GoalStatus.STATUS_UNKNOWN
                return response
            if goal.result is None:
                later = Later()
                goal.waiting.append(later)
                return later
        return self._answer(goal)

    def _answer(self, goal):
        return self.kind.Impl.GetResultService.Response(status=goal.status, result=goal.result)

    def tell(self):
        """The status of every goal, as the status topic has it."""
        array = GoalStatusArray()
        with self.lock:
            for goal in self.known.values():
                s = GoalStatus(status=goal.status)
                s.goal_info.goal_id.uuid = list(goal.id)
                array.status_list.append(s)
        unless_gone(lambda: self.statuses.publish(array))
