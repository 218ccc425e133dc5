"""The built-in robot with contacts and real drives: MuJoCo's physics under the same topics and actions.

physics     bodies, drives, sensors; steps of 10 ms; no ROS, no clock
drive       the base's speeds, its odometry and its localisation
planner     paths on the map
pursuit     driving along a path
trajectory  what joint_trajectory_controller does with a goal
lanes       which goal has which part of the robot
node        topics and parameters
actions     the four actions
"""
