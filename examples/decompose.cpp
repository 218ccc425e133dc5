// Asks agent_node for a plan, prints it as a tree with what is predicted of each step, and has it carried out.
//
//   ros2 run decompose_example decompose "go to the kitchen, then drive half a metre back"
//
// Nothing moves before the plan is sent back as a goal, and it is sent only if no step of it would be refused.
//
// CMakeLists.txt of a package decompose_example, in a workspace with agent_msgs (the folder msgs/ of this repository):
//
//   cmake_minimum_required(VERSION 3.16)
//   project(decompose_example)
//   set(CMAKE_CXX_STANDARD 17)
//   find_package(ament_cmake REQUIRED)
//   find_package(rclcpp REQUIRED)
//   find_package(rclcpp_action REQUIRED)
//   find_package(agent_msgs REQUIRED)
//   add_executable(decompose decompose.cpp)
//   ament_target_dependencies(decompose rclcpp rclcpp_action agent_msgs)
//   install(TARGETS decompose DESTINATION lib/${PROJECT_NAME})
//   ament_package()
//
// package.xml: <buildtool_depend>ament_cmake</buildtool_depend> and <depend> of rclcpp, rclcpp_action and agent_msgs.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "agent_msgs/action/execute_task.hpp"
#include "agent_msgs/msg/plan.hpp"
#include "agent_msgs/msg/plan_step.hpp"
#include "agent_msgs/srv/decompose_task.hpp"
#include "rclcpp/rclcpp.hpp"
#include "rclcpp_action/rclcpp_action.hpp"

using agent_msgs::action::ExecuteTask;
using agent_msgs::msg::Plan;
using agent_msgs::msg::PlanStep;
using agent_msgs::srv::DecomposeTask;
using namespace std::chrono_literals;

namespace
{

const char * feasibility(uint8_t value)
{
  switch (value) {
    case PlanStep::OK: return "ok";
    case PlanStep::REFUSED: return "refused";
    default: return "unknown";
  }
}

std::string joined(const std::vector<std::string> & list)
{
  std::string out;
  for (const auto & text : list) {
    out += (out.empty() ? "" : ", ") + text;
  }
  return out;
}

// What there is to say of a step, a line each.
std::vector<std::string> children(const PlanStep & step)
{
  std::vector<std::string> out;
  if (!step.description.empty()) {
    out.push_back(step.description);
  }
  if (!step.depends_on.empty()) {
    out.push_back("after " + joined(step.depends_on));
  }
  for (const auto & criterion : step.acceptance) {
    out.push_back("must hold: " + criterion);
  }
  for (const auto & finding : step.findings) {
    out.push_back("refused by rule " + finding.rule + ": " + finding.message);
  }
  return out;
}

void print(const Plan & plan)
{
  std::vector<std::pair<std::string, std::vector<std::string>>> branches;
  for (const auto & step : plan.steps) {
    const std::string what = step.tool.empty() ? "agent" : step.tool + "(" + step.arguments_json + ")";
    branches.emplace_back(step.id + "  " + what + "  [" + feasibility(step.feasibility) + "]", children(step));
  }
  if (!plan.success_criteria.empty()) {
    branches.emplace_back(
      "done when", std::vector<std::string>(plan.success_criteria.begin(), plan.success_criteria.end()));
  }
  std::printf("%s\n", plan.task.c_str());
  for (size_t i = 0; i < branches.size(); ++i) {
    const bool last = i + 1 == branches.size();
    std::printf("%s%s\n", last ? "└─ " : "├─ ", branches[i].first.c_str());
    const auto & leaves = branches[i].second;
    for (size_t j = 0; j < leaves.size(); ++j) {
      std::printf("%s%s%s\n", last ? "   " : "│  ", j + 1 == leaves.size() ? "└─ " : "├─ ", leaves[j].c_str());
    }
  }
}

// The end of a future, or false where the context ends before (Ctrl-C).
template<typename Future>
bool await(const rclcpp::Node::SharedPtr & node, const Future & future)
{
  return rclcpp::spin_until_future_complete(node, future) == rclcpp::FutureReturnCode::SUCCESS;
}

int run(const rclcpp::Node::SharedPtr & node, const std::string & task)
{
  auto planner = node->create_client<DecomposeTask>("/agent_node/decompose_task");
  if (!planner->wait_for_service(10s)) {
    std::fprintf(stderr, "no service /agent_node/decompose_task: is the node running, and active?\n");
    return 1;
  }
  auto request = std::make_shared<DecomposeTask::Request>();
  request->task = task;
  auto asked = planner->async_send_request(request);
  if (!await(node, asked)) {
    return 1;
  }
  const auto answer = asked.get();
  if (!answer->success) {
    std::printf("no plan (%s): %s\n", answer->reason_code.c_str(), answer->message.c_str());
    return 1;
  }
  print(answer->plan);
  const auto & steps = answer->plan.steps;
  if (std::any_of(steps.begin(), steps.end(), [](const auto & s) {return s.feasibility == PlanStep::REFUSED;})) {
    std::printf("not carried out: %s\n", answer->message.c_str());
    return 1;
  }

  auto agent = rclcpp_action::create_client<ExecuteTask>(node, "/agent_node/execute_task");
  if (!agent->wait_for_action_server(10s)) {
    std::fprintf(stderr, "no action /agent_node/execute_task\n");
    return 1;
  }
  ExecuteTask::Goal goal;
  goal.plan = answer->plan;
  uint32_t seen = 0;
  rclcpp_action::Client<ExecuteTask>::SendGoalOptions options;
  options.feedback_callback = [&seen](auto, const std::shared_ptr<const ExecuteTask::Feedback> feedback) {
      const auto & step = feedback->last_step;
      if (step.index > seen) {
        seen = step.index;
        std::printf("  %s  %s: %s\n", step.call_id.c_str(), step.tool.c_str(), step.ok ? "ok" : step.error_kind.c_str());
        std::fflush(stdout);
      }
    };
  auto sent = agent->async_send_goal(goal, options);
  if (!await(node, sent)) {
    return 1;
  }
  const auto handle = sent.get();
  if (!handle) {
    std::fprintf(stderr, "the goal was rejected: the node's log says why\n");
    return 1;
  }
  auto ended = agent->async_get_result(handle);
  if (!await(node, ended)) {
    return 1;
  }
  const auto result = ended.get().result;
  const bool done = result->outcome == ExecuteTask::Result::DONE;
  std::printf("%s (%s): %s\n", done ? "DONE" : "not done", result->reason_code.c_str(), result->answer.c_str());
  return done ? 0 : 1;
}

}  // namespace

int main(int argc, char ** argv)
{
  const auto arguments = rclcpp::init_and_remove_ros_arguments(argc, argv);
  if (arguments.size() != 2) {
    std::fprintf(stderr, "usage: decompose TASK\n");
    return 2;
  }
  const int code = run(std::make_shared<rclcpp::Node>("decompose_example"), arguments[1]);
  rclcpp::shutdown();
  return code;
}
