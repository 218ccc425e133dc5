// Package scripted is a model that answers from a file: for tests and for rehearsals.
package scripted
