package tf

import (
	"sort"

	"agent_node/pkg/geometry/spatial"
)

const noParent int32 = -1

type sample struct {
	stamp     int64
	transform spatial.Transform
}

// node is one frame and its link to its parent.
type node struct {
	name   string
	parent int32 // noParent: a root
	static bool
	buf    []sample // buf[head:] by stamp; one for a static link
	head   int
}

func (n *node) samples() []sample { return n.buf[n.head:] }

func (n *node) newest() int64 { return n.buf[len(n.buf)-1].stamp }

func (n *node) forget() { n.buf, n.head = n.buf[:0], 0 }

// insert keeps the samples sorted and the history within its bounds. It reports a stamp that was there already; the first
// one is kept.
func (n *node) insert(s sample, keep int64, most int) (repeated bool) {
	h := n.samples()
	at := len(h)
	if at > 0 && s.stamp <= h[at-1].stamp {
		at = sort.Search(len(h), func(i int) bool { return h[i].stamp >= s.stamp })
		if h[at].stamp == s.stamp {
			return true
		}
	}
	n.buf = append(n.buf, sample{})
	h = n.samples()
	copy(h[at+1:], h[at:])
	h[at] = s

	oldest := n.newest() - keep
	for len(n.buf)-n.head > most || n.buf[n.head].stamp < oldest {
		n.head++
	}
	if n.head > len(n.buf)/2 {
		m := copy(n.buf, n.buf[n.head:])
		n.buf, n.head = n.buf[:m], 0
	}
	return false
}

// around finds the samples on both sides of at, which lies within the history. They are equal when one is stamped at.
func (n *node) around(at int64) (before, after *sample) {
	h := n.samples()
	i := sort.Search(len(h), func(i int) bool { return h[i].stamp >= at })
	if h[i].stamp == at {
		return &h[i], &h[i]
	}
	return &h[i-1], &h[i]
}
