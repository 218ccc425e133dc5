package guard

import (
	"math"
	"time"
)

// verdict is what a run of samples says.
type verdict uint8

const (
	isUnknown verdict = iota
	isMoving
	isRest
)

// flaw says why samples are not rest. The zero flaw is none.
type flaw uint8

const (
	noFlaw flaw = iota
	noSample
	tooOld
	stampOld
	notFinite
	notIncreasing
	gap
	tooShort
	tooFew
	bunched
	frozen
	unchanged
	fast
	displaced
	spreadOut
	secondMoves
	goalLives
)

var flawText = [...]string{
	noFlaw:        "at rest",
	noSample:      "no measurement",
	tooOld:        "the newest measurement is too old",
	stampOld:      "the newest measurement's stamp is too far from now",
	notFinite:     "a measured value is not finite",
	notIncreasing: "stamps do not increase",
	gap:           "a gap between stamps is too long",
	tooShort:      "not measured for a whole window yet",
	tooFew:        "too few measurements in the window",
	bunched:       "measurements arrived in a bunch",
	frozen:        "the sensor's values are frozen",
	unchanged:     "the measured values have not changed since the command",
	fast:          "measured speed is above the threshold",
	displaced:     "measured displacement is above the threshold",
	spreadOut:     "measured positions oscillate",
	secondMoves:   "the second source measures motion",
	goalLives:     "it stands still, but a goal is not known to have ended: its server may go on when nothing stops it",
}

// String says it for people.
func (f flaw) String() string { return flawText[f] }

// mono is monotonic time since the actuator was added.
type mono = time.Duration

// Bits of a kept sample, worked out once when it comes in. The last three are about the step from the sample before it.
const (
	bitNotFinite = 1 << iota
	bitFast
	bitNotIncreasing
	bitGap
	bitSame
)

// frozenRun: so many identical samples in a row of a sensor that is known to be noisy, and it is frozen.
const frozenRun = 3

// maxKept bounds the samples kept: half a second at 32 kHz.
const maxKept = 1 << 14

// limits of a group, with the axes it holds.
type groupLimits struct {
	Limits
	axes []int
}

// window keeps the newest samples of one source and applies the settled rule to them. Nothing allocates once it has grown to the
// source's rate.
type window struct {
	groups     []groupLimits
	wrap       []bool
	n          int // axes
	span       time.Duration
	maxAge     time.Duration
	maxGap     time.Duration
	minSpread  time.Duration
	minSamples int
	spread     float64
	noisy      bool

	// Ring: sample i of count is slot (head+i) mod len(stamps); the newest is last.
	stamps  []int64 // source's, ns
	arrived []mono
	bits    []uint8
	pos     []float64 // n per slot
	vel     []float64
	head    int
	count   int
	alike   int // newest samples in a row that are identical

	// The last judgement: until the next sample only the age can change it.
	judged bool
	from   mono
	last   judgement
}

// judgement is a verdict with what is wrong.
type judgement struct {
	verdict verdict
	flaw    flaw
}

func newWindow(c *Config, axes []Axis, period time.Duration) *window {
	span := windowOf(c, period)
	w := &window{
		n:          len(axes),
		span:       span,
		maxAge:     ageOf(c, period),
		maxGap:     time.Duration(c.MaxGapPeriods * float64(period)),
		minSpread:  time.Duration(c.ArrivalSpread * float64(span)),
		minSamples: c.MinSamples,
		spread:     c.SpreadFactor,
		noisy:      c.Noisy,
		wrap:       make([]bool, len(axes)),
	}
	index := map[Group]int{}
	for i, a := range axes {
		w.wrap[i] = a.Wrap
		l := c.Groups[a.Group]
		if l.Deceleration == 0 {
			l.Deceleration = c.Deceleration
		}
		g, ok := index[a.Group]
		if !ok {
			g = len(w.groups)
			index[a.Group] = g
			w.groups = append(w.groups, groupLimits{Limits: l})
		}
		w.groups[g].axes = append(w.groups[g].axes, i)
	}
	w.grow(int(2*span/period) + 16)
	return w
}

// grow makes room for size samples, keeping those there are.
func (w *window) grow(size int) {
	size = min(size, maxKept)
	if size <= len(w.stamps) {
		return
	}
	stamps, arrived, bits := make([]int64, size), make([]mono, size), make([]uint8, size)
	pos, vel := make([]float64, size*w.n), make([]float64, size*w.n)
	for i := range w.count {
		s := w.slot(i)
		stamps[i], arrived[i], bits[i] = w.stamps[s], w.arrived[s], w.bits[s]
		copy(pos[i*w.n:], w.pos[s*w.n:(s+1)*w.n])
		copy(vel[i*w.n:], w.vel[s*w.n:(s+1)*w.n])
	}
	w.stamps, w.arrived, w.bits, w.pos, w.vel, w.head = stamps, arrived, bits, pos, vel, 0
}

func (w *window) slot(i int) int {
	if i += w.head; i >= len(w.stamps) {
		i -= len(w.stamps)
	}
	return i
}

func (w *window) position(i int) []float64 { s := w.slot(i) * w.n; return w.pos[s : s+w.n] }
func (w *window) velocity(i int) []float64 { s := w.slot(i) * w.n; return w.vel[s : s+w.n] }

// newestStamp is the source's stamp of the newest sample; there must be one.
func (w *window) newestStamp() time.Time { return time.Unix(0, w.stamps[w.slot(w.count-1)]) }

// newestFinite is the index of the newest sample without NaN or Inf, -1 if there is none.
func (w *window) newestFinite() int {
	for i := w.count - 1; i >= 0; i-- {
		if w.bits[w.slot(i)]&bitNotFinite == 0 {
			return i
		}
	}
	return -1
}

// add keeps a sample and says whether it is usable feedback: the right number of finite values that are not frozen, and a stamp after
// the one before.
// A sample that is not still breaks the run, so that a window that contains it is never rest.
func (w *window) add(stamp time.Time, arrived mono, position, velocity []float64) (ok bool, why flaw) {
	if w.count == len(w.stamps) {
		if arrived-w.arrived[w.head] <= 2*w.span {
			w.grow(2 * w.count)
		}
		if w.count == len(w.stamps) {
			w.head = w.slot(1)
			w.count--
		}
	}
	w.judged = false
	i := w.count
	w.count++
	s := w.slot(i)
	w.arrived[s] = arrived
	w.stamps[s] = 0
	w.bits[s] = 0
	p, v := w.position(i), w.velocity(i)

	if stamp.IsZero() {
		w.bits[s] |= bitNotIncreasing
	} else {
		w.stamps[s] = stamp.UnixNano()
	}
	var dt time.Duration
	if i > 0 {
		before := w.stamps[w.slot(i-1)]
		dt = time.Duration(w.stamps[s] - before)
		switch {
		case w.stamps[s] <= before:
			w.bits[s] |= bitNotIncreasing
		case dt > w.maxGap || dt < 0: // dt < 0: stamps so far apart that the difference overflows
			w.bits[s] |= bitGap
		}
	}
	w.fill(p, position)
	switch {
	case len(velocity) > 0 || i == 0:
		w.fill(v, velocity)
	default: // derived, from the step before
		q := w.position(i - 1)
		for a := range v {
			v[a] = w.diff(a, p[a], q[a]) / dt.Seconds()
		}
	}
	if i > 0 && same(p, w.position(i-1)) && same(v, w.velocity(i-1)) {
		w.bits[s] |= bitSame
		w.alike++
	} else {
		w.alike = 1
	}
	if !finite(p) || !finite(v) {
		w.bits[s] |= bitNotFinite
	}
	if !w.slow(v) {
		w.bits[s] |= bitFast
	}
	switch {
	case w.bits[s]&bitNotFinite != 0:
		return false, notFinite
	case w.bits[s]&bitNotIncreasing != 0:
		return false, notIncreasing
	case w.noisy && w.alike >= frozenRun:
		return false, frozen
	}
	return true, noFlaw
}

// fill copies src, or NaN where it has not one value per axis.
func (w *window) fill(dst, src []float64) {
	if len(src) == w.n {
		copy(dst, src)
		return
	}
	for a := range dst {
		dst[a] = math.NaN()
	}
}

// diff is x-y on an axis, the short way round where it wraps.
func (w *window) diff(axis int, x, y float64) float64 {
	d := x - y
	if w.wrap[axis] {
		d = math.Remainder(d, 2*math.Pi)
	}
	return d
}

// slow: every group's speed is at or below its threshold; NaN is not.
func (w *window) slow(v []float64) bool {
	for i := range w.groups {
		g := &w.groups[i]
		if !(g.size(v) <= g.Speed) {
			return false
		}
	}
	return true
}

// size is the magnitude of a group's values: their norm, or the largest. NaN stays NaN or becomes Inf.
func (g *groupLimits) size(v []float64) float64 {
	m := 0.0
	for _, a := range g.axes {
		x := math.Abs(v[a])
		switch {
		case g.Euclidean:
			m = math.Hypot(m, x)
		case !(x <= m):
			if m = x; m != m {
				return m
			}
		}
	}
	return m
}

// near: every group's displacement from p to q is at or below factor thresholds; NaN is not.
func (w *window) near(p, q []float64, factor float64) bool {
	for i := range w.groups {
		g := &w.groups[i]
		limit := factor * g.Displacement
		sum := 0.0
		for _, a := range g.axes {
			d := p[a] - q[a]
			if w.wrap[a] && !(math.Abs(d) <= math.Pi) {
				d = math.Remainder(d, 2*math.Pi)
			}
			if !(math.Abs(d) <= limit) {
				return false
			}
			sum += d * d
		}
		if g.Euclidean && !(sum <= limit*limit) {
			return false
		}
	}
	return true
}

// stopTime is the longest that any group needs from the velocity v to zero at its deceleration; 0 where v is not finite.
func (w *window) stopTime(v []float64) time.Duration {
	longest := 0.0
	for i := range w.groups {
		g := &w.groups[i]
		if t := g.size(v) / g.Deceleration; t > longest {
			longest = t
		}
	}
	if !(longest < 3600) { // also NaN: nothing sensible stops for an hour
		return 0
	}
	return time.Duration(longest * float64(time.Second))
}

// judge applies the settled rule at time now. Only samples that arrived at or after from count.
func (w *window) judge(now, from mono) (verdict, flaw) {
	if w.count == 0 {
		return isUnknown, noSample
	}
	newest := w.slot(w.count - 1)
	if age := now - w.arrived[newest]; age < 0 || age >= w.maxAge {
		return isUnknown, tooOld
	}
	if w.noisy && w.alike >= frozenRun {
		return isUnknown, frozen
	}
	if !w.judged || w.from != from {
		w.judged, w.from = true, from
		w.last = w.judgeFrom(from)
	}
	return w.last.verdict, w.last.flaw
}

// judgeFrom walks back from the newest sample to the first one stamped a window earlier.
func (w *window) judgeFrom(from mono) judgement {
	last := w.count - 1
	newest := w.slot(last)
	for i := last; ; i-- {
		s := w.slot(i)
		switch {
		case w.bits[s]&bitNotFinite != 0:
			return judgement{isUnknown, notFinite}
		case w.bits[s]&bitFast != 0:
			return judgement{isMoving, fast}
		case w.arrived[s] < from:
			return judgement{isUnknown, tooShort}
		}
		if w.stamps[newest]-w.stamps[s] >= int64(w.span) {
			return w.judgeRun(i, last)
		}
		switch {
		case w.bits[s]&bitNotIncreasing != 0:
			return judgement{isUnknown, notIncreasing}
		case w.bits[s]&bitGap != 0:
			return judgement{isUnknown, gap}
		case i == 0:
			return judgement{isUnknown, tooShort}
		}
	}
}

// judgeRun judges the samples first to last: finite, slow, in order, without gaps, spanning the window by their stamps.
func (w *window) judgeRun(first, last int) judgement {
	if last-first+1 < w.minSamples {
		return judgement{isUnknown, tooFew}
	}
	if w.arrived[w.slot(last)]-w.arrived[w.slot(first)] < w.minSpread {
		return judgement{isUnknown, bunched}
	}
	p := w.position(last)
	if !w.near(w.position(first), p, 1) {
		return judgement{isMoving, displaced}
	}
	for i := first; i < last && w.spread > 0; i++ {
		if !w.near(w.position(i), p, w.spread) {
			return judgement{isMoving, spreadOut}
		}
	}
	if w.noisy && w.stuck(first, last) {
		return judgement{isUnknown, frozen}
	}
	return judgement{isRest, noFlaw}
}

// stuck: somewhere in the run values did not change for too long.
func (w *window) stuck(first, last int) bool {
	run := 1
	for i := first + 1; i <= last; i++ {
		if w.bits[w.slot(i)]&bitSame == 0 {
			run = 1
			continue
		}
		if run++; run >= frozenRun {
			return true
		}
	}
	return false
}

func finite(x []float64) bool {
	for _, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}

func same(x, y []float64) bool {
	for i := range x {
		if x[i] != y[i] {
			return false
		}
	}
	return true
}
