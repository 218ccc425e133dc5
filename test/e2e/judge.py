"""What holds for every goal, however it ends."""

from action_msgs.msg import GoalStatus

from goals import outcome
from truth import stamp

# s, how far the truth's stamps may be from the clock. Rest is measured over half a second, so it held then, too.
SKEW = 0.1


def honest(rig, goal):
    """Status and outcome agree, and rest is claimed only where the truth shows it."""
    r = goal.result
    done = outcome(r) == "DONE"
    assert (goal.status == GoalStatus.STATUS_SUCCEEDED) == done, goal.told()
    canceled = (outcome(r), r.reason_code) == ("INTERRUPTED", "canceled")
    assert goal.status != GoalStatus.STATUS_CANCELED or canceled, goal.told()
    assert done == (r.reason_code == "accepted") and done == (not r.unmet_goals), goal.told()
    if r.reason_code != "actuator_fault":
        # The node recorded the end before it sent the result: that is the moment to judge.
        moment = ended(rig, goal) - SKEW
        assert rig.at_rest_at(moment), f"a result before true rest, {rig.speed()} now\n{goal.told()}"
    return goal


def ended(rig, goal):
    """When the session's record ended (time.time()), or else when its result came."""
    for e in reversed(rig.traces):
        if e.kind == "end" and e.session == goal.session():
            return e.stamp.sec + e.stamp.nanosec * 1e-9
    return goal.ended


def rests_for_good(rig, seconds=2.0):
    """Nothing moves on after the result: the truth shows rest, and goes on showing it."""
    newest = stamp(rig.truth.newest())
    rig.until(lambda: stamp(rig.truth.newest()) >= newest + seconds, seconds + 20.0, "the truth of what follows")
    moved = rig.truth.path(since=newest)
    assert moved < 0.01, f"the robot moved {moved:.3f} m after the result"
