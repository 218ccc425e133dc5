// Package node is what ROS sees of the agent: the execute_task action, the services,
// the topics and the parameters of the contract, on any transport.
//
// It wires the harness to a robot and holds no logic of either. A managed node:
// configuring loads the profile and the model, activating advertises the action,
// deactivating brings the robot to rest first. ~/stop works in every state.
package node
