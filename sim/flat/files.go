package flat

import (
	"bytes"
	"encoding/json"
	"time"

	"agent_node/sim/physics"
	"agent_node/sim/robot"
	"agent_node/sim/world"
)

//go:generate go run ../write_models

// Everything is in m, rad, s, N, in the frame map, unless a name says otherwise.
type (
	file struct {
		Note       string      `json:"note"`
		Bounds     box         `json:"bounds"`
		Resolution float64     `json:"resolution"`
		Obstacles  []obstacle  `json:"obstacles"`
		Zones      []zone      `json:"zones"`
		Places     []place     `json:"places"`
		Objects    []object    `json:"objects"`
		Robot      figures     `json:"robot"`
		Arm        []joint     `json:"arm"`
		Gripper    gripper     `json:"gripper"`
		Camera     camera      `json:"camera"`
		Lidar      lidar       `json:"lidar"`
		Battery    battery     `json:"battery"`
		Transforms []transform `json:"transforms"`
		URDF       string      `json:"urdf"`
	}
	// box is min x, min y, max x, max y.
	box      [4]float64
	pose     [3]float64 // x, y, yaw
	obstacle struct {
		Name   string  `json:"name"`
		Box    box     `json:"box"`
		Height float64 `json:"height"`
	}
	zone struct {
		Name string `json:"name"`
		Box  box    `json:"box"`
	}
	place struct {
		Name  string `json:"name"`
		Pose  pose   `json:"pose"`
		Reach box    `json:"reach"`
	}
	object struct {
		Name     string     `json:"name"`
		Shape    string     `json:"shape"`
		Size     float64    `json:"size"`
		Position [3]float64 `json:"position"`
		Yaw      float64    `json:"yaw"`
	}
	figures struct {
		Radius              float64 `json:"radius"`
		WheelRadius         float64 `json:"wheel_radius"`
		WheelTrack          float64 `json:"wheel_track"`
		Linear              float64 `json:"linear"`
		Angular             float64 `json:"angular"`
		LinearAcceleration  float64 `json:"linear_acceleration"`
		LinearDeceleration  float64 `json:"linear_deceleration"`
		AngularAcceleration float64 `json:"angular_acceleration"`
		SilenceLimit        float64 `json:"silence_limit"`
		Start               pose    `json:"start"`
	}
	joint struct {
		Name         string  `json:"name"`
		Lower        float64 `json:"lower"`
		Upper        float64 `json:"upper"`
		Velocity     float64 `json:"velocity"`
		Acceleration float64 `json:"acceleration"`
		Carry        float64 `json:"carry"`
	}
	gripper struct {
		Joint    string  `json:"joint"`
		Open     float64 `json:"open"`
		Velocity float64 `json:"velocity"`
		Effort   float64 `json:"effort"`
	}
	camera struct {
		Link          string  `json:"link"`
		HorizontalFOV float64 `json:"horizontal_fov"`
		VerticalFOV   float64 `json:"vertical_fov"`
		RangeMin      float64 `json:"range_min"`
		RangeMax      float64 `json:"range_max"`
		Rate          float64 `json:"rate"`
		Noise         float64 `json:"noise"`
	}
	lidar struct {
		Link     string  `json:"link"`
		Beams    int     `json:"beams"`
		Period   float64 `json:"period"`
		RangeMin float64 `json:"range_min"`
		RangeMax float64 `json:"range_max"`
		Noise    float64 `json:"noise"`
	}
	battery struct {
		Initial     float64 `json:"initial"`      // percent
		IdleDrain   float64 `json:"idle_drain"`   // percent/s
		MotionDrain float64 `json:"motion_drain"` // percent/m
		TurnDrain   float64 `json:"turn_drain"`   // percent/rad
		Charge      float64 `json:"charge"`       // percent/s
		DockRadius  float64 `json:"dock_radius"`
		Capacity    float64 `json:"capacity"` // Ah
	}
	// transform is a link's fixed place in its parent's frame.
	transform struct {
		Parent     string     `json:"parent"`
		Child      string     `json:"child"`
		Position   [3]float64 `json:"position"`
		Quaternion [4]float64 `json:"quaternion"` // x, y, z, w
	}
)

// Files are the generated files by their paths in this folder.
func Files(w *world.World) (map[string][]byte, error) {
	urdf, err := robot.Description(w)
	if err != nil {
		return nil, err
	}
	start := w.Start()
	f := file{
		Note:   "Written by `go run ./sim/write_models` from sim/world.",
		Bounds: boxOf(w.Bounds), Resolution: w.Resolution, URDF: urdf,
		Robot: figures{
			Radius: w.Robot.Radius, WheelRadius: w.Robot.WheelRadius, WheelTrack: w.Robot.WheelTrack,
			Linear: w.Robot.Limits.Linear, Angular: w.Robot.Limits.Angular, LinearAcceleration: w.Robot.Limits.LinearAcceleration,
			LinearDeceleration: w.Robot.Limits.LinearDeceleration, AngularAcceleration: w.Robot.Limits.AngularAcceleration,
			SilenceLimit: w.Robot.SilenceLimit, Start: pose{start.X, start.Y, start.Yaw},
		},
		Gripper: gripper{w.Gripper.Joint, w.Gripper.Open, w.Gripper.Velocity, w.Gripper.Effort},
		Camera: camera{
			world.LinkCamera, w.Camera.HorizontalFOV, w.Camera.VerticalFOV, w.Camera.RangeMin, w.Camera.RangeMax, w.Camera.Rate, w.Camera.Noise,
		},
		Lidar: lidar{
			world.LinkLaser, physics.LidarBeams, float64(physics.LidarPeriod) / float64(time.Second), physics.LidarRangeMin, physics.LidarRangeMax, physics.LidarNoise,
		},
		Battery: battery{
			w.Battery.Initial, w.Battery.IdleDrain, w.Battery.MotionDrain, w.Battery.TurnDrain, w.Battery.Charge, w.Battery.DockRadius, physics.PackCapacity,
		},
	}
	for _, o := range w.Obstacles() {
		f.Obstacles = append(f.Obstacles, obstacle{o.Name, boxOf(o.Box), o.Height})
	}
	for _, z := range w.Zones {
		f.Zones = append(f.Zones, zone{z.Name, boxOf(z.Box)})
	}
	for _, p := range w.Places {
		f.Places = append(f.Places, place{p.Name, pose{p.Pose.X, p.Pose.Y, p.Pose.Yaw}, boxOf(p.Surface.Reach)})
	}
	for _, o := range w.Objects {
		f.Objects = append(f.Objects, object{o.Name, string(o.Shape), o.Size, [3]float64{o.X, o.Y, o.Z}, o.Yaw})
	}
	for i, name := range w.Arm.Names {
		l := w.Arm.Limits[i]
		f.Arm = append(f.Arm, joint{name, l.Lower, l.Upper, l.Velocity, l.Acceleration, w.Arm.Carry[i]})
	}
	for _, l := range w.Body {
		if l.Parent != "" && l.Joint.Kind == world.Fixed {
			t := l.Joint.Origin(0)
			qx, qy, qz, qw := t.R.Quaternion()
			f.Transforms = append(f.Transforms, transform{l.Parent, l.Name, [3]float64{t.P.X, t.P.Y, t.P.Z}, [4]float64{qx, qy, qz, qw}})
		}
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetIndent("", " ")
	e.SetEscapeHTML(false)
	if err := e.Encode(f); err != nil {
		return nil, err
	}
	return map[string][]byte{"flat.json": out.Bytes()}, nil
}

func boxOf(b world.Box) box { return box{b.MinX, b.MinY, b.MaxX, b.MaxY} }
