// What the examples use of rclcpp, declared and not defined: for a compiler that is to read them where rclcpp is not installed.
// The signatures are those of the Jazzy documentation, as far as a caller can tell.
#pragma once

#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <vector>

namespace rclcpp
{

class InitOptions {};

class NodeOptions {};

class QoS {};

class CallbackGroup
{
public:
  using SharedPtr = std::shared_ptr<CallbackGroup>;
};

template<typename ServiceT>
class Client
{
public:
  using SharedPtr = std::shared_ptr<Client<ServiceT>>;
  using SharedRequest = std::shared_ptr<typename ServiceT::Request>;
  using SharedResponse = std::shared_ptr<typename ServiceT::Response>;

  // Moved, never copied, like the std::future that it wraps.
  struct FutureAndRequestId
  {
    std::future<SharedResponse> future;
    int64_t request_id;

    auto get() {return future.get();}
    bool valid() const noexcept {return future.valid();}
    template<class Rep, class Period>
    std::future_status wait_for(const std::chrono::duration<Rep, Period> & timeout) const {return future.wait_for(timeout);}
  };

  template<typename RepT, typename RatioT>
  bool wait_for_service(std::chrono::duration<RepT, RatioT> timeout);

  FutureAndRequestId async_send_request(SharedRequest request);
};

class Node
{
public:
  using SharedPtr = std::shared_ptr<Node>;

  explicit Node(const std::string & node_name, const NodeOptions & options = NodeOptions());

  template<typename ServiceT>
  typename Client<ServiceT>::SharedPtr create_client(
    const std::string & service_name, const QoS & qos = QoS(), CallbackGroup::SharedPtr group = nullptr);
};

enum class FutureReturnCode {SUCCESS, INTERRUPTED, TIMEOUT};

// A future is whatever can be waited for.
template<typename FutureT, typename TimeRepT = int64_t, typename TimeT = std::milli>
FutureReturnCode spin_until_future_complete(
  std::shared_ptr<Node> node, const FutureT & future,
  std::chrono::duration<TimeRepT, TimeT> timeout = std::chrono::duration<TimeRepT, TimeT>(-1))
{
  (void)node;
  return future.wait_for(timeout) == std::future_status::ready ? FutureReturnCode::SUCCESS : FutureReturnCode::TIMEOUT;
}

std::vector<std::string> init_and_remove_ros_arguments(
  int argc, char const * const argv[], const InitOptions & init_options = InitOptions());

bool shutdown();

}  // namespace rclcpp
