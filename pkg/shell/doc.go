// Package shell is what the command line's subcommands do: send a task and show how it
// goes, list tools, check profiles, read traces. It talks to people; the rooms
// that it uses do the work.
package shell
