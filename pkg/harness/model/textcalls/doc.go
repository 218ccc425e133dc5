// Package textcalls lets a model call tools that knows none: an endpoint without function
// calling, or one whose server reads its model's calls badly. It stands between the harness
// and another model.
//
// The tools and the form of a call go into the system prompt, calls and observations of the
// history are written out as text, and calls are read from the answer's text:
//
//	<tool_call>
//	{"name": "drive", "arguments": {"distance_m": 0.5}}
//	</tool_call>
//
// What is read is validated by the harness like any other call. Here only the form is read,
// strictly: a block that is not this form becomes a call that no tool answers to, so that the
// model hears of it; nothing is repaired. Thoughts (<think>) hold no calls and are no part
// of the answer.
package textcalls
