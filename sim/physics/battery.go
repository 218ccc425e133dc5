package physics

import (
	"math"

	"agent_node/sim/world"
)

// BatteryReading is what the battery's electronics tell.
type BatteryReading struct {
	Percent  float64 // in steps of a tenth
	Voltage  float64 // V
	Current  float64 // A, negative when discharging
	Charging bool
}

// Figures of the pack, as its electronics know them.
const (
	packEmpty    = 21.0 // V
	packFull     = 25.2 // V
	PackCapacity = 10.0 // Ah
)

type battery struct {
	figures  world.Battery
	dock     world.Pose
	docked   bool // the world has a dock
	charge   float64
	charging bool
	rate     float64 // percent/s in the last step, negative when discharging
}

func newBattery(w *world.World) battery {
	b := battery{figures: w.Battery, charge: w.Battery.Initial}
	if dock, err := w.Place("dock"); err == nil {
		b.dock, b.docked = dock.Pose, true
	}
	return b
}

func (b *battery) step(pose world.Pose, t world.Twist) {
	f := b.figures
	rest := math.Abs(t.Linear) < 0.01 && math.Abs(t.Angular) < 0.02
	b.charging = b.docked && rest && pose.DistanceTo(b.dock) <= f.DockRadius
	b.rate = -f.IdleDrain - f.MotionDrain*math.Abs(t.Linear) - f.TurnDrain*math.Abs(t.Angular)
	if b.charging {
		b.rate = f.Charge
	}
	before := b.charge
	b.charge = min(max(b.charge+b.rate*dt, 0), 100)
	if b.charge == before {
		b.rate = 0
	}
}

func (b *battery) reading() BatteryReading {
	return BatteryReading{
		Percent:  math.Round(b.charge*10) / 10,
		Voltage:  packEmpty + (packFull-packEmpty)*b.charge/100,
		Current:  b.rate / 100 * PackCapacity * 3600,
		Charging: b.charging,
	}
}
