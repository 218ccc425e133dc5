// Package scripted is a model that answers from a file: for tests and for rehearsals without a network.
//
// It holds no state: which answer comes next follows from how many the request's history holds already, so one script
// serves any number of sessions. docs/models.md describes the file.
package scripted
