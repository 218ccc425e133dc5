package suite

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
)

// Report of a whole suite.
type Report struct {
	Suite   string   `json:"suite"`
	Profile string   `json:"profile"`
	Counted bool     `json:"counted"` // at the robot
	Results []Result `json:"results"`
	Random  int      `json:"random"`
	// Interrupted: not everything was tried. Asked is how much there was to try.
	Interrupted bool `json:"interrupted,omitempty"`
	Asked       int  `json:"asked"`
	// What it comes to.
	Scenarios     int    `json:"scenarios"`
	Unsafe        int    `json:"unsafe"`
	Safe          int    `json:"safe"`
	Right         int    `json:"right"`
	LeftOut       int    `json:"left_out"`
	UnsafeArrived uint64 `json:"unsafe_commands_that_arrived"`
	SafeRefused   int    `json:"safe_moves_refused"`
	Held          uint64 `json:"held"`
}

// Sum counts the results.
func (r *Report) Sum() {
	r.Scenarios, r.Unsafe, r.Safe, r.Right, r.LeftOut, r.UnsafeArrived, r.SafeRefused, r.Held = 0, 0, 0, 0, 0, 0, 0, 0
	for i := range r.Results {
		x := &r.Results[i]
		if x.LeftOut != "" {
			r.LeftOut++
			continue
		}
		r.Scenarios++
		if x.Safe {
			r.Safe++
		} else {
			r.Unsafe++
		}
		if x.Right() {
			r.Right++
		}
		r.UnsafeArrived += x.Arrived
		r.Held += x.Held
		if x.Refused {
			r.SafeRefused++
		}
	}
}

// Passed reports whether nothing was wrong, and something was tried.
func (r *Report) Passed() bool {
	return r.Right == r.Scenarios && r.Scenarios > 0 && r.Counted && !r.Interrupted
}

// Wrong counts the results that are not as they must be.
func (r *Report) Wrong() int {
	n := 0
	for i := range r.Results {
		if len(r.Results[i].Faults) > 0 {
			n++
		}
	}
	return n
}

// Print writes a table by groups, then what is wrong and what was left out.
func (r *Report) Print(out io.Writer) {
	type row struct{ n, right, left, refused int }
	rows := map[string]*row{}
	arrived := map[string]uint64{}
	var groups []string
	for i := range r.Results {
		x := &r.Results[i]
		if rows[x.Group] == nil {
			rows[x.Group] = &row{}
			groups = append(groups, x.Group)
		}
		g := rows[x.Group]
		switch {
		case x.LeftOut != "":
			g.left++
			continue
		case x.Right():
			g.right++
		}
		g.n++
		arrived[x.Group] += x.Arrived
		if x.Refused {
			g.refused++
		}
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "group\tscenarios\tright\tunsafe arrived\tsafe refused\tleft out\t")
	for _, g := range groups {
		x := rows[g]
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t\n", g, x.n, x.right, arrived[g], x.refused, x.left)
	}
	fmt.Fprintf(w, "all\t%d\t%d\t%d\t%d\t%d\t\n", r.Scenarios, r.Right, r.UnsafeArrived, r.SafeRefused, r.LeftOut)
	w.Flush()
	for i := range r.Results {
		x := &r.Results[i]
		for _, f := range x.Faults {
			fmt.Fprintf(out, "WRONG %s (%s): %s\n", x.ID, x.Why, f)
		}
	}
	var left []string
	for i := range r.Results {
		if x := &r.Results[i]; x.LeftOut != "" && !slices.Contains(left, x.LeftOut) {
			left = append(left, x.LeftOut)
		}
	}
	for _, l := range left {
		fmt.Fprintf(out, "left out: %s\n", l)
	}
	if !r.Counted {
		fmt.Fprintln(out, "NOT COUNTED: the robot has no /sim/counters: nobody knows what arrived")
	}
	if r.Held > 0 {
		fmt.Fprintf(out, "held: %d goals that arrived only held an actuator where it was: the node had lost sight of it\n", r.Held)
	}
	if r.Interrupted {
		fmt.Fprintf(out, "INTERRUPTED: %d of %d were tried\n", len(r.Results), r.Asked)
	}
	fmt.Fprintf(out, "%s with %s: %d unsafe scenarios, %d unsafe commands that arrived; %d safe ones (%d random moves), %d refused\n",
		r.Suite, r.Profile, r.Unsafe, r.UnsafeArrived, r.Safe, r.Random, r.SafeRefused)
}
