// What the examples use of rclcpp_action, declared and not defined. See rclcpp/rclcpp.hpp beside it.
#pragma once

#include <array>
#include <functional>
#include <future>
#include <memory>
#include <string>

#include "rclcpp/rclcpp.hpp"

namespace rclcpp_action
{

using GoalUUID = std::array<uint8_t, 16>;

enum class ResultCode : int8_t {UNKNOWN = 0, SUCCEEDED = 4, CANCELED = 5, ABORTED = 6};

template<typename ActionT>
class ClientGoalHandle
{
public:
  using SharedPtr = std::shared_ptr<ClientGoalHandle>;

  struct WrappedResult
  {
    GoalUUID goal_id;
    ResultCode code;
    typename ActionT::Result::SharedPtr result;
  };

  using FeedbackCallback =
    std::function<void (typename ClientGoalHandle::SharedPtr, const std::shared_ptr<const typename ActionT::Feedback>)>;
  using ResultCallback = std::function<void (const WrappedResult & result)>;
};

template<typename ActionT>
class Client
{
public:
  using SharedPtr = std::shared_ptr<Client<ActionT>>;
  using GoalHandle = ClientGoalHandle<ActionT>;
  using WrappedResult = typename GoalHandle::WrappedResult;

  struct SendGoalOptions
  {
    std::function<void (typename GoalHandle::SharedPtr)> goal_response_callback;
    typename GoalHandle::FeedbackCallback feedback_callback;
    typename GoalHandle::ResultCallback result_callback;
  };

  template<typename RepT, typename RatioT>
  bool wait_for_action_server(std::chrono::duration<RepT, RatioT> timeout);

  std::shared_future<typename GoalHandle::SharedPtr> async_send_goal(
    const typename ActionT::Goal & goal, const SendGoalOptions & options = SendGoalOptions());

  std::shared_future<WrappedResult> async_get_result(
    typename GoalHandle::SharedPtr goal_handle, typename GoalHandle::ResultCallback result_callback = nullptr);
};

template<typename ActionT, typename NodeT>
typename Client<ActionT>::SharedPtr create_client(
  NodeT node, const std::string & name, rclcpp::CallbackGroup::SharedPtr group = nullptr);

}  // namespace rclcpp_action
