package robottools_test

import (
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"agent_node/pkg/ros"
)

// protect makes the robot stop by itself again and again, until end: for pause(), after way() of driving.
func (r *rig) protect(end <-chan struct{}, way, pause func() time.Duration) (pauses *atomic.Int64) {
	pauses = new(atomic.Int64)
	wait := func(d time.Duration) bool {
		select {
		case <-time.After(d):
			return true
		case <-end:
			return false
		}
	}
	go func() {
		for wait(way()) {
			r.setParam("fault.protective_stop", true)
			pauses.Add(1)
			wait(pause())
			r.setParam("fault.protective_stop", false)
		}
	}()
	return pauses
}

// Any number of pauses of any length: a stream that moves when it is not paused goes its whole way.
func TestPausesNeverEndAStreamThatMoves(t *testing.T) {
	schedules := 3
	if os.Getenv("PROOF") != "" {
		schedules = 60
	}
	for seed := range schedules {
		for _, c := range []struct{ name, tool, args string }{{"drive", "drive", `{"distance_m":1}`}, {"turn", "turn", `{"angle_rad":2}`}} {
			t.Run(c.name+"/"+strconv.Itoa(seed), func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					r := newRig(t)
					draw := rand.New(rand.NewPCG(uint64(seed), 1))
					within := func(least, most float64) func() time.Duration {
						return func() time.Duration {
							return time.Duration(least * math.Pow(most/least, draw.Float64()) * float64(time.Second))
						}
					}
					before := r.bot.Truth()
					end := make(chan struct{})
					pauses := r.protect(end, within(0.3, 2), within(0.02, 20))
					res := r.call(c.tool, c.args)
					close(end)
					time.Sleep(time.Second)
					after := r.bot.Truth()
					driven := math.Hypot(after.Pose.X-before.Pose.X, after.Pose.Y-before.Pose.Y)
					if !res.OK || c.tool == "drive" && math.Abs(driven-1) > 0.05 || pauses.Load() < 2 {
						t.Errorf("%d pauses: %v %s: %s; driven %.3f m", pauses.Load(), res.OK, res.ErrorKind, res.Content, driven)
					}
				})
			})
		}
	}
}

// Each pause ends in a ramp from rest, a moment's too.
func TestAStreamGrowsFromRestAfterAPause(t *testing.T) {
	const mostStep = 0.8 * 0.1 // m/s: two control periods of the profile's acceleration
	for _, pause := range []time.Duration{150 * time.Millisecond, 450 * time.Millisecond, 5 * time.Second} {
		t.Run(pause.String(), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r := newRig(t)
				var mu sync.Mutex
				var speeds []float64
				must1(r.peer.CreateSubscription("/cmd_vel", "geometry_msgs/msg/Twist", ros.DefaultQoS(), func(m ros.Received) {
					mu.Lock()
					defer mu.Unlock()
					speeds = append(speeds, m.Message.Float("linear.x"))
				}))(t)
				end := make(chan struct{})
				r.protect(end, func() time.Duration { return 1500 * time.Millisecond }, func() time.Duration { return pause })
				res := r.call("drive", `{"distance_m":2}`)
				close(end)
				time.Sleep(time.Second)
				mu.Lock()
				defer mu.Unlock()
				pauses, most := 0, 0.0
				for i, v := range speeds[1:] {
					if v > 0 && speeds[i] == 0 {
						pauses++
					}
					most = math.Max(most, v-speeds[i])
				}
				if !res.OK || pauses < 3 || most > mostStep {
					t.Errorf("%v %s; begun %d times, by steps of up to %.2f m/s", res.OK, res.Content, pauses, most)
				}
			})
		})
	}
}

// A protective stop that comes and goes lends a blind stream 0.3 m once: what is in vain beyond is the end, however it is cut.
func TestPausesDoNotHideABlindStream(t *testing.T) {
	for _, c := range []struct {
		name       string
		way, pause time.Duration
		most       float64 // m, by the truth
	}{
		{"one long pause", 900 * time.Millisecond, 10 * time.Second, 0.85},
		{"short pauses", 700 * time.Millisecond, 300 * time.Millisecond, 0.85},
		{"moments", 500 * time.Millisecond, 40 * time.Millisecond, 0.85},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r := newRig(t)
				r.faulty = true
				before := r.bot.Truth()
				r.setParam("fault.freeze_odom", true)
				end := make(chan struct{})
				pauses := r.protect(end, func() time.Duration { return c.way }, func() time.Duration { return c.pause })
				res := r.call("drive", `{"distance_m":2}`)
				close(end)
				time.Sleep(time.Second)
				driven := r.bot.Truth().Driven - before.Driven
				if res.OK || !strings.Contains(res.Content, "odometry is frozen") || driven > c.most || pauses.Load() < 1 {
					t.Errorf("%d pauses: %v %s: %s; driven %.2f m", pauses.Load(), res.OK, res.ErrorKind, res.Content, driven)
				}
				t.Logf("%d pauses, driven %.2f m: %s", pauses.Load(), driven, res.Content)
			})
		})
	}
}
