"""The whole loop on ROS 1: goals by actionlib and by the shell, on a robot with cmd_vel and move_base."""

import math
import os
import signal
import subprocess
import time

import ros1

STILL = 0.02  # m/s, rad/s
HOLDING = 1  # agent_msgs/ActuatorState


def at_rest(truth):
    return abs(truth["v"]) < STILL and abs(truth["w"]) < STILL


def wait_moving(graph, person, least=0.15):
    graph.until("the robot moves", lambda: abs(person.ask("truth")["v"]) > least)


def test_goals_by_actionlib(driven):
    """Driving by cmd_vel, navigating by move_base, reading: the truth, not the result, says what happened."""
    graph, person = driven
    person.ask("send", name="drive", task="drive forward 0.5 m")
    got = person.ask("result", name="drive", timeout=40)
    assert (got["status"], got["result"]["reason_code"]) == ("SUCCEEDED", "accepted"), got
    assert got["result"]["outcome"] == 1 and got["result"]["completed_steps"][0]["tool"] == "drive"
    assert abs(got["truth"]["x"] - 0.5) < 0.06 and at_rest(got["truth"])
    assert "ACTIVE" in got["seen"] and got["feedback"] >= 2
    assert got["truth"]["velocities"] > 5 and got["truth"]["goals"] == 0

    person.ask("send", name="kitchen", task="go to the kitchen")
    got = person.ask("result", name="kitchen", timeout=60)
    assert (got["status"], got["result"]["reason_code"]) == ("SUCCEEDED", "accepted"), got
    assert math.hypot(got["truth"]["x"] - 1.5, got["truth"]["y"] - 1.0) < 0.25 and at_rest(got["truth"])
    assert got["truth"]["goals"] == 1
    assert any(v["criterion"].startswith("at_place") and v["passed"] for v in got["result"]["verifications"])

    # Another node's parameter, from the parameter server; a service of a rospy node.
    person.ask("send", name="battery", task="what is the battery level?")
    got = person.ask("result", name="battery", timeout=20)
    assert got["status"] == "SUCCEEDED" and "80" in got["result"]["answer"], got
    person.ask("send", name="bad", task="")
    got = person.ask("result", name="bad", timeout=20)
    assert (got["status"], got["result"]["reason_code"]) == ("ABORTED", "bad_request"), got


def test_cancel_means_at_rest(driven):
    """move_base answers a cancel while the base still brakes; the node's result waits until it stands."""
    graph, person = driven
    person.ask("send", name="go", task="go to the kitchen")
    wait_moving(graph, person)
    person.ask("cancel", name="go")
    got = person.ask("result", name="go", timeout=30)
    assert (got["status"], got["result"]["reason_code"]) == ("PREEMPTED", "canceled"), got
    assert at_rest(got["truth"]), got["truth"]
    assert got["truth"]["cancels"] == 1
    time.sleep(0.6)
    after = person.ask("truth")
    assert math.hypot(after["x"] - got["truth"]["x"], after["y"] - got["truth"]["y"]) < 0.02, "it went on"

    # A second goal meets one that runs: rejected. And a velocity stream is stopped like a navigator.
    person.ask("send", name="drive", task="drive backward 1 m")
    wait_moving(graph, person)
    person.ask("send", name="second", task="turn left 90 degrees")
    assert person.ask("result", name="second", timeout=10)["status"] == "REJECTED"
    person.ask("cancel", name="drive")
    got = person.ask("result", name="drive", timeout=30)
    assert (got["status"], got["result"]["reason_code"]) == ("PREEMPTED", "canceled"), got
    assert at_rest(got["truth"]), got["truth"]


def test_a_cancel_that_nobody_heeds(driven):
    """Actionlib answers no cancel. Where the navigator drives on, the result claims no rest that is not measured."""
    graph, person = driven
    person.ask("set_fault", fault="ignore_cancel")
    person.ask("send", name="go", task="go to the kitchen")
    wait_moving(graph, person)
    person.ask("cancel", name="go")
    got = person.ask("result", name="go", timeout=60)
    end = got["status"], got["result"]["reason_code"]
    assert end == ("ABORTED", "actuator_fault") or end == ("PREEMPTED", "canceled") and at_rest(got["truth"]), got
    person.ask("set_fault", fault="")
    graph.until("the robot stands", lambda: at_rest(person.ask("truth")))
    if end[0] == "ABORTED":
        answer = person.ask("call", service="/agent_node/reset", type="std_srvs/Trigger")
        assert answer["response"]["success"], answer


def test_stops(driven):
    """The emergency stop, ~/stop, and a navigator that gives up."""
    graph, person = driven
    person.ask("send", name="go", task="go to the kitchen")
    wait_moving(graph, person)
    assert person.ask("set_estop", on=True)["listeners"] >= 1
    got = person.ask("result", name="go", timeout=30)
    assert (got["status"], got["result"]["reason_code"]) == ("ABORTED", "emergency_stop"), got
    assert at_rest(got["truth"]), got["truth"]
    person.ask("set_estop", on=False)
    answer = person.ask("call", service="/agent_node/reset", type="std_srvs/Trigger")
    assert answer["response"]["success"], answer

    person.ask("send", name="drive", task="drive forward 1 m")
    wait_moving(graph, person)
    answer = person.ask("call", service="/agent_node/stop", type="std_srvs/Trigger")
    assert answer["response"]["success"], answer
    got = person.ask("result", name="drive", timeout=30)
    assert (got["status"], got["result"]["reason_code"]) == ("ABORTED", "operator_stop"), got
    assert at_rest(got["truth"]), got["truth"]

    person.ask("set_fault", fault="abort")
    person.ask("send", name="lost", task="go to the kitchen")
    got = person.ask("result", name="lost", timeout=30)
    assert got["status"] == "ABORTED" and got["result"]["outcome"] != 1, got
    assert "server_failed" in [s["error_kind"] for s in got["result"]["completed_steps"]], got


def test_goals_by_the_shell(driven):
    """The run command is a client of actionlib, too; Ctrl-C there cancels, and waits for rest."""
    graph, person = driven
    ran = graph.command("run", "--ros1", "drive forward 0.4 m")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "DONE (accepted)" in ran.stdout
    truth = person.ask("truth")
    assert abs(truth["x"] - 0.4) < 0.06 and at_rest(truth)

    shell = graph.start([ros1.BUILD / "agent_node", "run", "--ros1", "go to the kitchen"], "run")
    wait_moving(graph, person)
    assert shell.stop(signal.SIGINT) == 5, shell.text()
    assert at_rest(person.ask("truth"))
    assert "INTERRUPTED (canceled)" in shell.text()

    checked = graph.command("profile", "check", "--ros1", str(ros1.ROOT / "config" / "ros1_base.yaml"))
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert "/move_base" in checked.stdout


def test_tools_of_ros1_see_a_citizen(own):
    """rostopic, rosnode, rosservice, rosout; rosnode kill brings the robot to rest and the node down."""
    graph, person = own
    assert graph.tool("rosservice", "type", "/agent_node/stop").stdout.strip() == "std_srvs/Trigger"
    goal = graph.tool("rostopic", "type", "/agent_node/execute_task/goal").stdout.strip()
    assert goal == "agent_msgs/ExecuteTaskActionGoal"
    goal = graph.tool("rostopic", "type", "/agent_node/resume_task/goal").stdout.strip()
    assert goal == "agent_msgs/ResumeTaskActionGoal"
    info = graph.tool("rosnode", "info", "/agent_node").stdout
    for name in (
        "/agent_node/state [agent_msgs/AgentState]",
        "/cmd_vel [geometry_msgs/Twist]",
        "/agent_node/list_tools",
    ):
        assert name in info, info
    # A late subscriber has the latched state at once.
    state = person.ask("wait", topic="/agent_node/state", type="agent_msgs/AgentState", timeout=5)["message"]
    assert state["state"] == 1
    tools = person.ask("call", service="/agent_node/list_tools", type="agent_msgs/ListTools")["response"]["tools"]
    assert "navigate_to" in [t["name"] for t in tools]
    twist = ["geometry_msgs/msg/Twist", '{"linear": {"x": 9.0}}', "base"]
    checked = person.ask(
        "call", service="/agent_node/validate_command", type="agent_msgs/ValidateCommand", request=twist
    )
    assert not checked["response"]["valid"] and checked["response"]["findings"][0]["limit"] == 0.5, checked
    told = person.ask("wait", topic="/diagnostics", type="diagnostic_msgs/DiagnosticArray", timeout=10)["message"]
    assert told["status"]
    person.ask("listen", topic="/rosout", type="rosgraph_msgs/Log")

    person.ask("send", name="go", task="go to the kitchen")
    wait_moving(graph, person)
    assert "killed" in graph.tool("rosnode", "kill", "/agent_node").stdout
    got = person.ask("result", name="go", timeout=30)
    assert (got["status"], got["result"]["reason_code"]) == ("ABORTED", "shutdown"), got
    assert at_rest(got["truth"]), got["truth"]
    node = next(p for p in graph.programs if p.name == "agent_node")
    assert node.wait(20) == 0
    logs = person.ask("heard_on", topic="/rosout")["messages"]
    assert any(m["name"].startswith("/agent_node") and m["level"] == 2 for m in logs), logs


def test_simulated_time(graph, messages):
    """With /use_sim_time the node's clock is /clock's."""
    graph.param("/use_sim_time", True)
    graph.robot("--clock")
    # Started as roslaunch does it: by another name, with a remapped topic and a parameter.
    profile = str(ros1.ROOT / "config" / "ros1_base.yaml")
    graph.node("__name:=helper", "__log:=/dev/null", "/battery_state:=/unused", "_profile:=" + profile)
    person = graph.person()

    def told():
        return person.ask("wait", topic="/helper/state", type="agent_msgs/AgentState", timeout=60)["message"]

    graph.until("the robot is measured at rest", lambda: [a["state"] for a in told()["actuators"]] == [HOLDING])
    ran = graph.command("run", "--ros1", "--action", "/helper/execute_task", "--json", "turn left 45 degrees")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert '"reason_code":"accepted"' in ran.stdout.replace(" ", "")
    truth = person.ask("truth")
    assert abs(truth["yaw"] - math.pi / 4) < 0.1 and at_rest(truth)
    state = told()
    assert 1000 < state["actuators"][0]["last_feedback"] < 2000, state


def test_a_type_that_is_not_compiled_in(graph, tmp_path):
    """It is named, with where was looked and what would help; and the node ends."""
    text = (ros1.ROOT / "config" / "ros1_base.yaml").read_text()
    (tmp_path / "profile.yaml").write_text(text.replace("move_base_msgs/action/MoveBase", "our_msgs/action/Fly"))
    graph.robot()
    ran = graph.command("--ros1", f"_profile:={tmp_path / 'profile.yaml'}")
    assert ran.returncode == 1
    for part in ("our_msgs/action/Fly", "profile.yaml:", "ROS_PACKAGE_PATH"):
        assert part in ran.stderr, ran.stderr
    # With the definition in a package of the path, it is a type like any other.
    package = tmp_path / "ws" / "our_msgs"
    (package / "action").mkdir(parents=True)
    (package / "package.xml").write_text("<package><name>our_msgs</name></package>")
    (package / "action" / "Fly.action").write_text("geometry_msgs/PoseStamped target_pose\n---\n---\n")
    env = {**graph.env, "ROS_PACKAGE_PATH": str(tmp_path / "ws")}
    checked = subprocess.run(
        [ros1.BUILD / "agent_node", "--ros1", "profile", "check", "--offline", str(tmp_path / "profile.yaml")],
        env=env,
        capture_output=True,
        text=True,
        timeout=20,
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_without_a_master(tmp_path, messages):
    env = ros1.environment(ROS_MASTER_URI="http://127.0.0.1:9", XDG_STATE_HOME=str(tmp_path))
    ran = subprocess.run([ros1.BUILD / "agent_node", "--ros1"], env=env, capture_output=True, text=True, timeout=20)
    assert ran.returncode == 1 and "127.0.0.1:9" in ran.stderr and "roscore" in ran.stderr, ran.stderr
    assert os.path.isdir(messages)
