// Package openai is a model behind an OpenAI-compatible chat-completions endpoint,
// hosted or local, over github.com/sashabaranov/go-openai.
//
// The client library makes the requests, knows the wire's types and reads error statuses.
// Answers are read here, below it, because what it makes of a faulty one looks like a good
// one: a log-in page in answer to a stream is an empty success, two calls under one index
// become one, a stream that was cut is complete. See wire.go (status, framing, size,
// silence), stream.go (server-sent events), assemble.go (deltas) and answer.go (messages).
//
// A call leaves this package only where the answer that holds it is known to be complete,
// and as it was written: nothing is repaired. Whether an answer comes whole or as a stream
// is seen from its bytes, whatever was asked for and whatever its header says.
//
// The client library has no retries of its own; they are here, in one place (retry.go),
// inside the sample's time and budget. The key appears in no error.
package openai
