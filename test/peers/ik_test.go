//go:build !race

package peers

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"agent_node/pkg/geometry/kinematics"
	"agent_node/pkg/geometry/spatial"
	"agent_node/pkg/geometry/urdf"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"
)

// Limits of inverse kinematics: how many of the reachable poses are solved within how long, and the mean.
const (
	leastSolved = 0.995
	mostEach    = 5 * time.Millisecond
	mostMean    = 500 * time.Microsecond
	// mostOff is how far a solution may be off by the peer's kinematics, m and rad.
	mostOff = 2e-6
)

// spent is the processor time that f takes, on its thread: other work on the machine does not count.
func spent(f func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	begin := threadTime()
	f()
	return threadTime() - begin
}

func threadTime() time.Duration {
	const threadClock = 3 // CLOCK_THREAD_CPUTIME_ID
	var ts syscall.Timespec
	if _, _, errno := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, threadClock, uintptr(unsafe.Pointer(&ts)), 0); errno != 0 {
		panic(errno)
	}
	return time.Duration(ts.Nano())
}

// TestInverseKinematicsOf10000PosesPerArm: reachable poses are solved, and each solution leads there by Pinocchio's kinematics, within the joints' limits.
func TestInverseKinematicsOf10000PosesPerArm(t *testing.T) {
	p := open(t)
	n := size(300, 10_000)
	for _, r := range robots(t) {
		r.load(p)
		rows, _ := r.many(random(31), n)
		targets := make([]spatial.Transform, n)
		for i, q := range rows {
			var err error
			targets[i], err = r.chain.FK(q)
			fatal(t, err)
		}
		times := make([]time.Duration, 0, n)
		var found []float64
		var which []int
		var took time.Duration
		for i, target := range targets {
			var q []float64
			var err error
			d := spent(func() { q, err = r.chain.IK(target, nil, kinematics.Options{}) })
			took += d
			if err != nil || d > mostEach && full() {
				continue
			}
			times = append(times, d)
			which = append(which, i)
			found = append(found, q...)
			for k, j := range r.joints {
				if !j.Contains(q[k], 1e-12) {
					t.Fatalf("%s: joint %s at %g, limits %g and %g", r.name, j.Name, q[k], j.Lower, j.Upper)
				}
			}
		}
		worst := r.off(p, found, which, targets)
		slices.Sort(times)
		share, mean := float64(len(which))/float64(n), took/time.Duration(n)
		t.Logf("%s: %d poses, %.2f %% solved, mean %v, 99 in 100 within %v, most %v; off by %.1e by Pinocchio", r.name, n, 100*share, mean, times[len(times)*99/100], times[len(times)-1], worst)
		if share < leastSolved || !(worst <= mostOff) {
			t.Errorf("%s: %.2f %% solved, must be %.1f %%; off by %g, limit %g", r.name, 100*share, 100*leastSolved, worst, float64(mostOff))
		}
		if full() && mean > mostMean {
			t.Errorf("%s: mean %v, limit %v", r.name, mean, mostMean)
		}
		if full() {
			for _, lib := range []string{"rtb", "ikpy"} {
				r.beside(p, lib, targets)
			}
		}
	}
}

// off is by how much the solutions miss their targets, m or rad, by the peer's kinematics.
func (r *robot) off(p *peer, found []float64, which []int, targets []spatial.Transform) float64 {
	p.t.Helper()
	worst := 0.0
	theirs := p.ask("frames", question{"name": r.name, "base": r.base, "links": []string{r.tip}}, found, nil)
	for _, i := range which {
		worst = math.Max(worst, missed(theirs[:12], targets[i]))
		theirs = theirs[12:]
	}
	return worst
}

// missed compares a pose, by rows, with a target: the greater of metres and radians.
func missed(pose []float64, target spatial.Transform) float64 {
	want := matrix(target)
	d := r3.Norm(r3.Vec{X: pose[9] - want[9], Y: pose[10] - want[10], Z: pose[11] - want[11]})
	twice := 0.0 // of the sine of half the angle between the rotations, from the difference of the matrices
	for i := range 9 {
		twice += (pose[i] - want[i]) * (pose[i] - want[i])
	}
	return math.Max(d, 2*math.Asin(math.Min(1, math.Sqrt(twice/8))))
}

// beside runs another solver on the same poses from the same seed, judged in the same way.
func (r *robot) beside(p *peer, lib string, targets []spatial.Transform) {
	p.t.Helper()
	if lib == "ikpy" {
		targets = targets[:min(200, len(targets))] // it takes its time
	}
	var seed, lower, upper []float64
	for _, j := range r.joints {
		lo, hi := j.Lower, j.Upper
		if j.Continuous {
			lo, hi = -math.Pi, math.Pi
		}
		seed, lower, upper = append(seed, (lo+hi)/2), append(lower, lo), append(upper, hi)
	}
	data := slices.Clone(seed)
	for _, x := range targets {
		m := matrix(x)
		data = append(data, m[:]...)
	}
	n := len(r.joints)
	var head struct{ Why string }
	theirs := p.ask("solve", question{"lib": lib, "name": r.name, "urdf": abs(p.t, r.file()), "base": r.base, "tip": r.tip, "joints": r.chain.Names(), "lower": lower, "upper": upper}, data, &head)
	if head.Why != "" {
		p.t.Logf("%s: beside it %s: %s", r.name, lib, head.Why)
		return
	}
	var found []float64
	for i := range targets {
		found = append(found, theirs[i*(n+2):i*(n+2)+n]...)
	}
	poses := p.ask("frames", question{"name": r.name, "base": r.base, "links": []string{r.tip}}, found, nil)
	solved, took := 0, 0.0
	for i, x := range targets {
		row := theirs[i*(n+2) : (i+1)*(n+2)]
		took += row[n+1]
		ok := missed(poses[12*i:12*i+12], x) <= 1e-4 // kinder to them than to us
		for k := range n {
			ok = ok && row[k] >= lower[k]-1e-6 && row[k] <= upper[k]+1e-6
		}
		if ok {
			solved++
		}
	}
	p.t.Logf("%s: beside it %s: %d poses, %.2f %% solved, mean %v", r.name, lib, len(targets), 100*float64(solved)/float64(len(targets)),
		time.Duration(1e9*took/float64(len(targets))).Round(time.Microsecond))
}

// Test1000UnreachablePosesAreRefused: out of the arm's reach, by a metre or by a hair, and how much is missing is said.
func Test1000UnreachablePosesAreRefused(t *testing.T) {
	n := size(60, 334)
	for _, r := range robots(t) {
		rng := random(41)
		// No configuration's tip is farther from the first joint than the arm is long.
		reach, shoulder := r.longest()
		for i := range n {
			dir := r3.Unit(r3.Vec{X: rng.NormFloat64(), Y: rng.NormFloat64(), Z: rng.NormFloat64()})
			beyond := math.Pow(10, -4+4*rng.Float64())
			target := spatial.Transform{Translation: r3.Add(shoulder, r3.Scale(reach+beyond, dir)), Rotation: turned(rng)}
			var un *kinematics.UnreachableError
			if _, err := r.chain.IK(target, nil, kinematics.Options{}); !errors.As(err, &un) {
				t.Fatalf("%s: pose %d, %g m beyond reach: %v", r.name, i, beyond, err)
			}
			if !(un.Missing >= beyond-1e-6) {
				t.Errorf("%s: %g m beyond reach, said to be missing are %g", r.name, beyond, un.Missing)
			}
		}
		for _, bad := range []spatial.Transform{{}, {Translation: r3.Vec{X: math.NaN()}, Rotation: quat.Number{Real: 1}}, {Translation: r3.Vec{Y: math.Inf(1)}, Rotation: quat.Number{Real: 1}}} {
			if _, err := r.chain.IK(bad, nil, kinematics.Options{}); err == nil {
				t.Errorf("%s: %v has a solution", r.name, bad)
			}
		}
		t.Logf("%s: %d poses", r.name, n)
	}
}

// longest is the sum of the distances between joints, and where the first joint that turns or slides is.
func (r *robot) longest() (reach float64, from r3.Vec) {
	moved := false
	for _, name := range r.chain.Links()[1:] {
		j := r.model.Above(name)
		d := r3.Norm(j.Origin.Translation)
		if moved {
			reach += d
		} else {
			p, err := r.chain.Poses(nil, make([]float64, len(r.joints)))
			if err != nil {
				panic(fmt.Sprint(err))
			}
			from = p[slices.Index(r.chain.Links(), name)].Translation
		}
		if j.Moves() {
			moved = true
			if j.Type == urdf.Prismatic {
				reach += math.Max(math.Abs(j.Limit.Lower), math.Abs(j.Limit.Upper))
			}
		}
	}
	return reach, from
}
