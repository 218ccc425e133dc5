// Package openai is a model behind an OpenAI-compatible chat-completions endpoint,
// hosted or local, over github.com/sashabaranov/go-openai.
//
// The client library has no retries of its own; they are here, in one place, inside the
// sample's time. What the library cannot see (content type, size, a cut body) is
// watched below it, on the wire. The key appears in no error.
package openai
