// Package tool says what a tool is: a name, a class, a JSON schema and a call that
// observes or acts. Tools know nothing of the loop.
package tool
