"""Goals of ~/execute_task, and the words for how they end."""

import threading
import time

from action_msgs.msg import GoalStatus
from agent_msgs.action import ExecuteTask

OUTCOMES = {v: k for k, v in vars(ExecuteTask.Result).items() if k.isupper() and isinstance(v, int)}

STATUS = {
    "SUCCEEDED": GoalStatus.STATUS_SUCCEEDED,
    "CANCELED": GoalStatus.STATUS_CANCELED,
    "ABORTED": GoalStatus.STATUS_ABORTED,
}
STATUS_NAME = {v: k for k, v in STATUS.items()}


def outcome(result):
    return OUTCOMES[result.outcome]


class Goal:
    """A goal on its way: its feedback, its result and when both came."""

    def __init__(self, rig, request):
        self.rig, self.request = rig, request
        self.feedback = []
        self.accepted = None
        self.handle = None
        self.status = self.result = self.ended = None
        self.sent = time.monotonic()
        self._answered, self._done = threading.Event(), threading.Event()
        sent = rig.asked(lambda: rig.actions.send_goal_async(request, feedback_callback=self._on_feedback))
        sent.add_done_callback(self._on_answer)

    def _on_feedback(self, message):
        self.feedback.append((time.monotonic(), message.feedback))

    def _on_answer(self, future):
        self.handle = future.result()
        self.accepted = self.handle.accepted
        self._answered.set()
        if self.accepted:
            self.handle.get_result_async().add_done_callback(self._on_result)

    def _on_result(self, future):
        self.ended = time.time()
        answer = future.result()
        self.status, self.result = answer.status, answer.result
        self._done.set()

    def answered(self, timeout=20.0):
        assert self._answered.wait(timeout), f"no answer to the goal within {timeout} s"
        return self.accepted

    def over(self):
        return self._done.is_set()

    def cancel(self):
        self.answered()
        return self.rig.wait(self.rig.asked(self.handle.cancel_goal_async), 20.0)

    def wait(self, timeout=90.0):
        """The result; the test fails where none comes in time."""
        self.answered()
        assert self.accepted, "the goal was rejected"
        assert self._done.wait(timeout), f"no result within {timeout} s\n{self.rig.logs()}"
        return self.result

    def session(self):
        return bytes(self.handle.goal_id.uuid).hex()

    def end(self):
        """How it ended: outcome and reason code."""
        return outcome(self.result), self.result.reason_code

    def kinds(self):
        """The error kinds of its steps that failed, in order."""
        return [s.error_kind for s in self.result.completed_steps if not s.ok]

    def told(self):
        """All that its result says, for a failing test."""
        steps = [
            f"{s.tool}({s.arguments_json}) {s.error_kind or 'ok'}: {s.content}" for s in self.result.completed_steps
        ]
        return "\n".join([f"{STATUS_NAME.get(self.status)} {self.end()}: {self.result.answer}", *steps])
