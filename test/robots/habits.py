"""The field's bad habits, each a parameter of the stand-in: habit.NAME. All of them are off as it comes."""

from rclpy.parameter import Parameter

DEFAULTS = {
    # Of every action server.
    "accept_delay": 0.0,  # s until a goal is answered
    "accept_lost": False,  # a goal is carried out and never answered
    "feedback_period": 0.1,  # s
    "feedback_stops": False,  # half a second into a goal
    "result_delay": 0.0,  # s from the end of a motion to its result
    "cancel_succeeds": False,  # what was canceled ends as SUCCEEDED
    "abort": "",  # soon after a goal began: "code", with an error code and text; "bare", without
    "abort_once": False,  # and then no more
    "lie": False,  # SUCCEEDED at once, and nothing moves
    "restart": False,  # once set: the servers vanish with all that they knew, and are back 1.5 s later
    # Of what measures.
    "odometry_period": 0.05,  # s
    "jitter": 0.0,  # share of that by which it comes late
    "best_effort": False,  # odometry and joint states
    "tf_gap": 0.0,  # s of every four in which no transform is told
    "map_latched": True,  # or told every two seconds
}


class Habits:
    """The parameters, as attributes; on_change(name) is called for each that is set."""

    def __init__(self, node):
        self.node, self.on_change = node, lambda name: None
        for name, value in DEFAULTS.items():
            setattr(self, name, node.declare_parameter(f"habit.{name}", value).value)
        node.add_post_set_parameters_callback(self._on_set)

    def _on_set(self, parameters):
        for p in parameters:
            name = p.name.removeprefix("habit.")
            if p.name.startswith("habit.") and p.type_ != Parameter.Type.NOT_SET and getattr(self, name) != p.value:
                setattr(self, name, p.value)
                self.on_change(name)
