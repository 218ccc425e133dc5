package digest

import (
	"bytes"
	"encoding/binary"
	"image"
	_ "image/jpeg" // what compressed images are
	_ "image/png"  // likewise
	"math"
	"strings"

	"agent_node/pkg/ros"
)

// special tells a message whose type has a form of its own; nil: it is told as any other.
func (w *writer) special(m *ros.Message) any {
	switch m.Type.Name {
	case "sensor_msgs/msg/Image":
		return w.image(m)
	case "sensor_msgs/msg/CompressedImage":
		return w.compressed(m)
	case "sensor_msgs/msg/PointCloud2":
		return w.cloud(m)
	case "nav_msgs/msg/OccupancyGrid":
		return w.grid(m)
	case "nav_msgs/msg/Path":
		return w.path(m)
	case "sensor_msgs/msg/LaserScan":
		return w.scan(m)
	}
	return nil
}

// rest are the fields of a message that are small, by name.
func (w *writer) rest(m *ros.Message, without ...string) map[string]any {
	out := map[string]any{}
	for i, v := range m.Values {
		f := &m.Type.Fields[i]
		skip := false
		for _, n := range without {
			skip = skip || n == f.Name
		}
		if !skip {
			out[f.Name] = w.field(f, v)
		}
	}
	return out
}

// digits of a thumbnail, dark to bright (or near to far); a dot where nothing is known.
const (
	digits  = "0123456789abcdef"
	nothing = '.'
)

// thumbnail of values over a picture's pixels: each character is the mean of those that it covers, between low and high.
func (w *writer) thumbnail(width, height int, value func(x, y int) float64, low, high float64) []string {
	if w.picture <= 0 || width <= 0 || height <= 0 {
		return nil
	}
	columns := min(w.picture, width)
	rows := max(1, min(height, int(math.Round(float64(columns)*float64(height)/float64(width)/2)))) // characters are twice as high as wide
	out := make([]string, rows)
	for r := range rows {
		line := make([]byte, columns)
		for c := range columns {
			line[c] = nothing
			total, n := 0.0, 0
			// At most 8 by 8 pixels of a cell are looked at.
			for i := range 8 {
				for j := range 8 {
					x, y := (c*8+j)*width/(columns*8), (r*8+i)*height/(rows*8)
					if v := value(x, y); !math.IsNaN(v) && !math.IsInf(v, 0) {
						total, n = total+v, n+1
					}
				}
			}
			if n > 0 && high > low {
				k := int((total/float64(n) - low) / (high - low) * 16)
				line[c] = digits[max(0, min(15, k))]
			}
		}
		out[r] = string(line)
	}
	return out
}

// pixels reads the encodings of sensor_msgs/image_encodings that have a brightness: bytes of a pixel, its value at an offset, and
// whether that is a distance.
func pixels(encoding string, order binary.ByteOrder) (size int, value func(b []byte) float64, depth bool) {
	grey := func(r, g, b int) func([]byte) float64 {
		return func(p []byte) float64 {
			return 0.299*float64(p[r]) + 0.587*float64(p[g]) + 0.114*float64(p[b])
		}
	}
	switch e := strings.ToLower(encoding); {
	case e == "rgb8":
		return 3, grey(0, 1, 2), false
	case e == "bgr8", e == "8uc3":
		return 3, grey(2, 1, 0), false
	case e == "rgba8":
		return 4, grey(0, 1, 2), false
	case e == "bgra8":
		return 4, grey(2, 1, 0), false
	case e == "mono8", e == "8uc1", strings.HasPrefix(e, "bayer_") && strings.HasSuffix(e, "8"):
		return 1, func(p []byte) float64 { return float64(p[0]) }, false
	case e == "mono16":
		return 2, func(p []byte) float64 { return float64(order.Uint16(p)) / 257 }, false
	case e == "16uc1": // depth in millimetres, zero for nothing
		return 2, func(p []byte) float64 {
			if v := order.Uint16(p); v != 0 {
				return float64(v) / 1000
			}
			return math.NaN()
		}, true
	case e == "32fc1": // depth in metres
		return 4, func(p []byte) float64 { return float64(math.Float32frombits(order.Uint32(p))) }, true
	}
	return 0, nil, false
}

func (w *writer) image(m *ros.Message) any {
	out := w.rest(m, "data", "step", "is_bigendian")
	width, height, step := int(m.Int("width")), int(m.Int("height")), int(m.Int("step"))
	data, _ := m.Values[m.Type.FieldIndex("data")].([]uint8)
	out["bytes"] = int64(len(data))
	var order binary.ByteOrder = binary.LittleEndian
	if m.Int("is_bigendian") != 0 {
		order = binary.BigEndian
	}
	size, value, depth := pixels(m.Str("encoding"), order)
	if size == 0 || width <= 0 || height <= 0 || step < width*size || len(data) < step*(height-1)+width*size {
		out["note"] = "its pixels cannot be read"
		return out
	}
	pixel := func(x, y int) float64 { return value(data[y*step+x*size:]) }
	w.paint(out, width, height, pixel, depth)
	return out
}

// sampled pixels of a picture for its statistics, at most in each direction.
const sampled = 160

// paint adds brightness or distance and a thumbnail.
func (w *writer) paint(out map[string]any, width, height int, pixel func(x, y int) float64, depth bool) {
	nx, ny := min(width, sampled), min(height, sampled)
	s := sum(nx*ny, func(i int) float64 { return pixel(i%nx*width/nx, i/nx*height/ny) })
	told := map[string]any{}
	s.into(told)
	low, high := 0.0, 255.0
	if depth {
		out["distance_m"], out["known_share"] = told, short(float64(s.finite)/float64(max(s.count, 1)))
		delete(told, "finite")
		low, high = s.min, s.max
	} else {
		out["brightness"] = told
	}
	if rows := w.thumbnail(width, height, pixel, low, high); rows != nil {
		out["thumbnail"] = rows
	}
}

// mostPixels of a compressed image that is decoded.
const mostPixels = 40_000_000

func (w *writer) compressed(m *ros.Message) any {
	out := w.rest(m, "data")
	data, _ := m.Values[m.Type.FieldIndex("data")].([]uint8)
	out["bytes"] = int64(len(data))
	head, kind, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		out["note"] = "it cannot be decoded: " + err.Error()
		return out
	}
	out["width"], out["height"], out["encoding"] = int64(head.Width), int64(head.Height), kind
	if head.Width*head.Height > mostPixels {
		return out
	}
	img, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		out["note"] = "it cannot be decoded: " + err.Error()
		return out
	}
	b := img.Bounds()
	w.paint(out, b.Dx(), b.Dy(), func(x, y int) float64 {
		r, g, bl, _ := img.At(b.Min.X+x, b.Min.Y+y).RGBA()
		return (0.299*float64(r) + 0.587*float64(g) + 0.114*float64(bl)) / 257
	}, false)
	return out
}

// mostPoints of a cloud that are looked at for its bounds.
const mostPoints = 50_000

func (w *writer) cloud(m *ros.Message) any {
	out := w.rest(m, "data", "fields", "point_step", "row_step", "is_bigendian")
	data, _ := m.Values[m.Type.FieldIndex("data")].([]uint8)
	width, height, step, row := int(m.Int("width")), int(m.Int("height")), int(m.Int("point_step")), int(m.Int("row_step"))
	points := width * height
	out["points"] = int64(points)
	var names []string
	axes := map[string]func([]byte) float64{}
	var order binary.ByteOrder = binary.LittleEndian
	if m.Bool("is_bigendian") {
		order = binary.BigEndian
	}
	for _, f := range m.Msgs("fields") {
		name, from := f.Str("name"), int(f.Int("offset"))
		names = append(names, name)
		if name != "x" && name != "y" && name != "z" {
			continue
		}
		switch f.Int("datatype") {
		case 7:
			if from >= 0 && from+4 <= step {
				axes[name] = func(p []byte) float64 { return float64(math.Float32frombits(order.Uint32(p[from:]))) }
			}
		case 8:
			if from >= 0 && from+8 <= step {
				axes[name] = func(p []byte) float64 { return math.Float64frombits(order.Uint64(p[from:])) }
			}
		}
	}
	out["fields"] = names
	if len(axes) == 0 || step <= 0 || width <= 0 || height <= 0 || row < width*step || len(data) < row*(height-1)+width*step {
		if points > 0 {
			out["note"] = "its points cannot be read"
		}
		return out
	}
	n := min(points, mostPoints)
	bounds := map[string]any{}
	for name, read := range axes {
		s := sum(n, func(i int) float64 {
			k := i * points / n
			return read(data[k/width*row+k%width*step:])
		})
		if s.finite > 0 {
			bounds[name] = []float64{short(s.min), short(s.max)}
		}
		if name == "x" {
			out["finite_share"] = short(float64(s.finite) / float64(n))
		}
	}
	out["bounds"] = bounds
	return out
}

func (w *writer) grid(m *ros.Message) any {
	out := w.rest(m, "data")
	cells, _ := m.Values[m.Type.FieldIndex("data")].([]int8)
	width, height := int(m.Int("info.width")), int(m.Int("info.height"))
	unknown, free, occupied := 0, 0, 0
	for _, c := range cells {
		switch {
		case c < 0:
			unknown++
		case c >= 65:
			occupied++
		default:
			free++
		}
	}
	out["cells"] = map[string]any{"unknown": int64(unknown), "free": int64(free), "occupied": int64(occupied)}
	if width <= 0 || height <= 0 || width*height != len(cells) {
		out["note"] = "its size is not that of its data"
		return out
	}
	// North (the largest y) is up.
	rows := w.thumbnail(width, height, func(x, y int) float64 {
		if c := cells[(height-1-y)*width+x]; c >= 0 {
			return float64(c)
		}
		return math.NaN()
	}, 0, 100)
	if rows != nil {
		out["thumbnail"] = rows
	}
	return out
}

func (w *writer) path(m *ros.Message) any {
	poses := m.Msgs("poses")
	if len(poses) <= 2 {
		return nil
	}
	out := w.rest(m, "poses")
	length := 0.0
	for i := 1; i < len(poses); i++ {
		a, b := poses[i-1].Msg("pose.position"), poses[i].Msg("pose.position")
		length += math.Hypot(math.Hypot(b.Float("x")-a.Float("x"), b.Float("y")-a.Float("y")), b.Float("z")-a.Float("z"))
	}
	out["poses"] = map[string]any{
		"count": int64(len(poses)), "length_m": short(length),
		"first": w.message(poses[0].Msg("pose")), "last": w.message(poses[len(poses)-1].Msg("pose")),
	}
	return out
}

func (w *writer) scan(m *ros.Message) any {
	ranges, _ := m.Values[m.Type.FieldIndex("ranges")].([]float32)
	if len(ranges) <= w.elements {
		return nil
	}
	out := w.rest(m)
	low := m.Float("range_min")
	s := sum(len(ranges), func(i int) float64 {
		if v := float64(ranges[i]); v >= low {
			return v
		}
		return math.NaN()
	})
	if s.finite > 0 {
		out["nearest"] = map[string]any{"range_m": short(s.min), "angle_rad": short(m.Float("angle_min") + float64(s.minAt)*m.Float("angle_increment"))}
	}
	return out
}
