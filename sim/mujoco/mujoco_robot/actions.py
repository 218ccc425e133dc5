"""The four actions: driving to a pose, planning, the arm's trajectories, the gripper."""

import math

from action_msgs.msg import GoalStatus
from control_msgs.action import FollowJointTrajectory, GripperCommand
from nav2_msgs.action import ComputePathToPose, NavigateToPose
from nav_msgs.msg import Path
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from trajectory_msgs.msg import JointTrajectoryPoint

from mujoco_robot import planner, pursuit, trajectory
from mujoco_robot.drive import compose
from mujoco_robot.lanes import Ending, Job
from mujoco_robot.messages import duration_of, header, seconds_of, stamped_pose, yaw_of
from mujoco_robot.physics import STEP

TAKEN = 100  # nav2_msgs: the follower's unknown error
GRIP_TOLERANCE, GRIP_STILL, GRIP_PATIENCE = 0.001, 0.001, 0.3  # m, m/s, s
ARM_REST = 0.01  # rad/s


class Actions:
    """Action servers over the robot's lanes."""

    def __init__(self, robot):
        self.robot, self.planner = robot, planner.Planner(robot.physics.flat)
        self.servers = [
            self._serve(NavigateToPose, "navigate_to_pose", self._accept_navigation, self._navigate),
            self._serve(
                FollowJointTrajectory, "arm_controller/follow_joint_trajectory", self._accept_arm, self._follow
            ),
            self._serve(GripperCommand, "gripper_controller/gripper_cmd", self._accept_grip, self._grip),
            self._serve(ComputePathToPose, "compute_path_to_pose", lambda _: None, self._plan, counted=False),
        ]

    def close(self):
        for s in self.servers:
            s.destroy()

    def _serve(self, kind, name, accept, execute, counted=True):
        robot, resolved = self.robot, self.robot.node.resolve_topic_name(name)
        if counted:
            robot.counts[resolved] = 0

        def arrived(request):
            if counted:
                with robot.lock:
                    robot.counts[resolved] += 1
            try:
                accept(request)
            except (ValueError, trajectory.Bad) as e:
                robot.node.get_logger().warning(f"{resolved} refuses a goal: {e}")
                return GoalResponse.REJECT
            return GoalResponse.ACCEPT

        return ActionServer(
            robot.node,
            kind,
            name,
            execute,
            goal_callback=arrived,
            cancel_callback=lambda _: CancelResponse.ACCEPT,
            callback_group=robot.group,
        )

    def _carry_out(self, lane, handle, prepare):
        """Lets a goal have its part until it ends."""
        with self.robot.lock:
            job = Job(handle, prepare(), self.robot.physics.time)
            lane.begin(job)
        while not job.over.wait(0.5):
            if self.robot.closing:
                with self.robot.lock:
                    if lane.job is job:
                        lane.take_away("the server shuts down")
        return self._finish(handle, job.ending)

    @staticmethod
    def _finish(handle, ending):
        # A goal that was canceled may be over for another reason: its handle knows what it may become.
        how = ending.how
        if how == "canceled" and handle.status != GoalStatus.STATUS_CANCELING:
            how = "abort"
        getattr(handle, how)()
        return ending.result

    # Navigation.

    def _accept_navigation(self, request):
        if request.behavior_tree:
            raise ValueError(f"there are no behavior trees here, and not {request.behavior_tree!r}")

    def _navigate(self, handle):
        robot = self.robot
        try:
            goal = self._in_map(handle.request.pose)
            with robot.lock:
                start = robot.physics.estimate()
            path = self.planner.plan(start, goal)
        except planner.NoPath as e:
            return self._finish(handle, Ending("abort", NavigateToPose.Result(error_code=e.code, error_msg=str(e))))
        return self._carry_out(robot.base, handle, lambda: Driving(robot, path))

    def _plan(self, handle):
        request, result = handle.request, ComputePathToPose.Result()
        began = self.robot.node.get_clock().now()
        result.path = Path(header=header(began.to_msg(), "map"))
        try:
            if request.planner_id not in ("", "GridBased"):
                raise planner.NoPath(planner.INVALID_PLANNER, f"no planner {request.planner_id!r}, there is GridBased")
            goal = self._in_map(request.goal)
            with self.robot.lock:
                start = self.robot.physics.estimate()
            if request.use_start:
                start = self._in_map(request.start)
            path = self.planner.plan(start, goal)
            result.path.poses = [stamped_pose(result.path.header, p) for p in path]
        except planner.NoPath as e:
            result.error_code, result.error_msg = e.code, str(e)
        result.planning_time = (self.robot.node.get_clock().now() - began).to_msg()
        handle.abort() if result.error_code else handle.succeed()
        return result

    def _in_map(self, stamped):
        """A geometry_msgs/PoseStamped in map, by what the robot believes now."""
        p, yaw = stamped.pose.position, yaw_of(stamped.pose.orientation)
        if yaw is None or not all(map(math.isfinite, (p.x, p.y, yaw))):
            raise planner.NoPath(planner.UNKNOWN, "the pose is no finite position with a unit quaternion about z")
        pose, frame = (p.x, p.y, yaw), stamped.header.frame_id
        with self.robot.lock:
            frames = {
                "map": (0.0, 0.0, 0.0),
                "odom": self.robot.physics.localisation.map_to_odom,
                "base_link": self.robot.physics.estimate(),
            }
        if frame not in frames:
            raise planner.NoPath(planner.TF_ERROR, f"no transform from frame {frame!r} to map")
        return compose(frames[frame], pose)

    # Arm.

    def _points(self, request):
        t = request.trajectory
        points = [
            (seconds_of(p.time_from_start), list(p.positions), list(p.velocities), list(p.accelerations))
            for p in t.points
        ]
        stamp = seconds_of(t.header.stamp)
        age = self.robot.now() - stamp if stamp else 0.0
        if any(p.effort for p in t.points):
            raise trajectory.Bad(trajectory.INVALID_GOAL, "a point has efforts")
        return trajectory.check(self.robot.physics.arm_names, list(t.joint_names), points, age)

    def _accept_arm(self, request):
        self._points(request)

    def _follow(self, handle):
        robot, request = self.robot, handle.request
        names = robot.physics.arm_names
        tolerances = trajectory.Tolerances(names)
        for which, said in ((tolerances.path, request.path_tolerance), (tolerances.goal, request.goal_tolerance)):
            for t in said:
                tolerances.take(which, t.name, t.position, t.velocity)
        late = seconds_of(request.goal_time_tolerance)
        if late:
            tolerances.time = late
        try:
            points = self._points(request)
            with robot.lock:
                way = trajectory.Trajectory(points, *robot.physics.arm())
        except trajectory.Bad as e:
            result = FollowJointTrajectory.Result(error_code=e.code, error_string=str(e))
            return self._finish(handle, Ending("abort", result))
        return self._carry_out(robot.arm, handle, lambda: Following(robot, way, tolerances))

    # Gripper.

    def _accept_grip(self, request):
        c = request.command
        if not (math.isfinite(c.position) and math.isfinite(c.max_effort)) or c.max_effort < 0:
            raise ValueError(f"no gripper opens {c.position} m with {c.max_effort} N")

    def _grip(self, handle):
        robot, command = self.robot, handle.request.command
        most = robot.physics.flat.gripper.effort
        effort = min(command.max_effort or most, most)
        return self._carry_out(robot.gripper, handle, lambda: Gripping(robot, command.position, effort))


class Driving:
    """A navigation under way."""

    def __init__(self, robot, path):
        self.robot, self.pursuit = robot, pursuit.Pursuit(path, robot.physics.flat.robot)
        self.began = robot.physics.time

    def move(self):
        p = self.robot.physics
        try:
            command = self.pursuit.step(p.estimate(), p.odometry.twist, p.scaling, STEP)
        except pursuit.NoProgress as e:
            return Ending("abort", NavigateToPose.Result(error_code=pursuit.FAILED_TO_MAKE_PROGRESS, error_msg=str(e)))
        if command is None:
            return Ending("succeed", NavigateToPose.Result())
        p.command_base(*command)
        return None

    def halt(self):
        self.robot.physics.command_base(0.0, 0.0)
        v, w = self.robot.physics.odometry.twist
        return abs(v) <= 0.01 and abs(w) <= 0.02

    def leave(self, _finished):
        self.robot.physics.command_base(0.0, 0.0)

    def taken(self, why):
        return Ending("abort", NavigateToPose.Result(error_code=TAKEN, error_msg=why))

    def canceled(self):
        return Ending("canceled", NavigateToPose.Result())

    def feedback(self):
        p, f = self.robot.physics, NavigateToPose.Feedback()
        f.current_pose = stamped_pose(header(self.robot.stamp(), "map"), p.estimate())
        f.navigation_time = duration_of(p.time - self.began)
        f.estimated_time_remaining = duration_of(self.pursuit.time_remaining())
        f.distance_remaining = float(self.pursuit.distance_remaining())
        return f


class Following:
    """A trajectory under way."""

    def __init__(self, robot, way, tolerances):
        self.robot, self.follower = robot, trajectory.Follower(way, tolerances)

    def _step(self):
        p = self.robot.physics
        command, done = self.follower.step(*p.arm(), p.scaling, STEP)
        if not done:
            p.command_arm(*command)
        return command, done

    def move(self):
        try:
            _, done = self._step()
        except trajectory.Bad as e:
            return Ending("abort", FollowJointTrajectory.Result(error_code=e.code, error_string=str(e)))
        return Ending("succeed", FollowJointTrajectory.Result()) if done else None

    def halt(self):
        self.follower.stop()
        (_, asked), _ = self._step()
        _, measured = self.robot.physics.arm()
        return not any(asked) and all(abs(v) <= ARM_REST for v in measured)

    def leave(self, finished):
        if not finished:
            self.robot.physics.hold_arm()

    def taken(self, why):
        result = FollowJointTrajectory.Result(error_code=trajectory.INVALID_GOAL, error_string=why)
        return Ending("abort", result)

    def canceled(self):
        return Ending("canceled", FollowJointTrajectory.Result())

    def feedback(self):
        q, v = self.robot.physics.arm()
        wanted, speed = self.follower.desired
        at = duration_of(self.follower.time)

        def point(positions, velocities):
            return JointTrajectoryPoint(positions=positions, velocities=velocities, time_from_start=at)

        return FollowJointTrajectory.Feedback(
            header=header(self.robot.stamp()),
            joint_names=self.robot.physics.arm_names,
            desired=point(wanted, speed),
            actual=point(q, v),
            error=point(
                [a - b for a, b in zip(wanted, q, strict=True)], [a - b for a, b in zip(speed, v, strict=True)]
            ),
        )


class Gripping:
    """A goal of the gripper under way."""

    def __init__(self, robot, position, effort):
        self.robot, self.position, self.effort = robot, position, effort
        self.begun, self.still = False, 0.0
        self.reached = self.stalled = False

    def move(self):
        p = self.robot.physics
        if not self.begun:
            self.begun = True
            p.command_gripper(self.position, self.effort)
            return None
        width, speed, _ = p.gripper()
        if abs(speed) > GRIP_STILL or p.scaling == 0:
            self.still = 0.0
            return None
        self.still += STEP
        if abs(self.position - width) <= GRIP_TOLERANCE:
            self.reached = True
        elif self.still >= GRIP_PATIENCE:
            self.stalled = True
        return Ending("succeed", self._tell(GripperCommand.Result())) if self.reached or self.stalled else None

    def halt(self):
        self.robot.physics.hold_gripper()
        return abs(self.robot.physics.gripper()[1]) <= GRIP_STILL

    def leave(self, finished):
        """A gripper that has come to its end goes on pressing."""
        if not finished:
            self.robot.physics.hold_gripper()

    def _tell(self, message):
        message.position, _, message.effort = self.robot.physics.gripper()
        message.stalled, message.reached_goal = self.stalled, self.reached
        return message

    def taken(self, _why):
        return Ending("abort", self._tell(GripperCommand.Result()))

    def canceled(self):
        return Ending("canceled", self._tell(GripperCommand.Result()))

    def feedback(self):
        return self._tell(GripperCommand.Feedback())
