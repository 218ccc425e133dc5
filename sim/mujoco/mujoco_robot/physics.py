"""The robot and the flat in MuJoCo: bodies, drives and sensors, in steps of 10 ms. No ROS, no clock."""

import math
from pathlib import Path

import mujoco
import numpy as np

import flat as flats
from flat.camera import sees
from mujoco_robot.drive import Localisation, Odometry, Ramp, compose

STEP = 0.01  # s, between two looks of whoever commands
MODEL = Path(__file__).resolve().parents[1] / "flat.xml"

# Groups of geoms in flat.xml; and, of those, the floor, and what rolls on it.
FAST, ROBOT, OBJECTS, FLOOR, ROLLS = 0, 1, 2, 3, 5

# Which of them should not touch.
BAD = np.zeros((6, 6), dtype=bool)
for _pair in ((FAST, ROBOT), (FAST, ROLLS), (FLOOR, ROBOT), (ROBOT, ROBOT), (ROBOT, ROLLS)):
    BAD[_pair] = BAD[_pair[::-1]] = True

ENCODER = 2e-5, 5e-4  # rad and rad/s, one sigma of the arm's
WHEELS = ("left_wheel_joint", "right_wheel_joint")


class Physics:
    """One robot in one flat. The same seed and the same commands give the same run."""

    def __init__(self, seed=0, start=None):
        self.flat = flats.load()
        self.model = mujoco.MjModel.from_xml_path(str(MODEL))
        self.data = mujoco.MjData(self.model)
        # Each source of noise has a stream of its own: one that is asked more often changes nothing else.
        sources = ("odometry", "local", "lidar", "camera", "arm")
        self.random = {name: np.random.default_rng([seed, i]) for i, name in enumerate(sources)}
        self.time = 0.0
        m = self.model
        self.substeps = round(STEP / m.opt.timestep)
        self.arm_names = [j.name for j in self.flat.arm]
        self.finger = self.flat.gripper.joint
        self.names = [*WHEELS, *self.arm_names, self.finger]
        self._joint = {n: m.joint(n) for n in (*self.names, "right_finger_joint")}
        self._qpos = {n: int(j.qposadr[0]) for n, j in self._joint.items()}
        self._qvel = {n: int(j.dofadr[0]) for n, j in self._joint.items()}
        self._drive = {n: int(m.actuator(n).id) for n in self.names}
        self._base, self._base_dof = int(m.joint("base").qposadr[0]), int(m.joint("base").dofadr[0])
        self._base_body = m.body("base_link").id
        self._fingers = {m.body(n).id for n in ("left_finger", "right_finger")}
        self._object = {m.body(o.name).id: o for o in self.flat.objects}
        self._kind = np.array(m.geom_group)
        for i in range(m.ngeom):
            name = m.geom(i).name
            if name == "floor":
                self._kind[i] = FLOOR
            elif "wheel" in name or "caster" in name:
                self._kind[i] = ROLLS
        self._stiffness = {n: float(m.actuator(n).gainprm[0]) for n in self.names}
        self._viscosity = {n: float(-m.actuator(n).biasprm[2]) for n in self.names}
        self._links = list(self._look_up_links())
        self._rays()
        self.ramp = Ramp(self.flat.robot)
        self.wanted = (0.0, 0.0)  # m/s, rad/s
        self.scaling = 1.0  # 0: the robot holds itself
        self.odometry = Odometry(self.flat.robot, self.random["odometry"])
        start = tuple(start or self.flat.robot.start)
        self.localisation = Localisation(start, self.random["local"])
        self._place_base(start)
        for j in self.flat.arm:
            self.data.qpos[self._qpos[j.name]] = j.carry
        self.arm_target = [(j.carry, 0.0) for j in self.flat.arm]
        self.width_target = self._width_now = 0.0
        self.effort = self.flat.gripper.effort
        mujoco.mj_forward(m, self.data)
        self._command()
        self._let_pass(0.2)  # everything settles on what it stands on
        self.localisation.reset(self.truth()[0], self.odometry.pose)
        self.time = 0.0

    # Commands.

    def command_base(self, linear, angular):
        self.wanted = (linear, angular)

    def command_arm(self, positions, velocities):
        """Where the arm should be, and how fast: rad, rad/s."""
        self.arm_target = list(zip(positions, velocities, strict=True))

    def hold_arm(self):
        """The arm stays where it was told to be last: a servo that gives up its set-point would fall by its error."""
        self.arm_target = [(q, 0.0) for q, _ in self.arm_target]

    def command_gripper(self, width, effort):
        """Which opening the fingers go to, and what they press with: m, N."""
        self.width_target, self.effort = min(max(width, 0.0), self.flat.gripper.open), effort

    def hold_gripper(self):
        self.width_target = self._width_now

    # Time.

    def step(self):
        """Lets 10 ms pass."""
        self._command()
        self._let_pass(STEP)
        self.time += STEP

    def _command(self):
        wanted = self.wanted if self.scaling > 0 else (0.0, 0.0)
        v, w = self.ramp.step(wanted, STEP)
        f = self.flat.robot
        for name, side in zip(WHEELS, (-1, 1), strict=True):
            self.data.ctrl[self._drive[name]] = (v + side * w * f.wheel_track / 2) / f.wheel_radius
        for name, (q, qd) in zip(self.arm_names, self.arm_target, strict=True):
            # The servo damps by the joint's speed; what it should have is fed forward.
            self.data.ctrl[self._drive[name]] = q + qd * self._viscosity[name] / self._stiffness[name]
        if self.scaling > 0:
            most = self.flat.gripper.velocity * STEP
            self._width_now += min(max(self.width_target - self._width_now, -most), most)
        self.data.ctrl[self._drive[self.finger]] = self._width_now
        self.model.actuator_forcerange[self._drive[self.finger]] = (-self.effort, self.effort)

    def _let_pass(self, seconds):
        for _ in range(round(seconds / STEP)):
            mujoco.mj_step(self.model, self.data, self.substeps)
            left, right = (float(self.data.qvel[self._qvel[n]]) for n in WHEELS)
            self.odometry.step(left, right, STEP)
        self.localisation.step(self.truth()[0], self.odometry.pose)

    # Sensors.

    def joints(self):
        """The measured positions and velocities by the joints' names."""
        noise = self.random["arm"].standard_normal((len(self.arm_names), 2)) * ENCODER
        out = {n: (float(self.data.qpos[self._qpos[n]]), float(self.data.qvel[self._qvel[n]])) for n in self.names}
        for name, (dq, dv) in zip(self.arm_names, noise, strict=True):
            q, v = out[name]
            out[name] = (q + float(dq), v + float(dv))
        return out

    def arm(self):
        """The measured positions and velocities of the arm, in its order."""
        joints = self.joints()
        return [joints[n][0] for n in self.arm_names], [joints[n][1] for n in self.arm_names]

    def gripper(self):
        """Opening, its speed, and what the fingers press with: m, m/s, N."""
        d = self.data
        pressed = abs(float(d.actuator_force[self._drive[self.finger]]))
        return float(d.qpos[self._qpos[self.finger]]), float(d.qvel[self._qvel[self.finger]]), pressed

    def estimate(self):
        """Where the robot believes to be."""
        return compose(self.localisation.map_to_odom, self.odometry.pose)

    def links(self, joints):
        """The pose of each link that a joint moves in its parent's: (parent, link, position, quaternion w x y z)."""
        out = []
        values = {n: q for n, (q, _) in joints.items()}
        values["right_finger_joint"] = values[self.finger] / 2
        for name, parent, link, position, turn, axis, slides in self._links:
            q = values[name]
            if slides:
                along = np.zeros(3)
                mujoco.mju_rotVecQuat(along, axis * q, turn)
                out.append((parent, link, position + along, turn))
            else:
                own, whole = np.zeros(4), np.zeros(4)
                mujoco.mju_axisAngle2Quat(own, axis, q)
                mujoco.mju_mulQuat(whole, turn, own)
                out.append((parent, link, position, whole))
        return out

    def _look_up_links(self):
        m = self.model
        for name, joint in self._joint.items():
            body = m.body(int(joint.bodyid[0]))
            slides = int(joint.type[0]) == int(mujoco.mjtJoint.mjJNT_SLIDE)
            yield (
                name,
                m.body(int(body.parentid[0])).name,
                body.name,
                np.array(body.pos),
                np.array(body.quat),
                np.array(joint.axis),
                slides,
            )

    def _rays(self):
        lidar = self.flat.lidar
        self._angles = -math.pi + 2 * math.pi / lidar.beams * np.arange(lidar.beams)
        self._see = np.array([1, 0, 1, 0, 0, 0], dtype=np.uint8)  # what stands fast, and the objects

    def scan(self):
        """The lidar's ranges, m; inf where there is no echo."""
        lidar, d = self.flat.lidar, self.data
        n = lidar.beams
        at = np.array(d.body(lidar.link).xpos)
        axes = np.array(d.body(lidar.link).xmat).reshape(3, 3)
        rays = np.stack([np.cos(self._angles), np.sin(self._angles), np.zeros(n)], axis=1) @ axes.T
        which, far = np.zeros(n, dtype=np.int32), np.zeros(n)
        mujoco.mj_multiRay(self.model, d, at, rays.flatten(), self._see, 1, -1, which, far, None, n, lidar.range_max)
        far = np.where(which < 0, np.inf, far) + lidar.noise * self.random["lidar"].standard_normal(n)
        return np.where(far > lidar.range_max, np.inf, np.maximum(far, lidar.range_min))

    def seen(self):
        """What the camera sees: (object, position in camera_link, quaternion w x y z there, distance)."""
        camera, d, out = self.flat.camera, self.data, []
        eye = np.array(d.body(camera.link).xpos)
        axes = np.array(d.body(camera.link).xmat).reshape(3, 3).T
        back = np.zeros(4)
        mujoco.mju_negQuat(back, np.array(d.body(camera.link).xquat))
        for body, thing in self._object.items():
            noise = camera.noise * self.random["camera"].standard_normal(3)
            at = sees(self.flat, eye.tolist(), axes.tolist(), d.xpos[body].tolist(), thing.size)
            if at is None:
                continue
            turn = np.zeros(4)
            mujoco.mju_mulQuat(turn, back, np.array(d.xquat[body]))
            out.append((thing, np.array(at) + noise, turn, float(np.linalg.norm(at))))
        return out

    # The truth.

    def truth(self):
        """The base's pose in map, and its twist in its own frame."""
        x, y = (float(v) for v in self.data.qpos[self._base : self._base + 2])
        axes = self.data.xmat[self._base_body].reshape(3, 3)
        yaw = math.atan2(axes[1, 0], axes[0, 0])
        speed = [float(v) for v in self.data.qvel[self._base_dof : self._base_dof + 6]]
        vx, vy = speed[:2]
        along = vx * math.cos(yaw) + vy * math.sin(yaw)
        across = -vx * math.sin(yaw) + vy * math.cos(yaw)
        return (x, y, yaw), (along, across, speed[5])

    def objects(self):
        """Where the objects are: (object, position, quaternion w x y z)."""
        return [(o, self.data.xpos[b].copy(), self.data.xquat[b].copy()) for b, o in self._object.items()]

    def touching(self):
        """Pairs of names of what touches and should not: the robot with what stands fast, or with itself."""
        contact = self.data.contact
        kinds = self._kind[contact.geom]
        bad = BAD[kinds[:, 0], kinds[:, 1]] & (contact.dist <= 0)
        return [tuple(self.model.geom(int(g)).name for g in pair) for pair in contact.geom[bad]]

    def held(self):
        """The object that both fingers touch, or None."""
        bodies = self.model.geom_bodyid[self.data.contact.geom]
        for body, thing in self._object.items():
            touch = bodies[(bodies == body).any(axis=1)]
            if all((touch == finger).any() for finger in self._fingers):
                return thing
        return None

    # What a person does by hand.

    def teleport(self, x, y, yaw):
        """Puts the robot down elsewhere, at rest."""
        self._place_base((x, y, yaw))
        self.ramp.reset()
        self.data.qvel[self._base_dof : self._base_dof + 6] = 0
        for n in WHEELS:
            self.data.qvel[self._qvel[n]] = 0
        mujoco.mj_forward(self.model, self.data)
        self.localisation.reset(self.truth()[0], self.odometry.pose)

    def put(self, name, x, y, z, yaw=0.0):
        """Puts an object down, at rest."""
        joint = self.model.joint(name)
        q, v = int(joint.qposadr[0]), int(joint.dofadr[0])
        self.data.qpos[q : q + 7] = [x, y, z, math.cos(yaw / 2), 0, 0, math.sin(yaw / 2)]
        self.data.qvel[v : v + 6] = 0
        mujoco.mj_forward(self.model, self.data)

    def _place_base(self, pose):
        x, y, yaw = pose
        self.data.qpos[self._base : self._base + 7] = [x, y, 0, math.cos(yaw / 2), 0, 0, math.sin(yaw / 2)]
