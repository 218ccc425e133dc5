package robottools

import (
	"context"
	"image"
	"time"

	"agent_node/pkg/harness/tool"
	"agent_node/pkg/robottools/picture"
	"agent_node/pkg/ros"
)

// Messages that hold a picture.
const (
	imageType           = "sensor_msgs/msg/Image"
	compressedImageType = "sensor_msgs/msg/CompressedImage"
)

// defaultSide is the longer side of what a model is shown, pixels: one tile of most endpoints' count.
const defaultSide = 512

// camera is a query or verify tool that reads a picture.
type camera struct {
	*bound
	l      listened
	maxAge time.Duration
}

// Call implements tool.Tool. The message's fields but for its data are in the scope as msg, and are what is observed unless the profile
// says otherwise; the picture lies beside that.
func (t *camera) Call(ctx context.Context, call tool.Call) tool.Result {
	read := &readTool{bound: t.bound}
	var shown tool.Image
	read.read = func(ctx context.Context, call tool.Call, s scope) (any, error) {
		wait, cancel := context.WithTimeout(ctx, t.maxAge+readPatience)
		defer cancel()
		got, err := t.l.fresh(wait, t.maxAge, read.notBefore(call))
		if err != nil {
			return nil, err
		}
		img, note, err := decodeImage(got.msg)
		if err != nil {
			return nil, err
		}
		side := t.def.Binding.Topic.MaxSide
		if side == 0 {
			side = defaultSide
		}
		e, err := picture.Encode(img, side)
		if err != nil {
			return nil, err
		}
		shown = tool.Image(e)
		m := fieldsOf(got.msg)
		m["shown"] = map[string]any{"width": int64(e.Width), "height": int64(e.Height)}
		if note != "" {
			m["note"] = note
		}
		s["msg"] = m
		return m, nil
	}
	r := read.Call(ctx, call)
	if r.OK {
		r.Images = []tool.Image{shown}
	}
	return r
}

// Predict implements tool.Predictor: looking changes nothing.
func (t *camera) Predict(context.Context, tool.Call, any) tool.Prediction { return tool.Prediction{} }

// decodeImage decodes a message of either type.
func decodeImage(m *ros.Message) (image.Image, string, error) {
	if m.Type.Name == compressedImageType {
		img, err := picture.Decompress(dataOf(m))
		return img, "", err
	}
	return picture.Decode(picture.Raw{
		Encoding: m.Str("encoding"), Width: int(m.Int("width")), Height: int(m.Int("height")), Step: int(m.Int("step")),
		BigEndian: m.Int("is_bigendian") != 0, Data: dataOf(m),
	})
}

func dataOf(m *ros.Message) []byte {
	v, err := m.Get("data")
	if err != nil {
		return nil
	}
	data, _ := v.([]byte)
	return data
}

// fieldsOf a message but for its data, which is not copied.
func fieldsOf(m *ros.Message) map[string]any {
	out := make(map[string]any, len(m.Values))
	for i, v := range m.Values {
		if name := m.Type.Fields[i].Name; name != "data" {
			out[name] = ros.Widen(v)
		}
	}
	return out
}
