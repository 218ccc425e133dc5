package guard_test

import (
	"testing"
	"time"

	"agent_node/pkg/guard"
	"agent_node/pkg/guard/guardtest"
)

// A source that lies at its own rate is told of at its beginning and now and then, not with every measurement.
func TestALastingFlawIsToldNowAndThen(t *testing.T) {
	withRig(t, rigOptions{}, func(r *rig) {
		r.lease()
		r.r.Set(func(f *guardtest.Faults) { f.FreezeStamps = true })
		r.wait(100 * time.Millisecond)
		if n := len(r.reported(guard.ReportSample)); n != 1 {
			t.Errorf("%d reports in the first moments, want 1", n)
		}
		r.wait(11 * time.Second)
		if n := len(r.reported(guard.ReportSample)); n != 3 {
			t.Errorf("%d reports in 11 s, want 3", n)
		}
		r.r.Set(func(f *guardtest.Faults) { f.FreezeStamps = false; f.NaN = true })
		r.wait(100 * time.Millisecond)
		if n := len(r.reported(guard.ReportSample)); n != 4 {
			t.Errorf("%d reports, want 4: another flaw is told at once", n)
		}
	})
}

// Each foreign publisher is told of once a second, however many there are.
func TestForeignPublishersAreToldApart(t *testing.T) {
	withRig(t, rigOptions{}, func(r *rig) {
		r.lease()
		for range 40 {
			r.a.Foreign("/teleop")
			r.a.Foreign("/joystick")
			r.wait(50 * time.Millisecond)
		}
		count := map[string]int{}
		for _, p := range r.reported(guard.ReportForeign) {
			count[p.Detail]++
		}
		if count["/teleop"] != 2 || count["/joystick"] != 2 {
			t.Errorf("in 2 s: %v, want each twice", count)
		}
	})
}
