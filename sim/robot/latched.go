package robot

import (
	"agent_node/pkg/ros"
	"agent_node/sim/world"
)

// openLatched publishes what does not change: map, description and fixed transforms.
func (r *Robot) openLatched() error {
	stamp := r.time.stamp(0)
	m, err := r.sink("map", "nav_msgs/msg/OccupancyGrid", ros.LatchedQoS())
	if err != nil {
		return err
	}
	grid := r.world.Grid()
	cells := make([]int8, len(grid.Occupied))
	for i, occupied := range grid.Occupied {
		if occupied {
			cells[i] = 100
		}
	}
	m.header(stamp, frameMap)
	info := m.msg.Msg("info")
	info.SetStamp("map_load_time", stamp)
	info.With("resolution", float32(grid.Resolution)).With("width", uint32(grid.Width)).With("height", uint32(grid.Height))
	writePose(info.Msg("origin"), world.Pose{X: grid.OriginX, Y: grid.OriginY}, 0)
	m.msg.With("data", cells)
	m.send()

	text, err := Description(r.world)
	if err != nil {
		return err
	}
	d, err := r.sink("robot_description", "std_msgs/msg/String", ros.LatchedQoS())
	if err != nil {
		return err
	}
	d.msg.With("data", text)
	d.send()

	t, err := r.sink("/tf_static", "tf2_msgs/msg/TFMessage", ros.LatchedQoS())
	if err != nil {
		return err
	}
	links := r.links(func(j world.Joint) bool { return j.Kind == world.Fixed })
	fixed, err := r.messages("geometry_msgs/msg/TransformStamped", len(links))
	if err != nil {
		return err
	}
	for i, l := range links {
		r.writeLink(fixed[i], stamp, l, 0)
	}
	t.msg.With("transforms", fixed)
	t.send()
	return nil
}
