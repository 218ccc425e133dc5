package plot

import "html"

// rect is a part of the canvas, in pixels.
type rect struct{ x0, y0, x1, y1 float64 }

func (r rect) overlap(s rect) float64 {
	w, h := min(r.x1, s.x1)-max(r.x0, s.x0), min(r.y1, s.y1)-max(r.y0, s.y0)
	if w <= 0 || h <= 0 {
		return 0
	}
	return w * h
}

// busy notes that something is drawn there, which labels should not cover.
func (c *canvas) busy(x, y, half float64) {
	c.taken = append(c.taken, rect{x - half, y - half, x + half, y + half})
}

// beside writes a name next to a thing of the given half size, on the side where it
// covers least. Labels are written last, so that everything is known that they could cover.
func (c *canvas) beside(x, y, half, size float64, fill, weight, text string) {
	const gap = 7.0
	width := 0.58 * size * float64(len([]rune(text)))
	type spot struct {
		x, y   float64
		anchor string
		area   rect
	}
	right, left := x+half+gap, x-half-gap
	below, above := y+half+gap+size/2, y-half-gap-size/2
	spots := []spot{
		{right, y, "start", rect{right, y - size/2, right + width, y + size/2}},
		{left, y, "end", rect{left - width, y - size/2, left, y + size/2}},
		{x, below, "middle", rect{x - width/2, below - size/2, x + width/2, below + size/2}},
		{x, above, "middle", rect{x - width/2, above - size/2, x + width/2, above + size/2}},
	}
	best, least := spots[0], -1.0
	for _, s := range spots {
		covered := 0.0
		for _, t := range c.taken {
			covered += s.area.overlap(t)
		}
		if least < 0 || covered < least {
			best, least = s, covered
		}
	}
	c.taken = append(c.taken, best.area)
	c.label(best.x, best.y, size, fill, weight, best.anchor, text)
}

// label writes a text at a point given in pixels. A rim below it keeps it legible on
// lines; it is a text of its own, since not every program knows paint-order.
func (c *canvas) label(x, y, size float64, fill, weight, anchor, text string) {
	c.write(x, y, size, "none", `stroke="`+floor+`" stroke-opacity="0.75" stroke-width="3.5" stroke-linejoin="round"`, weight, anchor, text)
	c.plain(x, y, size, fill, weight, anchor, text)
}

// plain writes a text without a rim.
func (c *canvas) plain(x, y, size float64, fill, weight, anchor, text string) {
	c.write(x, y, size, fill, "", weight, anchor, text)
}

func (c *canvas) write(x, y, size float64, fill, stroke, weight, anchor, text string) {
	c.add(`<text x="%.1f" y="%.1f" font-size="%.0f" fill="%s" %s font-weight="%s" text-anchor="%s" dominant-baseline="central">%s</text>`,
		x, y, size, fill, stroke, weight, anchor, html.EscapeString(text))
}
