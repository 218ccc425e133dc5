package picture

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rgb of a pixel, 8 bits each.
func rgb(img image.Image, x, y int) [3]int {
	r, g, b, _ := img.At(img.Bounds().Min.X+x, img.Bounds().Min.Y+y).RGBA()
	return [3]int{int(r >> 8), int(g >> 8), int(b >> 8)}
}

// Two pixels, the second orange, in every encoding; the rows are padded, so that a step that is ignored shows.
func TestEncodings(t *testing.T) {
	gray := func(v int) [3]int { return [3]int{v, v, v} }
	f32 := func(order binary.ByteOrder, v ...float32) []byte {
		var b bytes.Buffer
		if err := binary.Write(&b, order, v); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	orange := [3]int{250, 120, 10}
	for name, c := range map[string]struct {
		row       []byte
		bigEndian bool
		want      [2][3]int
		note      string
	}{
		"rgb8":        {[]byte{1, 2, 3, 250, 120, 10}, false, [2][3]int{{1, 2, 3}, orange}, ""},
		"bgr8":        {[]byte{3, 2, 1, 10, 120, 250}, false, [2][3]int{{1, 2, 3}, orange}, ""},
		"8UC3":        {[]byte{3, 2, 1, 10, 120, 250}, false, [2][3]int{{1, 2, 3}, orange}, ""},
		"rgba8":       {[]byte{1, 2, 3, 0, 250, 120, 10, 9}, false, [2][3]int{{1, 2, 3}, orange}, ""},
		"bgra8":       {[]byte{3, 2, 1, 0, 10, 120, 250, 9}, false, [2][3]int{{1, 2, 3}, orange}, ""},
		"8UC4":        {[]byte{3, 2, 1, 0, 10, 120, 250, 9}, false, [2][3]int{{1, 2, 3}, orange}, ""},
		"mono8":       {[]byte{7, 200}, false, [2][3]int{gray(7), gray(200)}, ""},
		"8UC1":        {[]byte{7, 200}, false, [2][3]int{gray(7), gray(200)}, ""},
		"yuv422":      {[]byte{128, 50, 128, 180}, false, [2][3]int{gray(50), gray(180)}, ""},
		"yuv422_yuy2": {[]byte{50, 128, 180, 128}, false, [2][3]int{gray(50), gray(180)}, ""},
		"yuyv":        {[]byte{76, 85, 76, 255}, false, [2][3]int{{254, 0, 0}, {254, 0, 0}}, ""},
		"mono16":      {[]byte{0, 0, 255, 255}, false, [2][3]int{gray(0), gray(255)}, ""},
		"16UC1":       {[]byte{0xe8, 3, 0xd0, 7}, false, [2][3]int{gray(255), gray(40)}, "from 1e+03 to 2e+03 mm"},
		"32FC1":       {f32(binary.BigEndian, 0.5, 2), true, [2][3]int{gray(255), gray(40)}, "from 0.5 to 2 m"},
	} {
		t.Run(name, func(t *testing.T) {
			raw := Raw{Encoding: name, Width: 2, Height: 2, Step: len(c.row) + 3, BigEndian: c.bigEndian}
			raw.Data = append(append(append([]byte{}, c.row...), 99, 99, 99), c.row...)
			img, note, err := Decode(raw)
			if err != nil {
				t.Fatal(err)
			}
			for y := range 2 {
				for x := range 2 {
					if got := rgb(img, x, y); got != c.want[x] {
						t.Errorf("pixel %d,%d is %v, want %v", x, y, got, c.want[x])
					}
				}
			}
			if !strings.Contains(note, c.note) || (note == "") != (c.note == "") {
				t.Errorf("note %q", note)
			}
		})
	}
	for name, block := range map[string][]byte{"bayer_rggb8": {250, 110, 130, 10}, "bayer_bggr8": {10, 110, 130, 250}, "bayer_gbrg8": {110, 10, 250, 130}, "bayer_grbg8": {110, 250, 10, 130}} {
		img, _, err := Decode(Raw{Encoding: name, Width: 2, Height: 2, Step: 2, Data: block})
		if err != nil || img.Bounds().Dx() != 1 || rgb(img, 0, 0) != orange {
			t.Errorf("%s: %v %v", name, img, err)
		}
	}
}

// Where nothing was measured a depth image is black, and where all is as far it is bright.
func TestDepthWithGaps(t *testing.T) {
	data := make([]byte, 16)
	for i, v := range []float64{math.NaN(), 1.5, math.Inf(1), 0} {
		binary.LittleEndian.PutUint32(data[4*i:], math.Float32bits(float32(v)))
	}
	img, note, err := Decode(Raw{Encoding: "32FC1", Width: 4, Height: 1, Step: 16, Data: data})
	if err != nil || !strings.Contains(note, "from 1.5 to 1.5 m") {
		t.Fatal(note, err)
	}
	for x, want := range []int{0, 255, 0, 0} {
		if rgb(img, x, 0)[0] != want {
			t.Errorf("pixel %d is %v, want %d", x, rgb(img, x, 0), want)
		}
	}
	if _, note, err = Decode(Raw{Encoding: "16UC1", Width: 2, Height: 1, Step: 4, Data: make([]byte, 4)}); err != nil || note != "nothing was measured" {
		t.Error(note, err)
	}
}

func TestImagesThatAreNone(t *testing.T) {
	good := Raw{Encoding: "rgb8", Width: 2, Height: 2, Step: 6, Data: make([]byte, 12)}
	for name, spoil := range map[string]func(*Raw){
		"an unknown encoding": func(r *Raw) { r.Encoding = "64FC9" },
		"no width":            func(r *Raw) { r.Width = 0 },
		"a negative height":   func(r *Raw) { r.Height = -1 },
		"a huge size":         func(r *Raw) { r.Width, r.Height, r.Encoding = 1<<31-1, 1<<31-1, "mono8" },
		"a step too short":    func(r *Raw) { r.Step = 5 },
		"a step too long":     func(r *Raw) { r.Step = 1 << 40 },
		"too few bytes":       func(r *Raw) { r.Data = r.Data[:11] },
		"no bytes":            func(r *Raw) { r.Data = nil },
	} {
		r := good
		spoil(&r)
		if img, _, err := Decode(r); err == nil || !strings.HasPrefix(err.Error(), "picture: ") {
			t.Errorf("%s: %v %v", name, img, err)
		}
	}
	// The last row may lack its padding.
	r := good
	r.Step, r.Data = 8, make([]byte, 14)
	if _, _, err := Decode(r); err != nil {
		t.Error(err)
	}
}

// A picture gets no larger than it may be, keeps its shape and its mean color, and a smaller one stays as it is.
func TestShrink(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h, side := rapid.IntRange(1, 60).Draw(t, "w"), rapid.IntRange(1, 60).Draw(t, "h"), rapid.IntRange(1, 40).Draw(t, "side")
		img := image.NewRGBA(image.Rect(5, 7, 5+w, 7+h))
		sum := 0.0
		for y := range h {
			for x := range w {
				v := rapid.Byte().Draw(t, "v")
				img.SetRGBA(5+x, 7+y, color.RGBA{v, v, v, 255})
				sum += float64(v)
			}
		}
		small := Shrink(img, side)
		sw, sh := small.Bounds().Dx(), small.Bounds().Dy()
		if max(w, h) <= side {
			if small != image.Image(img) {
				t.Fatal("a small picture was changed")
			}
			return
		}
		if max(sw, sh) != side || sw < 1 || sh < 1 || math.Abs(float64(sw*h)-float64(sh*w)) > float64(max(w, h)) {
			t.Fatalf("%d x %d of %d x %d", sw, sh, w, h)
		}
		if w%sw != 0 || h%sh != 0 {
			return
		}
		got := 0.0
		for y := range sh {
			for x := range sw {
				got += float64(rgb(small, x, y)[0])
			}
		}
		if math.Abs(got/float64(sw*sh)-sum/float64(w*h)) > 1 {
			t.Fatalf("mean %v, was %v", got/float64(sw*sh), sum/float64(w*h))
		}
	})
}

func TestCompressedImages(t *testing.T) {
	img := image.NewRGBA(image.Rect(0, 0, 64, 48))
	for i := range img.Pix {
		img.Pix[i] = 200
	}
	var asJPEG, asPNG bytes.Buffer
	if err := jpeg.Encode(&asJPEG, img, nil); err != nil {
		t.Fatal(err)
	}
	if err := png.Encode(&asPNG, img); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"JPEG": asJPEG.Bytes(), "PNG": asPNG.Bytes()} {
		got, err := Decompress(data)
		if err != nil || got.Bounds().Dx() != 64 {
			t.Fatalf("%s: %v", name, err)
		}
		e, err := Encode(got, 16)
		if err != nil || e.Width != 16 || e.Height != 12 || e.MediaType != "image/jpeg" {
			t.Fatalf("%s: %+v %v", name, e, err)
		}
		back, err := Decompress(e.Data)
		if err != nil || back.Bounds().Dx() != 16 || math.Abs(float64(rgb(back, 5, 5)[0]-200)) > 60 {
			t.Errorf("%s: %v %v", name, rgb(back, 5, 5), err)
		}
		if _, err := Decompress(data[:len(data)/2]); err == nil {
			t.Errorf("half a %s is a picture", name)
		}
		if _, err := Decompress(data[:8]); err == nil {
			t.Errorf("the beginning of a %s is a picture", name)
		}
	}
	huge := append([]byte{}, asPNG.Bytes()...)
	copy(huge[16:], []byte{0x7f, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff})
	for _, data := range [][]byte{nil, []byte("GIF89a"), huge} {
		if _, err := Decompress(data); err == nil {
			t.Errorf("%.20q is a picture", data)
		}
	}
}

// FuzzDecode: whatever a driver says of its image, it is a picture of the size it says or an error.
func FuzzDecode(f *testing.F) {
	f.Add("rgb8", 2, 2, 6, false, make([]byte, 12))
	f.Add("bayer_rggb8", 3, 3, 3, true, make([]byte, 9))
	f.Add("32FC1", 1, 2, 4, true, make([]byte, 8))
	f.Add("yuyv", 3, 1, 8, false, make([]byte, 8))
	f.Fuzz(func(t *testing.T, encoding string, w, h, step int, big bool, data []byte) {
		img, _, err := Decode(Raw{encoding, w, h, step, big, data})
		if err != nil {
			return
		}
		if b := img.Bounds(); b.Dx() != w && b.Dx() != max(w/2, 1) || b.Dy() != h && b.Dy() != max(h/2, 1) {
			t.Errorf("%v of %d x %d", b, w, h)
		}
	})
}

// FuzzDecompress: whatever bytes come, they are a picture that can be shown or an error.
func FuzzDecompress(f *testing.F) {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 3, 2))); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add([]byte("\xff\xd8\xff"))
	f.Fuzz(func(t *testing.T, data []byte) {
		img, err := Decompress(data)
		if err != nil || img.Bounds().Dx()*img.Bounds().Dy() > 1<<16 {
			return
		}
		if e, err := Encode(img, 64); err != nil || max(e.Width, e.Height) > 64 {
			t.Errorf("%+v %v", e, err)
		}
	})
}
