package picture

import (
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"math"
)

// Raw is a sensor_msgs/msg/Image.
type Raw struct {
	Encoding      string
	Width, Height int // pixels
	Step          int // bytes of a row
	BigEndian     bool
	Data          []byte
}

// maxPixels bounds what is decoded.
const maxPixels = 64 << 20

// layout is how an encoding lays out a pixel, or a group of them.
type layout struct {
	bytes int // of a group
	group int // pixels of a group
	// at is the color of the i-th pixel of a group.
	at func(b []byte, i int) color.RGBA
}

func opaque(r, g, b byte) color.RGBA { return color.RGBA{R: r, G: g, B: b, A: 255} }

// layouts of sensor_msgs/image_encodings that are colors or brightness.
var layouts = map[string]layout{
	"rgb8":  {3, 1, func(b []byte, _ int) color.RGBA { return opaque(b[0], b[1], b[2]) }},
	"bgr8":  {3, 1, func(b []byte, _ int) color.RGBA { return opaque(b[2], b[1], b[0]) }},
	"rgba8": {4, 1, func(b []byte, _ int) color.RGBA { return opaque(b[0], b[1], b[2]) }},
	"bgra8": {4, 1, func(b []byte, _ int) color.RGBA { return opaque(b[2], b[1], b[0]) }},
	"mono8": {1, 1, func(b []byte, _ int) color.RGBA { return opaque(b[0], b[0], b[0]) }},
	// Two pixels share their color: U Y0 V Y1, and Y0 U Y1 V.
	"yuv422":      {4, 2, func(b []byte, i int) color.RGBA { return ycc(b[1+2*i], b[0], b[2]) }},
	"yuv422_yuy2": {4, 2, func(b []byte, i int) color.RGBA { return ycc(b[2*i], b[1], b[3]) }},
}

// aliases are other names of the same layouts; OpenCV's order of colors is BGR.
var aliases = map[string]string{"8UC1": "mono8", "8UC3": "bgr8", "8UC4": "bgra8", "uyvy": "yuv422", "yuyv": "yuv422_yuy2", "16UC1": "mono16"}

func ycc(y, cb, cr byte) color.RGBA {
	r, g, b := color.YCbCrToRGB(y, cb, cr)
	return opaque(r, g, b)
}

// bayer patterns: which of red, green and blue the four pixels of a 2 x 2 block are.
var bayer = map[string]string{"bayer_rggb8": "rggb", "bayer_bggr8": "bggr", "bayer_gbrg8": "gbrg", "bayer_grbg8": "grbg"}

// Decode an image. note says what the picture does not show by itself: the range of a depth image. Bayer patterns are decoded at half
// their size. Encodings of other kinds, and sizes that the data does not have, are errors.
func Decode(r Raw) (img image.Image, note string, err error) {
	name := r.Encoding
	if a, ok := aliases[name]; ok {
		name = a
	}
	var size int
	l, colored := layouts[name]
	switch {
	case colored:
		size = l.bytes * ((r.Width + l.group - 1) / l.group)
	case name == "mono16":
		size = 2 * r.Width
	case name == "32FC1":
		size = 4 * r.Width
	case bayer[name] != "":
		size = r.Width
	default:
		return nil, "", fmt.Errorf("picture: encoding %q: rgb8, bgr8, rgba8, bgra8, mono8, mono16, 16UC1, 32FC1, yuv422, yuv422_yuy2 and the 8 bit bayer patterns are known", r.Encoding)
	}
	if err := r.check(size); err != nil {
		return nil, "", err
	}
	switch {
	case colored:
		return r.colors(l), "", nil
	case bayer[name] != "":
		return r.mosaic(bayer[name]), "", nil
	}
	out, note := r.values(name == "32FC1", r.Encoding == "mono16")
	return out, note, nil
}

// check that the data has all the rows it says.
func (r Raw) check(size int) error {
	switch {
	case r.Width <= 0 || r.Height <= 0 || r.Width > maxPixels/r.Height:
		return fmt.Errorf("picture: %d x %d pixels: from 1 to %d in all are decoded", r.Width, r.Height, maxPixels)
	case r.Step < size || r.Step > len(r.Data):
		return fmt.Errorf("picture: step is %d bytes, a row of %d pixels in %s takes %d, and there are %d bytes in all", r.Step, r.Width, r.Encoding, size, len(r.Data))
	case len(r.Data) < r.Step*(r.Height-1)+size:
		return fmt.Errorf("picture: %d bytes for %d rows of %d bytes", len(r.Data), r.Height, r.Step)
	}
	return nil
}

func (r Raw) colors(l layout) image.Image {
	out := image.NewRGBA(image.Rect(0, 0, r.Width, r.Height))
	for y := range r.Height {
		row := r.Data[y*r.Step:]
		for x := range r.Width {
			out.SetRGBA(x, y, l.at(row[x/l.group*l.bytes:], x%l.group))
		}
	}
	return out
}

// mosaic takes each block of four pixels as one.
func (r Raw) mosaic(pattern string) image.Image {
	out := image.NewRGBA(image.Rect(0, 0, max(r.Width/2, 1), max(r.Height/2, 1)))
	for y := range out.Rect.Dy() {
		for x := range out.Rect.Dx() {
			var c struct{ r, g, b, greens int }
			for i, kind := range pattern {
				v := int(r.Data[min(2*y+i/2, r.Height-1)*r.Step+min(2*x+i%2, r.Width-1)])
				switch kind {
				case 'r':
					c.r = v
				case 'b':
					c.b = v
				default:
					c.g += v
				}
			}
			out.SetRGBA(x, y, opaque(byte(c.r), byte(c.g/2), byte(c.b)))
		}
	}
	return out
}

// values shows what is measured as brightness: for brightness from dark to bright, for distances from bright (near) to dark (far), and black
// where nothing was measured (0, not finite).
func (r Raw) values(float, brightness bool) (image.Image, string) {
	var order binary.ByteOrder = binary.LittleEndian
	if r.BigEndian {
		order = binary.BigEndian
	}
	at := func(x, y int) float64 {
		if float {
			return float64(math.Float32frombits(order.Uint32(r.Data[y*r.Step+4*x:])))
		}
		return float64(order.Uint16(r.Data[y*r.Step+2*x:]))
	}
	least, most := math.Inf(1), math.Inf(-1)
	measured := func(v float64) bool { return brightness || v != 0 && !math.IsNaN(v) && !math.IsInf(v, 0) }
	for y := range r.Height {
		for x := range r.Width {
			if v := at(x, y); measured(v) {
				least, most = min(least, v), max(most, v)
			}
		}
	}
	out := image.NewGray(image.Rect(0, 0, r.Width, r.Height))
	if most < least {
		return out, "nothing was measured"
	}
	const darkest = 40 // of what was measured
	for y := range r.Height {
		for x := range r.Width {
			v := at(x, y)
			if !measured(v) {
				continue
			}
			share := 0.0
			if most > least {
				share = (v - least) / (most - least)
			}
			if brightness {
				out.SetGray(x, y, color.Gray{Y: uint8(share * 255)})
				continue
			}
			out.SetGray(x, y, color.Gray{Y: uint8(255 - share*(255-darkest))})
		}
	}
	switch {
	case brightness:
		return out, ""
	case float:
		return out, fmt.Sprintf("bright is near, dark is far, black is not measured; from %.3g to %.3g m", least, most)
	}
	return out, fmt.Sprintf("bright is near, dark is far, black is not measured; from %.3g to %.3g mm", least, most)
}
