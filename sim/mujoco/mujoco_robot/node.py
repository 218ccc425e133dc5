"""ROS around the physics: the built-in robot's topics, transforms, actions and parameters, and the truth."""

import json
import math
import threading
import time

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from geometry_msgs.msg import Twist, TwistStamped
from nav_msgs.msg import OccupancyGrid, Odometry
from rcl_interfaces.msg import ParameterDescriptor, SetParametersResult
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import BatteryState, JointState, LaserScan
from std_msgs.msg import Bool, Float64, String
from tf2_msgs.msg import TFMessage
from vision_msgs.msg import Detection3DArray

import flat as flats
from mujoco_robot.actions import Actions
from mujoco_robot.lanes import Lane
from mujoco_robot.messages import (
    detections,
    flat_pose,
    header,
    quaternion,
    seconds_of,
    time_of,
    transform,
    turned,
)
from mujoco_robot.physics import STEP, Physics

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
TF = QoSProfile(depth=100)
# s of real time that is caught up with; where the machine is slower, the robot is, too: what it measures stays new.
BACKLOG = 0.1
SKEW = 0.05  # s that stamps may be off before they are set by the clock anew


class Robot:
    """The robot on a node. run() lets time pass; the node's callbacks are spun by somebody else."""

    def __init__(self, node):
        self.node = node
        self.lock = threading.RLock()  # guards the physics, the lanes, the counters
        self.group = ReentrantCallbackGroup()
        self.closing = False
        self.estop = False
        self.counts = {}
        self.base, self.arm, self.gripper = Lane(), Lane(), Lane()
        self.silent = math.inf  # s since the last velocity message
        self._declare()
        self.physics = Physics(self.seed, self.start)
        self.zero = 0.0  # the node's time at the physics' 0
        self.charge, self.charging = self.physics.flat.battery.initial, False
        self._record = open(self.record_to, "w") if self.record_to else None
        self._recorded = {}
        self._open_topics()
        self._open_velocity()
        self.actions = Actions(self)
        self._open_parameters()
        self._say_what_stays()

    # Time.

    def now(self):
        """The node's time, s."""
        return self.node.get_clock().now().nanoseconds * 1e-9

    def stamp(self):
        return time_of(self.zero + self.physics.time)

    def run(self, ended):
        """Lets time pass until ended, an Event, is set."""
        origin = time.monotonic() - self.physics.time
        self.zero = self.now() - self.physics.time
        while not ended.is_set():
            real = time.monotonic() - origin
            if real - self.physics.time > BACKLOG:
                # What exceeds it is left out: the robot's time stood still.
                origin += real - self.physics.time - BACKLOG
                real = self.physics.time + BACKLOG
            if abs(self.now() - self.zero - real) > SKEW:  # the clock was set, or time stood still
                self.zero = self.now() - real
            if real < self.physics.time + STEP:
                ended.wait(self.physics.time + STEP - real)
            else:
                self.tick()
                time.sleep(1e-4)  # lets those in that wait for the lock, also while it catches up

    def tick(self):
        """Lets 10 ms pass, and publishes what is due."""
        with self.lock:
            p = self.physics
            p.scaling = 0.0 if self.estop or self.paused else 1.0
            for lane in (self.base, self.arm, self.gripper):
                lane.step(p.time, self.estop)
            self.silent += STEP
            if self.silent > p.flat.robot.silence_limit and self.base.job is None:
                p.command_base(0.0, 0.0)
            before = p.truth()[0]
            p.step()
            self._drain(before)
            step = round(p.time / STEP)
            self._publish(step)

    def _drain(self, before):
        """The battery, by the built-in robot's rules."""
        b, (pose, _) = self.physics.flat.battery, self.physics.truth()
        moved, turned_by = math.dist(before[:2], pose[:2]), abs(flats.wrap(pose[2] - before[2]))
        dock = next(p for p in self.physics.flat.places if p.name == "dock").pose
        at_rest = moved < 1e-5 and turned_by < 1e-5
        self.charging = at_rest and math.dist(pose[:2], dock[:2]) <= b.dock_radius
        gain = b.charge if self.charging else -b.idle_drain
        self.charge += gain * STEP - b.motion_drain * moved - b.turn_drain * turned_by
        self.charge = min(100.0, max(0.0, self.charge))

    # Topics.

    def _open_topics(self):
        n = self.node
        self.out = {
            "odom": n.create_publisher(Odometry, "odom", 10),
            "tf": n.create_publisher(TFMessage, "/tf", TF),
            "scan": n.create_publisher(LaserScan, "scan", 10),
            "joints": n.create_publisher(JointState, "joint_states", 10),
            "seen": n.create_publisher(Detection3DArray, "detections", 10),
            "battery": n.create_publisher(BatteryState, "battery_state", 10),
            "scaling": n.create_publisher(Float64, "speed_scaling", LATCHED),
            "mode": n.create_publisher(String, "robot_mode", LATCHED),
            "truth": n.create_publisher(Odometry, "sim/ground_truth", 10),
            "objects": n.create_publisher(Detection3DArray, "sim/objects", 10),
            "contact": n.create_publisher(Bool, "sim/contact", LATCHED),
            "held": n.create_publisher(String, "sim/held", LATCHED),
            "counters": n.create_publisher(DiagnosticArray, "sim/counters", 10),
        }
        self._said = {}

    def _say_what_stays(self):
        """Map, description and fixed transforms, once."""
        f, stamp = self.physics.flat, self.node.get_clock().now().to_msg()
        grid, m = flats.Grid(f), OccupancyGrid(header=header(stamp, "map"))
        m.info.map_load_time, m.info.resolution = stamp, grid.resolution
        m.info.width, m.info.height = grid.width, grid.height
        m.info.origin = flat_pose((grid.x, grid.y, 0.0))
        m.data = (100 * grid.occupied).astype("int8").tolist()
        fixed = [
            transform(stamp, t.parent, t.child, t.position, quaternion([t.quaternion[3], *t.quaternion[:3]]))
            for t in f.transforms
        ]
        for kind, name, message in (
            (OccupancyGrid, "map", m),
            (String, "robot_description", String(data=f.urdf)),
            (TFMessage, "/tf_static", TFMessage(transforms=fixed)),
        ):
            self.out[name] = self.node.create_publisher(kind, name, LATCHED)
            self.out[name].publish(message)

    def _publish(self, step):
        if step % 2 == 0:
            self._tell_motion()
        if step % 10 == 0:
            self._tell_surroundings()
        if step % 20 == 0:
            self._tell_battery()
        paused, mode = (
            self.physics.scaling == 0,
            "estop" if self.estop else "protective_stop" if self.paused else "auto",
        )
        self._tell("scaling", Float64(data=0.0 if paused else 1.0), step)
        self._tell("mode", String(data=mode), step)
        held = self.physics.held()
        self._tell("held", String(data=held.name if held else ""), step)
        self._tell("contact", Bool(data=bool(self.physics.touching())), step)

    def _tell(self, name, message, step):
        """A change at once, and the same again ten times a second."""
        if self._said.get(name) != message.data or step % 10 == 0:
            self._said[name] = message.data
            self.out[name].publish(message)

    def _tell_motion(self):
        p, stamp = self.physics, self.stamp()
        o = Odometry(header=header(stamp, "odom"), child_frame_id="base_link")
        o.pose.pose = flat_pose(p.odometry.pose)
        o.twist.twist.linear.x, o.twist.twist.angular.z = (float(v) for v in p.odometry.twist)
        for c, values in (
            (
                o.pose.covariance,
                (0.002**2 + (0.01 * p.odometry.driven) ** 2, 0.004**2 + (0.002 * p.odometry.driven) ** 2),
            ),
            (o.twist.covariance, (1e-4, 1e-4)),
        ):
            # What a base in the plane does not measure is marked as unknown.
            c[0], c[7], c[14], c[21], c[28], c[35] = values[0], values[0], 1e6, 1e6, 1e6, values[1]
        self.out["odom"].publish(o)
        joints = p.joints()
        self.out["joints"].publish(
            JointState(
                header=header(stamp),
                name=list(joints),
                position=[q for q, _ in joints.values()],
                velocity=[v for _, v in joints.values()],
            )
        )
        to_odom, odometry = p.localisation.map_to_odom, p.odometry.pose
        moving = [
            transform(stamp, "map", "odom", (*to_odom[:2], 0.0), turned(to_odom[2])),
            transform(stamp, "odom", "base_link", (*odometry[:2], 0.0), turned(odometry[2])),
        ]
        moving += [transform(stamp, parent, link, at, quaternion(turn)) for parent, link, at, turn in p.links(joints)]
        self.out["tf"].publish(TFMessage(transforms=moving))
        pose, twist = p.truth()
        t = Odometry(header=header(stamp, "map"), child_frame_id="base_link")
        t.pose.pose = flat_pose(pose)
        t.twist.twist.linear.x, t.twist.twist.linear.y, t.twist.twist.angular.z = (float(v) for v in twist)
        self.out["truth"].publish(t)

    def _tell_surroundings(self):
        p, stamp, lidar = self.physics, self.stamp(), self.physics.flat.lidar
        beam = 2 * math.pi / lidar.beams
        self.out["scan"].publish(
            LaserScan(
                header=header(stamp, lidar.link),
                angle_min=-math.pi,
                angle_max=math.pi - beam,
                angle_increment=beam,
                scan_time=lidar.period,
                range_min=lidar.range_min,
                range_max=lidar.range_max,
                ranges=p.scan().astype("float32"),
            )
        )
        camera = p.flat.camera
        seen = [(o, at, turn, 1 - 0.2 * far / camera.range_max, camera.noise**2) for o, at, turn, far in p.seen()]
        self.out["seen"].publish(detections(header(stamp, camera.link), seen))
        things = p.objects()
        self.out["objects"].publish(
            detections(header(stamp, "map"), [(o, at, turn, 1.0, 0.0) for o, at, turn in things])
        )
        status = DiagnosticStatus(name="sim/counters", hardware_id="sim_robot")
        status.values = [KeyValue(key=k, value=str(v)) for k, v in self.counts.items()]
        self.out["counters"].publish(DiagnosticArray(header=header(stamp), status=[status]))
        for lane in (self.base, self.arm, self.gripper):
            if lane.job is not None and lane.job.handle.is_active:
                lane.job.handle.publish_feedback(lane.job.mover.feedback())
        if self._record:
            self._write(things)

    def _tell_battery(self):
        b, capacity = BatteryState(header=header(self.stamp(), "base_link")), self.physics.flat.battery.capacity
        b.percentage, b.charge = self.charge / 100, self.charge / 100 * capacity
        b.capacity = b.design_capacity = capacity
        b.voltage, b.current, b.temperature = 22.0 + 0.04 * self.charge, math.nan, math.nan
        b.present, b.power_supply_health, b.power_supply_technology = True, 1, 2
        b.power_supply_status = 1 if self.charging else 2
        self.out["battery"].publish(b)

    def _write(self, things):
        """The truth of the run, as sim/picture draws it."""
        p = self.physics
        (x, y, yaw), _ = p.truth()
        q, _ = p.arm()
        sample = {"t": p.time, "x": x, "y": y, "yaw": yaw, "arm": q, "width": p.gripper()[0], "objects": []}
        for o, at, _ in things:
            now = [round(float(v), 4) for v in at]
            if self._recorded.get(o.name) != now:
                self._recorded[o.name] = now
                sample["objects"].append({"name": o.name, "x": now[0], "y": now[1], "z": now[2]})
        self._record.write(json.dumps(sample) + "\n")

    # Velocity messages.

    def _open_velocity(self):
        n = self.node
        for name, kind in (("cmd_vel", Twist), ("cmd_vel_stamped", TwistStamped)):
            resolved = n.resolve_topic_name(name)
            self.counts[resolved] = 0
            n.create_subscription(kind, name, lambda m, r=resolved: self._velocity(r, m), 10, callback_group=self.group)

    def _velocity(self, name, message):
        """Takes the base over: a navigation under way ends here."""
        twist, age = message, 0.0
        if isinstance(message, TwistStamped):
            twist, stamp = message.twist, seconds_of(message.header.stamp)
            age = self.now() - stamp if stamp else 0.0
        parts = [getattr(v, axis) for v in (twist.linear, twist.angular) for axis in "xyz"]
        with self.lock:
            if any(x != 0 for x in parts):  # NaN is
                self.counts[name] += 1
            if age > self.physics.flat.robot.silence_limit:
                return
            if self.base.job is not None and self.base.job.halting is None:
                self.base.take_away("a velocity message took the base over")
            command = (twist.linear.x, twist.angular.z)
            if not all(map(math.isfinite, command)):
                command = (0.0, 0.0)
            if self.base.job is None:
                self.physics.command_base(*command)
            self.silent = 0.0

    # Parameters.

    def _declare(self):
        def declare(name, default, text, fixed=False):
            return self.node.declare_parameter(
                name, default, ParameterDescriptor(description=text, read_only=fixed)
            ).value

        f = flats.load()
        x, y, yaw = map(float, f.robot.start)
        self.seed = declare("seed", 0, "Seed of all noise.", True)
        self.start = (
            declare("start.x", x, "Where the robot stands at first, m in map.", True),
            declare("start.y", y, "Where the robot stands at first, m in map.", True),
            declare("start.yaw", yaw, "How the robot is turned at first, rad in map.", True),
        )
        self.record_to = declare(
            "sim.record", "", "File for the truth of this run, as JSON lines; empty for none.", True
        )
        self.paused = declare("fault.protective_stop", False, "The robot holds itself stopped, until this is cleared.")
        self.estop = declare("sim.estop", False, "The robot's own emergency stop: everything stops and aborts.")
        declare("sim.teleport", list(self.start), "Setting it puts the robot down at x, y, yaw, at rest.")
        self.things = {"sim.object." + o.name.replace(" ", "_"): o for o in f.objects}
        for name, o in self.things.items():
            declare(
                name,
                [float(v) for v in (*o.position, o.yaw)],
                f"Setting it puts the {o.name} down at x, y, z, yaw; z and yaw may be left out.",
            )

    def _open_parameters(self):
        self.node.add_on_set_parameters_callback(self._check)
        self.node.add_post_set_parameters_callback(self._apply)

    def _check(self, parameters):
        for p in parameters:
            numbers = p.value if p.name == "sim.teleport" or p.name in self.things else []
            if not all(map(math.isfinite, numbers)):
                return SetParametersResult(successful=False, reason=f"{p.name}: {list(numbers)} is not finite")
            if p.name == "sim.teleport":
                f = self.physics.flat
                if len(numbers) != 3 or flats.clearance(f, *numbers[:2]) < f.robot.radius:
                    return SetParametersResult(successful=False, reason=f"no room at {list(numbers)}: x, y, yaw")
            elif p.name in self.things and not 2 <= len(numbers) <= 4:
                return SetParametersResult(successful=False, reason=f"{len(numbers)} numbers, two to four are needed")
        return SetParametersResult(successful=True)

    def _apply(self, parameters):
        with self.lock:
            for p in parameters:
                if p.name == "fault.protective_stop":
                    self.paused = p.value
                elif p.name == "sim.estop":
                    self.estop = p.value
                elif p.name == "sim.teleport":
                    self.physics.teleport(*p.value)
                elif p.name in self.things:
                    x, y, *rest = p.value
                    size = self.things[p.name].size
                    z = rest[0] if rest else flats.top(self.physics.flat, x, y) + size / 2
                    self.physics.put(self.things[p.name].name, x, y, z, rest[1] if len(rest) > 1 else 0.0)

    def close(self):
        """Ends every goal."""
        with self.lock:
            self.closing = True
            for lane in (self.base, self.arm, self.gripper):
                lane.take_away("the server shuts down")
        if self._record:
            self._record.close()
