package harness

import (
	"hash/maphash"

	"agent_node/pkg/harness/tool"
)

// Limits of going round in circles, in steps in a row. Steps count and not calls: within one answer the model had no
// chance to see what the first call brought.
const (
	repeatLimit     = 3  // the same calls with the same results
	sameCallLimit   = 25 // the same call, whatever it returns
	missingLimit    = 3  // unknown tools
	denialLimit     = 3  // refused permissions
	validationLimit = 5  // invalid arguments, whatever they are
	failureLimit    = 8  // nothing but failures
)

// stuck notices a loop without progress. A skill that succeeded is progress: robots rightly wait three times, and drive
// and turn by turns. What repeats without it is a circle: the same call with the same result three times, two that
// alternate, nothing but failures.
type stuck struct {
	seed maphash.Seed
	set  bool

	// of the step under way
	sum      uint64 // calls and results
	callSum  uint64 // calls alone
	calls    int
	progress bool
	success  bool
	control  bool // an answer was judged: acceptance has its own rounds
	kinds    [4]int

	// of the steps before
	recent   [4]uint64 // sums, the newest last
	repeats  int
	same     int
	lastCall uint64
	failures int
	kindRuns [4]int
	found    *ending
}

// Classes of failure.
const (
	missing = iota
	denial
	validation
	otherFailure
)

// call takes one observation of the step under way.
func (k *stuck) call(c *call, r tool.Result) {
	if !k.set {
		k.seed, k.set = maphash.MakeSeed(), true
	}
	var h maphash.Hash
	h.SetSeed(k.seed)
	put := func(s string) { h.WriteString(s); h.WriteByte(0) }
	put(c.tool)
	put(c.given)
	k.callSum = k.callSum*31 + h.Sum64()
	put(string(r.ErrorKind))
	if r.OK {
		// What a failure says may hold times and measurements; that it fails again is what counts.
		put(r.Content)
		if r.Passed {
			put("passed")
		}
	}
	k.sum = k.sum*31 + h.Sum64()
	k.calls++
	k.control = k.control || c.tool == tool.Finish && (r.OK || r.ErrorKind == tool.PostconditionFailed)
	if r.OK {
		k.success = true
		k.progress = k.progress || c.spec.Class == tool.Skill
		return
	}
	switch r.ErrorKind {
	case tool.UnknownTool:
		k.kinds[missing]++
	case tool.PermissionDenied:
		k.kinds[denial]++
	case tool.InvalidArguments, tool.DuplicateCall:
		k.kinds[validation]++
	default:
		k.kinds[otherFailure]++
	}
}

// step closes the step under way. Only whole steps count.
func (k *stuck) step(whole bool) {
	defer func() {
		k.sum, k.callSum, k.calls, k.progress, k.success, k.control, k.kinds = 0, 0, 0, false, false, false, [4]int{}
	}()
	switch {
	case !whole || k.calls == 0 || k.control:
		return
	case k.progress:
		*k = stuck{seed: k.seed, set: true}
		return
	}
	if k.sum == k.recent[3] {
		k.repeats++
	} else {
		k.repeats = 1
	}
	if k.callSum == k.lastCall {
		k.same++
	} else {
		k.same = 1
	}
	k.lastCall = k.callSum
	k.recent = [4]uint64{k.recent[1], k.recent[2], k.recent[3], k.sum}
	if k.success {
		k.failures, k.kindRuns = 0, [4]int{}
	} else {
		k.failures++
		for i, n := range k.kinds {
			if n > 0 {
				k.kindRuns[i]++
			}
		}
	}
	k.found = k.judge()
}

func (k *stuck) judge() *ending {
	identical := k.repeats >= repeatLimit
	switch {
	case k.kindRuns[missing] >= missingLimit:
		return endOf(ReasonToolMissing, "%d steps in a row called tools that do not exist", k.kindRuns[missing])
	case k.kindRuns[denial] >= denialLimit:
		return endOf(ReasonPermissionDenied, "%d steps in a row were refused permission, and no other way was found", k.kindRuns[denial])
	case k.kindRuns[validation] >= validationLimit, identical && k.kindRuns[validation] >= repeatLimit:
		return endOf(ReasonValidationRepeated, "%d steps in a row had invalid calls", k.kindRuns[validation])
	case identical:
		return endOf(ReasonStuck, "the same call had the same result %d times in a row", k.repeats)
	case k.recent[0] != 0 && k.recent[0] == k.recent[2] && k.recent[1] == k.recent[3] && k.recent[2] != k.recent[3]:
		return endOf(ReasonStuck, "two calls alternate with the same results")
	case k.same >= sameCallLimit:
		return endOf(ReasonStuck, "the same call was made %d times in a row", k.same)
	case k.failures >= failureLimit:
		return endOf(ReasonStuck, "%d steps in a row failed", k.failures)
	}
	return nil
}

// end says whether the session goes round in circles.
func (k *stuck) end() *ending { return k.found }
