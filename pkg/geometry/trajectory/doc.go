// Package trajectory has joint motions in time: lists of points as trajectory_msgs/JointTrajectory has them, what a controller
// makes of them between the points, the limits along that curve, and trajectories made of paths.
//
// Between points the interpolant is that of ros2_control's joint trajectory controller: quintic where both points have velocities and
// accelerations, cubic where both have velocities, else linear. Extremes are those of the polynomials, not of samples.
package trajectory
