package digest_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"image"
	"image/color"
	"image/jpeg"
	"math"
	"reflect"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"agent_node/pkg/ros"
	"agent_node/pkg/ros/digest"
	"agent_node/pkg/ros/msgdef"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var types = msgdef.Embedded()

func message(t testing.TB, name string) *ros.Message {
	t.Helper()
	m, err := types.Message(name)
	if err != nil {
		t.Fatal(err)
	}
	return ros.New(m)
}

// told is the digest as a map.
func told(t testing.TB, m *ros.Message, limit int) (map[string]any, bool) {
	t.Helper()
	v, whole := digest.Of(m, limit)
	out, ok := v.(map[string]any)
	if !ok {
		t.Fatalf("%T", v)
	}
	return out, whole
}

func TestASmallMessageStaysWhole(t *testing.T) {
	m := message(t, "nav_msgs/msg/Odometry").With("header.frame_id", "odom").With("pose.pose.position.x", 1.5)
	got, whole := told(t, m, 0)
	if !whole || !reflect.DeepEqual(got, m.Map()) {
		t.Errorf("whole %t: %v", whole, got)
	}
}

func TestAnArrayIsToldByShapeAndStatistics(t *testing.T) {
	m := message(t, "std_msgs/msg/Float32MultiArray")
	data := make([]float32, 10000)
	for i := range data {
		data[i] = float32(i % 100)
	}
	data[7] = float32(math.NaN())
	got, whole := told(t, m.With("data", data), 500)
	want := map[string]any{
		"shape": []int64{10000}, "of": "float32", "min": 0.0, "max": 99.0, "finite": int64(9999),
	}
	d, _ := got["data"].(map[string]any)
	for k, v := range want {
		if !reflect.DeepEqual(d[k], v) {
			t.Errorf("%s: %v, want %v", k, d[k], v)
		}
	}
	if mean, _ := d["mean"].(float64); whole || math.Abs(mean-49.5) > 0.01 {
		t.Errorf("whole %t, mean %v", whole, d["mean"])
	}
}

func TestACovarianceIsToldByItsDiagonal(t *testing.T) {
	m := message(t, "geometry_msgs/msg/PoseWithCovarianceStamped")
	c := make([]float64, 36)
	for i := range c {
		c[i] = 0.123456789
	}
	for i := range 6 {
		c[7*i] = float64(i + 1)
	}
	got, _ := told(t, m.With("pose.covariance", c), 450)
	p, _ := got["pose"].(map[string]any)
	cov, _ := p["covariance"].(map[string]any)
	if !reflect.DeepEqual(cov["diagonal"], []float64{1, 2, 3, 4, 5, 6}) || !reflect.DeepEqual(cov["shape"], []int64{6, 6}) {
		t.Errorf("%v", got)
	}
}

// picture is half dark, half bright, of any encoding.
func picture(t *testing.T, encoding string, pixel int, dark, bright []byte) *ros.Message {
	const width, height = 64, 48
	data := make([]byte, width*height*pixel)
	for i := range width * height {
		p := dark
		if i%width >= width/2 {
			p = bright
		}
		copy(data[i*pixel:], p)
	}
	return message(t, "sensor_msgs/msg/Image").With("width", uint32(width)).With("height", uint32(height)).
		With("encoding", encoding).With("step", uint32(width*pixel)).With("data", data)
}

func TestAnImageIsToldBySizeAndThumbnail(t *testing.T) {
	f32 := func(v float32) []byte { return binary.LittleEndian.AppendUint32(nil, math.Float32bits(v)) }
	for _, x := range []struct {
		encoding     string
		pixel        int
		dark, bright []byte
		left, right  byte
		depth        bool
	}{
		{"mono8", 1, []byte{0}, []byte{255}, '0', 'f', false},
		{"rgb8", 3, []byte{0, 0, 0}, []byte{255, 255, 255}, '0', 'f', false},
		{"bgr8", 3, []byte{255, 0, 0}, []byte{0, 0, 255}, '1', '4', false}, // blue is darker than red
		{"rgba8", 4, []byte{10, 10, 10, 255}, []byte{250, 250, 250, 0}, '0', 'f', false},
		{"16UC1", 2, []byte{0, 0}, []byte{0xe8, 3}, '.', '.', true}, // nothing, and 1.000 m everywhere else: no span
		{"32FC1", 4, f32(1), f32(3), '0', 'f', true},
		{"32FC1", 4, f32(float32(math.NaN())), f32(2), '.', '.', true},
	} {
		got, whole := told(t, picture(t, x.encoding, x.pixel, x.dark, x.bright), 2000)
		rows, _ := got["thumbnail"].([]string)
		if whole || len(rows) == 0 || got["width"] != int64(64) || got["encoding"] != x.encoding {
			t.Errorf("%s: %v", x.encoding, got)
			continue
		}
		for _, r := range rows {
			if len(r) < 8 || r[0] != x.left || r[len(r)-1] != x.right {
				t.Errorf("%s: row %q, want %c ... %c", x.encoding, r, x.left, x.right)
			}
		}
		if _, depth := got["distance_m"]; depth != x.depth {
			t.Errorf("%s: %v", x.encoding, got)
		}
	}
	broken := picture(t, "rgb8", 3, []byte{1, 2, 3}, []byte{4, 5, 6}).With("step", uint32(1))
	if got, _ := told(t, broken, 2000); got["note"] == nil {
		t.Errorf("%v", got)
	}
}

func TestACompressedImageIsDecoded(t *testing.T) {
	img := image.NewGray(image.Rect(0, 0, 320, 200))
	for y := range 200 {
		for x := range 160 {
			img.SetGray(x, y, color.Gray{Y: 255})
		}
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, nil); err != nil {
		t.Fatal(err)
	}
	m := message(t, "sensor_msgs/msg/CompressedImage").With("format", "jpeg").With("data", b.Bytes())
	got, _ := told(t, m, 2000)
	rows, _ := got["thumbnail"].([]string)
	if got["width"] != int64(320) || got["height"] != int64(200) || len(rows) == 0 || !strings.HasPrefix(rows[0], "fff") || !strings.HasSuffix(rows[0], "000") {
		t.Errorf("%v", got)
	}
	got, _ = told(t, m.With("data", b.Bytes()[:40]), 2000)
	if got["note"] == nil {
		t.Errorf("%v", got)
	}
}

func TestACloudIsToldByItsBounds(t *testing.T) {
	m := message(t, "sensor_msgs/msg/PointCloud2")
	ft, err := types.Message("sensor_msgs/msg/PointField")
	if err != nil {
		t.Fatal(err)
	}
	var fields []*ros.Message
	for i, n := range []string{"x", "y", "z", "rgb"} {
		fields = append(fields, ros.New(ft).With("name", n).With("offset", uint32(4*i)).With("datatype", uint8(7)).With("count", uint32(1)))
	}
	const n = 1000
	var data []byte
	for i := range n {
		x := float32(i) / n
		if i == 0 {
			x = float32(math.NaN())
		}
		for _, v := range []float32{x, -1, 2 + x, 0} {
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(v))
		}
	}
	m.With("fields", fields).With("width", uint32(n)).With("height", uint32(1)).With("point_step", uint32(16)).With("row_step", uint32(16*n)).With("data", data)
	got, _ := told(t, m, 2000)
	bounds, _ := got["bounds"].(map[string]any)
	if got["points"] != int64(n) || !reflect.DeepEqual(bounds["x"], []float64{0.001, 0.999}) || !reflect.DeepEqual(bounds["y"], []float64{-1, -1}) || got["finite_share"] != 0.999 {
		t.Errorf("%v", got)
	}
	if got, _ := told(t, m.With("data", data[:100]), 2000); got["note"] == nil {
		t.Errorf("%v", got)
	}
}

func TestAMapAPathAndAScan(t *testing.T) {
	grid := message(t, "nav_msgs/msg/OccupancyGrid").With("info.width", uint32(100)).With("info.height", uint32(60)).With("info.resolution", float32(0.05))
	cells := make([]int8, 6000)
	for i := range cells {
		switch {
		case i < 3000: // the south half
			cells[i] = 100
		case i%100 < 50:
			cells[i] = -1
		}
	}
	got, _ := told(t, grid.With("data", cells), 1500)
	rows, _ := got["thumbnail"].([]string)
	count, _ := got["cells"].(map[string]any)
	if count["occupied"] != int64(3000) || count["unknown"] != int64(1500) || len(rows) == 0 || !strings.HasPrefix(rows[0], "..") || !strings.HasSuffix(rows[0], "00") || !strings.HasPrefix(rows[len(rows)-1], "ff") {
		t.Errorf("%v", got)
	}

	pt, err := types.Message("geometry_msgs/msg/PoseStamped")
	if err != nil {
		t.Fatal(err)
	}
	var poses []*ros.Message
	for i := range 200 {
		poses = append(poses, ros.New(pt).With("pose.position.x", float64(i)/100))
	}
	got, _ = told(t, message(t, "nav_msgs/msg/Path").With("poses", poses), 1500)
	path, _ := got["poses"].(map[string]any)
	if path["count"] != int64(200) || path["length_m"] != 1.99 {
		t.Errorf("%v", got)
	}

	ranges := make([]float32, 720)
	for i := range ranges {
		ranges[i] = 5
	}
	ranges[180], ranges[3], ranges[4] = 0.7, 0.01, float32(math.Inf(1))
	scan := message(t, "sensor_msgs/msg/LaserScan").With("angle_min", float32(-math.Pi)).With("angle_increment", float32(math.Pi/360)).With("range_min", float32(0.1)).With("ranges", ranges)
	got, _ = told(t, scan, 1200)
	near, _ := got["nearest"].(map[string]any)
	if near["range_m"] != 0.7 || math.Abs(near["angle_rad"].(float64)+math.Pi/2) > 0.01 {
		t.Errorf("%v", got)
	}
}

// Whatever a message holds, its digest keeps to the limit (but for a little), and is told without a panic.
func TestADigestKeepsToItsLimit(t *testing.T) {
	names := []string{
		"sensor_msgs/msg/Image", "sensor_msgs/msg/CompressedImage", "sensor_msgs/msg/PointCloud2", "nav_msgs/msg/OccupancyGrid", "nav_msgs/msg/Path",
		"sensor_msgs/msg/LaserScan", "sensor_msgs/msg/JointState", "diagnostic_msgs/msg/DiagnosticArray", "std_msgs/msg/String",
		"vision_msgs/msg/Detection3DArray", "tf2_msgs/msg/TFMessage", "trajectory_msgs/msg/JointTrajectory", "visualization_msgs/msg/MarkerArray",
	}
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(names).Draw(t, "type")
		typ, err := types.Message(name)
		if err != nil {
			t.Skip("no such type")
		}
		m := ros.New(typ)
		fill(t, m, 3)
		limit := rapid.IntRange(200, 4000).Draw(t, "limit")
		v, whole := digest.Of(m, limit)
		if n := digest.Size(v); n > limit+200 {
			t.Fatalf("%d bytes, limit %d", n, limit)
		}
		if whole && !reflect.DeepEqual(v, m.Map()) && !hasBytes(m) {
			t.Fatal("said to be whole, and is not")
		}
		if data, err := json.Marshal(finite(v)); err != nil || len(data) > limit+limit/2+400 {
			t.Fatalf("%d bytes of JSON, limit %d: %v", len(data), limit, err)
		}
	})
}

// hasBytes: byte arrays become numbers, which Map keeps as bytes.
func hasBytes(m *ros.Message) bool {
	for _, v := range m.Values {
		switch x := v.(type) {
		case []uint8:
			return true
		case *ros.Message:
			if hasBytes(x) {
				return true
			}
		case []*ros.Message:
			for _, e := range x {
				if hasBytes(e) {
					return true
				}
			}
		}
	}
	return false
}

// fill a message with anything.
func fill(t *rapid.T, m *ros.Message, depth int) {
	for i := range m.Type.Fields {
		f := &m.Type.Fields[i]
		switch v := m.Values[i].(type) {
		case string:
			m.Values[i] = rapid.StringN(0, 200, 2000).Draw(t, f.Name)
		case float64:
			m.Values[i] = rapid.Float64().Draw(t, f.Name)
		case uint32:
			m.Values[i] = rapid.Uint32Range(0, 2000).Draw(t, f.Name)
		case []float32:
			if f.Array != ros.FixedArray {
				m.Values[i] = rapid.SliceOfN(rapid.Float32(), 0, 500).Draw(t, f.Name)
			}
		case []uint8:
			if f.Array != ros.FixedArray {
				m.Values[i] = rapid.SliceOfN(rapid.Byte(), 0, 3000).Draw(t, f.Name)
			}
		case []int8:
			m.Values[i] = rapid.SliceOfN(rapid.Int8(), 0, 2000).Draw(t, f.Name)
		case []string:
			m.Values[i] = rapid.SliceOfN(rapid.String(), 0, 60).Draw(t, f.Name)
		case *ros.Message:
			fill(t, v, depth)
		case []*ros.Message:
			if f.Array == ros.FixedArray || depth == 0 {
				continue
			}
			n := rapid.IntRange(0, 12).Draw(t, f.Name)
			list := make([]*ros.Message, n)
			for k := range list {
				list[k] = ros.New(f.Type)
				fill(t, list[k], depth-1)
			}
			m.Values[i] = list
		}
	}
}

// finite replaces numbers that JSON lacks.
func finite(v any) any {
	switch x := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, e := range x {
			out[k] = finite(e)
		}
		return out
	case []any:
		out := make([]any, len(x))
		for i, e := range x {
			out[i] = finite(e)
		}
		return out
	case float64:
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return "NaN"
		}
	case []float64:
		out := make([]any, len(x))
		for i, e := range x {
			out[i] = finite(e)
		}
		return out
	}
	return v
}
