// Package workflow is plans: directed acyclic graphs of tool calls and agent stages,
// with acceptance gates. A plan is data; this room says whether it is sound and in
// which order its stages run. Executing one is the harness's.
package workflow
