// Package budget keeps a goal's six dimensions: steps, tool calls, input tokens,
// output tokens, wall time and cost.
//
// Before each step its worst case is reserved on every dimension; a step that might
// exceed what is left is not begun. An exhausted budget is a result, never an error.
package budget
