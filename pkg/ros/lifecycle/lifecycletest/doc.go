// Package lifecycletest is what every transport has to show with package lifecycle: a suite
// over the life cycle's services and its topic, between two nodes.
package lifecycletest
