"""The robot as a program: tools/mujoco -m mujoco_robot --ros-args -p seed:=7"""

import signal
import sys
import threading

import rclpy
from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor
from rclpy.signals import SignalHandlerOptions

from mujoco_robot.node import Robot


def main():
    rclpy.init(args=sys.argv, signal_handler_options=SignalHandlerOptions.NO)
    ended = threading.Event()
    for s in (signal.SIGINT, signal.SIGTERM):
        signal.signal(s, lambda *_: ended.set())
    node = rclpy.create_node("sim_robot")
    robot = Robot(node)
    executor = MultiThreadedExecutor(num_threads=6)
    executor.add_node(node)

    def spin():
        try:
            executor.spin()
        except ExternalShutdownException:
            pass

    spinner = threading.Thread(target=spin, daemon=True)
    spinner.start()
    node.get_logger().info("the robot stands in MuJoCo")
    try:
        robot.run(ended)
    finally:
        robot.close()
        executor.shutdown(5.0)
        spinner.join(5.0)
        robot.actions.close()
        node.destroy_node()
        rclpy.try_shutdown()
    return 0


if __name__ == "__main__":
    sys.exit(main())
