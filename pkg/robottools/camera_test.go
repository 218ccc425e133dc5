package robottools_test

import (
	"bytes"
	"encoding/json"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"
	"time"

	"agent_node/config"
	"agent_node/pkg/harness/tool"
	"agent_node/pkg/ros"
)

const cameras = `
tools:
  look:
    class: query
    description: Looks through the camera.
    binding: {topic: {name: /camera/image_raw, type: sensor_msgs/msg/Image, max_age: 1}}
  look_closely:
    class: query
    description: Looks through the camera and says how bright it should be.
    binding: {topic: {name: /camera/compressed, type: sensor_msgs/msg/CompressedImage, max_age: 1, max_side: 32}}
    result: "{'format': msg.format, 'width': msg.shown.width}"
`

// What a camera sees is a picture beside the observation, sized for a model; what is no picture is said in words.
func TestCameras(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRigOf(t, bytes.Replace(config.SimRobot, []byte("\ntools:\n"), []byte(cameras), 1))
		last := map[string]ros.Publisher{}
		publish := func(topic, kind string, fill func(*ros.Message)) {
			t.Helper()
			// Kept, and told for as long as the test lasts: who asks later hears it, too.
			if p := last[topic]; p != nil {
				must(t, p.Close())
			}
			p := must1(r.peer.CreatePublisher(topic, kind, ros.LatchedQoS()))(t)
			last[topic] = p
			m := ros.New(must1(r.peer.Types().Message(kind))(t))
			fill(m)
			m.SetStamp("header.stamp", r.peer.Clock().Now())
			must(t, p.Publish(m))
			time.Sleep(10 * time.Millisecond)
		}
		raw := func(encoding string, bytes int) func(*ros.Message) {
			return func(m *ros.Message) {
				m.With("width", uint32(1024)).With("height", uint32(768)).With("step", uint32(3*1024)).With("encoding", encoding).With("data", make([]byte, bytes)).With("header.frame_id", "camera_link")
			}
		}
		if res := r.call("look", "{}"); res.OK || res.ErrorKind != tool.StaleState || len(res.Images) > 0 {
			t.Errorf("no camera: %+v", res)
		}
		publish("/camera/image_raw", "sensor_msgs/msg/Image", raw("rgb8", 3*1024*768))
		res := r.ok("look", "{}")
		var seen struct {
			Width, Height int
			Encoding      string
			Data          any
			Header        struct {
				Frame string `json:"frame_id"`
			}
			Shown struct{ Width, Height int }
		}
		must(t, json.Unmarshal([]byte(res.Content), &seen))
		if len(res.Images) != 1 || res.Images[0].Width != 512 || res.Images[0].Height != 384 || res.Images[0].MediaType != "image/jpeg" || !bytes.HasPrefix(res.Images[0].Data, []byte("\xff\xd8")) {
			t.Errorf("pictures %+v", res.Images)
		}
		if seen.Width != 1024 || seen.Encoding != "rgb8" || seen.Data != nil || seen.Header.Frame != "camera_link" || seen.Shown.Width != 512 || seen.Shown.Height != 384 {
			t.Errorf("observed %s", res.Content)
		}
		for encoding, says := range map[string]string{"rgb64": "rgb64", "rgba8": "step is 3072 bytes"} {
			publish("/camera/image_raw", "sensor_msgs/msg/Image", raw(encoding, 3*1024*768))
			if res := r.call("look", "{}"); res.OK || res.ErrorKind != tool.Failed || !strings.Contains(res.Content, says) || len(res.Images) > 0 {
				t.Errorf("%s: %+v", encoding, res)
			}
		}
		img := image.NewGray(image.Rect(0, 0, 64, 16))
		img.SetGray(1, 1, color.Gray{Y: 255})
		var data bytes.Buffer
		must(t, png.Encode(&data, img))
		publish("/camera/compressed", "sensor_msgs/msg/CompressedImage", func(m *ros.Message) { m.With("format", "png").With("data", data.Bytes()) })
		if res := r.ok("look_closely", "{}"); res.Content != `{"format":"png","width":32}` || len(res.Images) != 1 || res.Images[0].Height != 8 {
			t.Errorf("%s %+v", res.Content, res.Images)
		}
		publish("/camera/compressed", "sensor_msgs/msg/CompressedImage", func(m *ros.Message) { m.With("format", "png").With("data", []byte("\x89PNG and then nothing")) })
		if res := r.call("look_closely", "{}"); res.OK || len(res.Images) > 0 || !strings.Contains(res.Content, "PNG") {
			t.Errorf("%+v", res)
		}
	})
}
