// Package cases runs tasks from public reports through the node, the harness and the built-in robot on
// the in-process transport, and judges by the simulator's truth. testdata/tasks.jsonl names each case's source.
package cases
