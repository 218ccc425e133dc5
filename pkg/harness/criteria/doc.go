// Package criteria is what decides that a goal is done: criteria as goals, plans and
// profiles write them, and their evaluation.
//
//	at_place(kitchen)                       a verify tool, arguments in its schema's property order, bare text allowed
//	object_at(red cube, kitchen)
//	cel: get_battery().percent > 20.0       CEL over the results of query tools without required arguments
//	person: Is the table clean?             a person is asked
//
// Anything else is a bad request. An expression that reads no query tool is refused: what cannot fail proves nothing.
package criteria
