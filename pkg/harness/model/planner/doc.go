// Package planner is a model without a language model: rules that understand plain
// English about driving, waiting and asking, deterministic and offline.
//
// It is honest about being one. A task is read whole or refused in words: every word must
// be accounted for, so that nothing is done that was not asked. What the robot can
// do it reads from the request's own tools (the places from navigate_to's schema). Each
// action is picked from the last observation: a failed skill is asked for again where
// that can help, and given up with its reason where not; a condition is decided by what was
// just observed. It keeps no state between requests: the history says where it stands.
package planner
