// Package harness is the agent loop: assemble, sample, parse, dispatch, observe, decide.
//
// The model only proposes; this package parses, validates, authorises, executes,
// records and decides when to stop. It imports the standard library and its own rooms,
// no model vendor, no ROS and no robot.
//
//   - model: the Model interface and its adapters (planner, openai, scripted; textcalls for models that know no tools)
//   - tool: what a tool is; the table, its schemas, dispatch
//   - history: the append-only history and the assembly of requests
//   - policy: allow, ask, deny
//   - budget: six dimensions, reservation, usage, prices
//   - criteria: what decides that a goal is done
//   - trace: events, writer, reader, verification
package harness
