// Package model is what the loop knows of a language model, or of anything that takes its place.
package model
