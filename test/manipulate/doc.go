// Package manipulate runs errands with objects through the node, the harness and the built-in robot in virtual time, and judges them by
// the simulator's truth and counters: from random starts, with the world changing under way, canceled at any moment, as plans.
package manipulate
