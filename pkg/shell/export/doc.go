// Package export turns a session's trace into files of other tools: MCAP, which Foxglove opens, and OpenTelemetry's spans by its
// conventions for generative AI, as OTLP in JSON.
//
// An export is a view of a trace: nothing can be verified, replayed or gone on with by it.
package export
