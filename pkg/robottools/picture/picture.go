package picture

import (
	"bytes"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
)

// quality of the JPEGs made here.
const quality = 80

// Encoded is a picture ready to be shown.
type Encoded struct {
	MediaType     string // image/jpeg
	Data          []byte
	Width, Height int // pixels
}

// Decompress a sensor_msgs/msg/CompressedImage's data: a JPEG or a PNG, whatever its format field says.
func Decompress(data []byte) (image.Image, error) {
	kind, size, decode := "JPEG", jpeg.DecodeConfig, jpeg.Decode
	switch {
	case bytes.HasPrefix(data, []byte("\x89PNG")):
		kind, size, decode = "PNG", png.DecodeConfig, png.Decode
	case !bytes.HasPrefix(data, []byte("\xff\xd8")):
		return nil, fmt.Errorf("picture: %d bytes that are no JPEG and no PNG", len(data))
	}
	cfg, err := size(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("picture: %s: %w", kind, err)
	}
	if cfg.Width <= 0 || cfg.Height <= 0 || cfg.Width > maxPixels/cfg.Height {
		return nil, fmt.Errorf("picture: a %s of %d x %d pixels: from 1 to %d in all are decoded", kind, cfg.Width, cfg.Height, maxPixels)
	}
	img, err := decode(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("picture: %s: %w", kind, err)
	}
	return img, nil
}

// Encode a picture as JPEG, its longer side at most so many pixels.
func Encode(img image.Image, side int) (Encoded, error) {
	img = Shrink(img, side)
	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, &jpeg.Options{Quality: quality}); err != nil {
		return Encoded{}, fmt.Errorf("picture: %w", err)
	}
	return Encoded{MediaType: "image/jpeg", Data: b.Bytes(), Width: img.Bounds().Dx(), Height: img.Bounds().Dy()}, nil
}

// Shrink a picture so that its longer side is at most so many pixels; each pixel is the mean of those it stands for. A smaller picture
// stays as it is.
func Shrink(img image.Image, side int) image.Image {
	from := img.Bounds()
	w, h := from.Dx(), from.Dy()
	longer := max(w, h)
	if side <= 0 || longer <= side {
		return img
	}
	to := image.NewRGBA64(image.Rect(0, 0, max(w*side/longer, 1), max(h*side/longer, 1)))
	for y := range to.Rect.Dy() {
		y0, y1 := y*h/to.Rect.Dy(), (y+1)*h/to.Rect.Dy()
		for x := range to.Rect.Dx() {
			x0, x1 := x*w/to.Rect.Dx(), (x+1)*w/to.Rect.Dx()
			var r, g, b, n uint64
			for j := y0; j < y1; j++ {
				for i := x0; i < x1; i++ {
					cr, cg, cb, _ := img.At(from.Min.X+i, from.Min.Y+j).RGBA()
					r, g, b, n = r+uint64(cr), g+uint64(cg), b+uint64(cb), n+1
				}
			}
			p := to.Pix[to.PixOffset(x, y):]
			for k, v := range [...]uint64{r / n, g / n, b / n, 0xffff} {
				p[2*k], p[2*k+1] = byte(v>>8), byte(v)
			}
		}
	}
	return to
}
