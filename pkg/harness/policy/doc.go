// Package policy decides who may do what: allow, ask or deny, per class and per tool,
// and how a person is asked.
//
// An approval covers one call with exactly the arguments that were shown; silence is a denial.
package policy
