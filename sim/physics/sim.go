package physics

import (
	"fmt"
	"time"

	"agent_node/sim/arm"
	"agent_node/sim/world"
)

// Step is the time that one call of [Sim.Step] simulates.
const Step = 10 * time.Millisecond

// dt is Step in seconds.
const dt = 0.01

// Options of a simulation. The zero value is the default world, seed 0, at the dock.
type Options struct {
	World *world.World // nil: world.Default()
	Seed  uint64
	Start *world.Pose // nil: the dock
}

// Truth is the state of the world as it is, in the frame map; the twist is in the base's frame.
type Truth struct {
	Time    time.Duration // since the simulation began
	Pose    world.Pose
	Twist   world.Twist
	Contact bool    // the base is held by an obstacle that it, or the arm on it, drove into
	Driven  float64 // m, length of the path so far
	Charge  float64 // percent

	Arm         arm.Values // rad, the joints' positions
	ArmVelocity arm.Values // rad/s
	ArmContact  bool       // the arm is held by something that it moved into, or by the robot itself
	Width       float64    // m, the gripper's opening
	WidthSpeed  float64    // m/s
	Held        string     // the object between the fingers, "" for none
}

// Faults of the base's physics. What goes wrong in messages and actions is the
// business of whoever sends them.
type Faults struct {
	ProtectiveStop bool    // brakes, and moves no more until cleared
	EmergencyStop  bool    // the same, by the robot's own button
	Drift          float64 // m/s added to the base's motion, also under a zero command
	// OdometryLost tells localisation that the odometry it hears cannot be used:
	// it then goes on with the last correction, as a particle filter does.
	OdometryLost bool
	GripperSlip  bool // what is held drops out while the base drives
	GripperEmpty bool // the fingers close beside whatever there is to grasp
}

// Sim is one running simulation.
type Sim struct {
	world  *world.World
	steps  int64
	faults Faults

	base     base
	odometry odometry
	local    localisation
	lidar    lidar
	battery  battery
	joints   joints
	gripper  gripper
	body     *body
	objects  objects
	camera   camera

	armContact bool
}

// New makes a simulation at time zero, with the robot at rest. A start that is not
// free is an error.
func New(o Options) (*Sim, error) {
	w := o.World
	if w == nil {
		w = world.Default()
	}
	start := w.Start()
	if o.Start != nil {
		start = *o.Start
	}
	s := &Sim{world: w}
	if err := s.free(start); err != nil {
		return nil, err
	}
	s.base = base{robot: w.Robot, pose: start}
	s.odometry = newOdometry(o.Seed)
	s.local = newLocalisation(o.Seed, start)
	s.lidar = lidar{seed: o.Seed, from: start}
	s.battery = newBattery(w)
	s.joints = newJoints(o.Seed, w.Arm)
	s.gripper = newGripper(o.Seed, w.Gripper)
	s.body = newBody(w, world.Posture{Arm: s.joints.position, Width: s.gripper.width})
	s.objects = newObjects(w)
	s.camera = newCamera(w, o.Seed)
	s.photograph()
	return s, nil
}

// Step lets one time step pass.
func (s *Sim) Step() {
	s.steps++
	s.stepArm()
	s.stepGripper()
	s.base.step(s.world, s.faults, s.bumps)
	s.objects.step(s.body.toolFrame(s.base.pose), s.base.pose)
	s.odometry.step(s.base.twist)
	s.local.step(s.base.pose, s.odometry.exact, s.faults.OdometryLost)
	s.battery.step(s.base.pose, s.base.twist)
	s.lidar.step(s.base.pose, s.Time())
	s.photograph()
}

// Time is the simulated time since the simulation began.
func (s *Sim) Time() time.Duration { return time.Duration(s.steps) * Step }

// World is the world the simulation runs in.
func (s *Sim) World() *world.World { return s.world }

// Command hands the base a velocity, in its own frame. It holds until the next one,
// and for the robot's silence limit at most. Velocities beyond the limits are
// clamped as a motor controller does; one that is not finite stops the base.
func (s *Sim) Command(t world.Twist) { s.base.command(t) }

// SetFaults replaces the faults.
func (s *Sim) SetFaults(f Faults) { s.faults = f }

// Faults in force.
func (s *Sim) Faults() Faults { return s.faults }

// SpeedScaling is 1, or 0 while the robot holds itself stopped.
func (s *Sim) SpeedScaling() float64 {
	if s.faults.ProtectiveStop || s.faults.EmergencyStop {
		return 0
	}
	return 1
}

// Truth is the state as it is.
func (s *Sim) Truth() Truth {
	return Truth{
		Time: s.Time(), Pose: s.base.pose, Twist: s.base.twist,
		Contact: s.base.contact, Driven: s.base.driven, Charge: s.battery.charge,
		Arm: s.joints.position, ArmVelocity: s.joints.velocity, ArmContact: s.armContact,
		Width: s.gripper.width, WidthSpeed: s.gripper.velocity, Held: s.objects.heldName(),
	}
}

// Odometry is what the wheels tell: the base's pose in the frame odom and its twist.
func (s *Sim) Odometry() Odometry { return s.odometry.reading() }

// MapToOdom is localisation's answer: the pose of the frame odom in map.
func (s *Sim) MapToOdom() world.Pose { return s.local.mapToOdom }

// Estimate is where the robot believes to be in map: localisation over odometry.
func (s *Sim) Estimate() world.Pose {
	return s.local.mapToOdom.Compose(s.odometry.pose)
}

// Scan is the newest lidar scan. Asking costs the casting of every ray.
func (s *Sim) Scan() Scan { return s.lidar.scan(s.world) }

// Battery is the battery's state as its sensor tells it.
func (s *Sim) Battery() BatteryReading { return s.battery.reading() }

// Wheels are the positions and velocities of the wheels.
func (s *Sim) Wheels() Wheels { return s.base.wheels }

// SetCharge sets the battery's charge, in percent.
func (s *Sim) SetCharge(percent float64) error {
	if !(percent >= 0 && percent <= 100) {
		return fmt.Errorf("physics: charge is %v %%, allowed is 0 to 100 %%", percent)
	}
	s.battery.charge = percent
	return nil
}

// Teleport puts the robot down elsewhere, at rest, as a person's hands would: odometry
// does not notice, localisation is told.
func (s *Sim) Teleport(p world.Pose) error {
	if err := s.free(p); err != nil {
		return err
	}
	s.base.pose, s.base.twist, s.base.target, s.base.contact = p, world.Twist{}, world.Twist{}, false
	s.local.reset(p, s.odometry.exact)
	return nil
}

func (s *Sim) free(p world.Pose) error {
	if !p.Finite() || s.world.Collides(p) {
		return fmt.Errorf("physics: no room for the robot at x %.3f m, y %.3f m: clearance is %.3f m, it needs %.3f m",
			p.X, p.Y, s.world.Clearance(p.X, p.Y), s.world.Robot.Radius)
	}
	if s.body != nil && s.depth(p) > touching {
		return fmt.Errorf("physics: no room for the arm with the robot at x %.3f m, y %.3f m, yaw %.3f rad", p.X, p.Y, p.Yaw)
	}
	return nil
}
