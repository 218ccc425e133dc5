package physics

import (
	"math"

	"agent_node/sim/arm"
	"agent_node/sim/world"
)

// slips is the speed from which on the fault of the slipping gripper loses what is held, m/s.
const slips = 0.1

// CommandArm hands the arm's drives a setpoint; they follow it within their limits, and stand where it points if
// there is no other. A setpoint that is not finite brakes.
func (s *Sim) CommandArm(p arm.Setpoint) { s.joints.command(p) }

// HoldArm brakes every joint of the arm, as fast as it may, and keeps it where it comes to rest.
func (s *Sim) HoldArm() { s.joints.hold() }

// CommandGripper asks the gripper for an opening in m, to be pressed for with an effort in N.
func (s *Sim) CommandGripper(position, effort float64) { s.gripper.command(position, effort) }

// HoldGripper stops the fingers where they are; what they hold they go on holding.
func (s *Sim) HoldGripper() {
	if s.objects.held < 0 {
		s.gripper.command(s.gripper.width, s.gripper.effort)
	}
}

// Arm is what the arm's encoders tell.
func (s *Sim) Arm() JointReading {
	return JointReading{Positions: s.joints.positionOf, Velocities: s.joints.velocityOf}
}

// Gripper is what the gripper's encoder tells.
func (s *Sim) Gripper() GripperReading { return s.gripper.said }

// Objects are the objects as they are, those taken away included.
func (s *Sim) Objects() []ObjectState { return s.objects.states() }

// PutObject puts the object of this name down as a person's hand would; in the air it falls.
func (s *Sim) PutObject(at world.Object) error { return s.objects.put(at) }

// TakeObject takes an object out of the world; PutObject brings it back.
func (s *Sim) TakeObject(name string) error { return s.objects.take(name) }

// Detections is what the camera saw when it last took a picture.
func (s *Sim) Detections() Detections { return s.camera.last }

func (s *Sim) stepArm() {
	if s.faults.EmergencyStop {
		s.joints.hold()
	}
	before := s.joints.position
	deep := s.depth(s.base.pose)
	s.joints.step()
	s.takePosture()
	s.armContact = false
	if now := s.depth(s.base.pose); now > touching && now > deep {
		// Whatever it bumped into holds the arm where it was.
		s.joints.position, s.joints.velocity, s.armContact = before, arm.Values{}, true
		s.takePosture()
	}
	s.joints.measure()
}

func (s *Sim) stepGripper() {
	if s.faults.EmergencyStop {
		s.HoldGripper()
	}
	tool := s.body.toolFrame(s.base.pose)
	grasped := s.objects.held
	if grasped < 0 && s.gripper.target < s.gripper.width && !s.faults.GripperEmpty {
		grasped = s.objects.between(tool, s.gripper.width)
	}
	size := 0.0
	if grasped >= 0 {
		size = s.objects.list[grasped].Size
	}
	s.gripper.step(s.SpeedScaling() == 0, size)
	switch {
	case grasped < 0:
	case s.objects.held < 0:
		if s.gripper.width <= size {
			s.objects.grasp(grasped, tool)
		}
	case s.gripper.width > size+fingerRelease || s.faults.GripperSlip && math.Abs(s.base.twist.Linear) > slips:
		s.objects.release()
	}
	s.gripper.measure()
	s.takePosture()
}

// takePosture tells the body where the joints are.
func (s *Sim) takePosture() {
	s.body.set(world.Posture{Arm: s.joints.position, Width: s.gripper.width})
}

// depth is how deep the arm is in something with the base at a pose.
func (s *Sim) depth(base world.Pose) float64 {
	if s.objects.held < 0 {
		return s.body.depth(base, 0, world.Vec{})
	}
	thing := s.objects.list[s.objects.held]
	return s.body.depth(base, thing.Size, thing.grip.P)
}

// bumps reports whether the arm bumps into something, more than it does, with the base at a pose.
func (s *Sim) bumps(base world.Pose) bool {
	d := s.depth(base)
	return d > touching && d > s.depth(s.base.pose)
}

func (s *Sim) photograph() {
	s.camera.step(s.body.linkFrame(s.base.pose, s.camera.link), s.objects.list, s.Time())
}
