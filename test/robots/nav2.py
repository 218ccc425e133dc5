"""Nav2 as its action servers and nodes show it. It drives by /cmd_vel, as the velocity smoother does."""

import math
import time

from geometry_msgs.msg import PoseStamped, Twist, TwistStamped
from nav2_msgs.action import BackUp, ComputePathToPose, DriveOnHeading, NavigateToPose, Spin

from base import compose, free, inverse, turned
from server import ABORTED, CANCELED, SUCCEEDED, Server

PERIOD = 0.05  # s, of the controllers
SPEED, TURN = 0.26, 1.0  # m/s, rad/s
WITHIN, WITHIN_ANGLE = 0.05, 0.05  # m, rad: it is better than its tolerances


def wrap(angle):
    return math.remainder(angle, 2 * math.pi)


def path(start, goal):
    """The straight way, one pose in 5 cm; None where something stands in it."""
    far = math.dist(start[:2], goal[:2])
    n = max(1, math.ceil(far / 0.05))
    yaw = math.atan2(goal[1] - start[1], goal[0] - start[0]) if far > 0.01 else goal[2]
    way = [(start[0] + (goal[0] - start[0]) * i / n, start[1] + (goal[1] - start[1]) * i / n, yaw) for i in range(n)]
    way.append(goal)
    return way if all(free(x, y) for x, y, _ in way) else None


class Nav2:
    """Navigator, planner and behaviours of a base."""

    def __init__(self, nodes, base, habits, stamped):
        self.base, self.habits, self.stamped = base, habits, stamped
        self.smoother = nodes("velocity_smoother", parameters=True)
        self.smoother.declare_parameter("max_velocity", [SPEED, 0.0, TURN])
        self.smoother.declare_parameter("max_accel", [2.5, 0.0, 3.2])
        self.smoother.declare_parameter("max_decel", [-2.5, 0.0, -3.2])
        self.wheels = self.smoother.create_publisher(TwistStamped if stamped else Twist, "/cmd_vel", 10)
        costs = nodes("global_costmap", "/global_costmap", parameters=True)
        costs.declare_parameter("robot_radius", 0.22)
        behaviours = nodes("behavior_server")
        self.servers = [
            Server(nodes("bt_navigator"), NavigateToPose, "/navigate_to_pose", habits, self.navigate),
            Server(nodes("planner_server"), ComputePathToPose, "/compute_path_to_pose", plain(habits), self.plan),
            Server(behaviours, Spin, "/spin", habits, self.spin),
            Server(behaviours, BackUp, "/backup", habits, self.back_up),
            Server(behaviours, DriveOnHeading, "/drive_on_heading", habits, self.drive),
        ]

    def send(self, v, w):
        m = TwistStamped() if self.stamped else Twist()
        t = m.twist if self.stamped else m
        t.linear.x, t.angular.z = float(v), float(w)
        if self.stamped:
            m.header.stamp = self.base.now()
        self.wheels.publish(m)

    def pose(self):
        with self.base.lock:
            return self.base.pose

    def halt(self):
        for _ in range(3):
            self.send(0.0, 0.0)

    def ended(self, goal, kind, code):
        """How a motion ends that was canceled, whose server is gone, or that the habits let fail."""
        self.halt()
        if goal.canceling.is_set():
            return CANCELED, kind.Result()
        result = kind.Result()
        if goal.fault == "code":
            result.error_code, result.error_msg = code, "failed to make progress"
        return ABORTED, result

    def follow(self, goal, velocity, feedback):
        """Drives by what velocity says each period until it says nothing; False where it ended before."""
        while not goal.over():
            if goal.fails(1.0):
                return False
            v = velocity()
            if v is None:
                self.halt()
                return True
            self.send(*v)
            goal.feedback(feedback)
            time.sleep(PERIOD)
        return False

    def navigate(self, goal):
        p = goal.request.pose.pose
        target = (p.position.x, p.position.y, 2 * math.atan2(p.orientation.z, p.orientation.w))
        if path(self.pose(), target) is None:
            return ABORTED, NavigateToPose.Result(error_code=208, error_msg="no valid path")

        def velocity():
            x, y, yaw = self.pose()
            far = math.dist((x, y), target[:2])
            if far > WITHIN:
                off = wrap(math.atan2(target[1] - y, target[0] - x) - yaw)
                if abs(off) > 0.3:
                    return 0.0, math.copysign(min(TURN, 2 * abs(off)), off)
                return min(SPEED, 0.05 + far), max(-TURN, min(TURN, 1.5 * off))
            off = wrap(target[2] - yaw)
            return None if abs(off) < WITHIN_ANGLE else (0.0, math.copysign(min(TURN, 0.1 + 1.5 * abs(off)), off))

        def feedback(m):
            m.current_pose = self._stamped(self.pose())
            m.distance_remaining = math.dist(self.pose()[:2], target[:2])

        done = self.follow(goal, velocity, feedback)
        return (SUCCEEDED, NavigateToPose.Result()) if done else self.ended(goal, NavigateToPose, 105)

    def _stamped(self, pose):
        m = PoseStamped()
        m.header.frame_id, m.header.stamp = "map", self.base.now()
        m.pose.position.x, m.pose.position.y = pose[0], pose[1]
        turned(m.pose.orientation, pose[2])
        return m

    def plan(self, goal):
        def planar(p):
            return p.position.x, p.position.y, 2 * math.atan2(p.orientation.z, p.orientation.w)

        start = planar(goal.request.start.pose) if goal.request.use_start else self.pose()
        way = path(start, planar(goal.request.goal.pose))
        result = ComputePathToPose.Result()
        if way is None:
            result.error_code, result.error_msg = 208, "no valid path"
            return ABORTED, result
        result.path.header.frame_id, result.path.header.stamp = "map", self.base.now()
        result.path.poses = [self._stamped(p) for p in way]
        return SUCCEEDED, result

    def spin(self, goal):
        asked, last, done = goal.request.target_yaw, [self.pose()[2]], [0.0]

        def velocity():
            yaw = self.pose()[2]
            done[0] += yaw - last[0]
            last[0] = yaw
            left = asked - done[0]
            return (
                None
                if left * math.copysign(1, asked) < 0.02
                else (0.0, math.copysign(min(TURN, 0.1 + abs(left)), left))
            )

        def feedback(m):
            m.angular_distance_traveled = float(done[0])

        if self.follow(goal, velocity, feedback):
            return SUCCEEDED, Spin.Result()
        return self.ended(goal, Spin, 701)

    def straight(self, goal, kind, asked, speed, code):
        start = self.pose()
        sign = math.copysign(1.0, asked)

        def gone():
            return compose(inverse(start), self.pose())[0]

        def velocity():
            left = (asked - gone()) * sign
            return None if left < 0.01 else (sign * min(abs(speed), 0.03 + left), 0.0)

        def feedback(m):
            m.distance_traveled = float(abs(gone()))

        if self.follow(goal, velocity, feedback):
            return SUCCEEDED, kind.Result()
        return self.ended(goal, kind, code)

    def back_up(self, goal):
        return self.straight(goal, BackUp, -abs(goal.request.target.x), goal.request.speed, 711)

    def drive(self, goal):
        r = goal.request
        if (r.target.x > 0) != (r.speed > 0):
            return ABORTED, DriveOnHeading.Result(error_code=724, error_msg="speed and distance differ in sign")
        return self.straight(goal, DriveOnHeading, r.target.x, r.speed, 721)


class plain:
    """Habits of a server that has none but to be restarted: the planner."""

    feedback_period, feedback_stops, accept_lost, accept_delay = 0.1, False, False, 0.0
    result_delay, cancel_succeeds, lie = 0.0, False, False

    def __init__(self, habits):
        self.habits = habits
