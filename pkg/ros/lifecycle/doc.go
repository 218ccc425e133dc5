// Package lifecycle makes a node a managed one: the states and transitions of
// ROS 2's life cycle, the callbacks that do the work of a transition, and the
// services and the topic by which others see and drive them
// (~/change_state, ~/get_state, ~/get_available_states,
// ~/get_available_transitions, ~/get_transition_graph, ~/transition_event).
package lifecycle
