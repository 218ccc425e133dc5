//go:build ros2

#include "shim.h"

#include <stdlib.h>
#include <string.h>

#include <rcl/error_handling.h>
#include <rosidl_runtime_c/message_initialization.h>

static an_result_t result_of(rcl_ret_t code)
{
  an_result_t result = {code, NULL};
  if (RCL_RET_OK != code) {
    result.text = strdup(rcl_get_error_string().str);
    rcl_reset_error();
  }
  return result;
}

// A take that found nothing is no error, but leaves a text on some middlewares.
static bool nothing(rcl_ret_t code, rcl_ret_t failed)
{
  if (code != failed) {
    return false;
  }
  rcl_reset_error();
  return true;
}

an_result_t an_publish(const rcl_publisher_t * publisher, const void * message)
{
  return result_of(rcl_publish(publisher, message, NULL));
}

an_flag_t an_acknowledged(const rcl_publisher_t * publisher, int64_t limit)
{
  an_flag_t flag;
  memset(&flag, 0, sizeof(flag));
  rcl_ret_t code = rcl_publisher_wait_for_all_acked(publisher, limit);
  flag.value = RCL_RET_OK == code;
  if (RCL_RET_TIMEOUT == code) {
    rcl_reset_error();
    code = RCL_RET_OK;
  }
  flag.result = result_of(code);
  return flag;
}

an_taken_t an_take(const rcl_subscription_t * subscription, void * message)
{
  an_taken_t taken;
  memset(&taken, 0, sizeof(taken));
  rmw_message_info_t info = rmw_get_zero_initialized_message_info();
  rcl_ret_t code = rcl_take(subscription, message, &info, NULL);
  if (nothing(code, RCL_RET_SUBSCRIPTION_TAKE_FAILED)) {
    return taken;
  }
  taken.result = result_of(code);
  taken.taken = RCL_RET_OK == code;
  taken.source_timestamp = info.source_timestamp;
  taken.received_timestamp = info.received_timestamp;
  memcpy(taken.gid, info.publisher_gid.data, sizeof(taken.gid));
  return taken;
}

an_taken_request_t an_take_request(const rcl_service_t * service, void * request)
{
  an_taken_request_t taken;
  memset(&taken, 0, sizeof(taken));
  rcl_ret_t code = rcl_take_request(service, &taken.id, request);
  if (nothing(code, RCL_RET_SERVICE_TAKE_FAILED)) {
    return taken;
  }
  taken.result = result_of(code);
  taken.taken = RCL_RET_OK == code;
  return taken;
}

an_result_t an_send_response(const rcl_service_t * service, rmw_request_id_t id, void * response)
{
  return result_of(rcl_send_response(service, &id, response));
}

an_sequence_t an_send_request(const rcl_client_t * client, const void * request)
{
  an_sequence_t sent;
  memset(&sent, 0, sizeof(sent));
  sent.result = result_of(rcl_send_request(client, request, &sent.number));
  return sent;
}

an_sequence_t an_take_response(const rcl_client_t * client, void * response)
{
  an_sequence_t taken;
  memset(&taken, 0, sizeof(taken));
  rmw_request_id_t id;
  memset(&id, 0, sizeof(id));
  rcl_ret_t code = rcl_take_response(client, &id, response);
  if (nothing(code, RCL_RET_CLIENT_TAKE_FAILED)) {
    return taken;
  }
  taken.result = result_of(code);
  taken.taken = RCL_RET_OK == code;
  taken.number = id.sequence_number;
  return taken;
}

an_flag_t an_server_is_available(const rcl_node_t * node, const rcl_client_t * client)
{
  an_flag_t flag = {{RCL_RET_OK, NULL}, false};
  flag.result = result_of(rcl_service_server_is_available(node, client, &flag.value));
  return flag;
}

an_gid_t an_publisher_gid(const rcl_publisher_t * publisher)
{
  an_gid_t out;
  memset(&out, 0, sizeof(out));
  rmw_publisher_t * handle = rcl_publisher_get_rmw_handle(publisher);
  if (NULL == handle) {
    out.result = result_of(RCL_RET_PUBLISHER_INVALID);
    return out;
  }
  rmw_gid_t gid;
  memset(&gid, 0, sizeof(gid));
  out.result = result_of(rmw_get_gid_for_publisher(handle, &gid));
  memcpy(out.gid, gid.data, sizeof(out.gid));
  return out;
}

an_result_t an_service_names(const rcl_node_t * node, rcl_names_and_types_t * services)
{
  rcl_allocator_t allocator = rcl_get_default_allocator();
  *services = rcl_get_zero_initialized_names_and_types();
  return result_of(rcl_get_service_names_and_types(node, &allocator, services));
}

void an_names_fini(rcl_names_and_types_t * names)
{
  if (RCL_RET_OK != rcl_names_and_types_fini(names)) {
    rcl_reset_error();
  }
}

an_result_t an_watch_subscription(const rcl_subscription_t * subscription, an_source_t * source)
{
  return result_of(rcl_subscription_set_on_new_message_callback(
      subscription, NULL == source ? NULL : an_source_notify, source));
}

an_result_t an_watch_service(const rcl_service_t * service, an_source_t * source)
{
  return result_of(rcl_service_set_on_new_request_callback(
      service, NULL == source ? NULL : an_source_notify, source));
}

an_result_t an_watch_client(const rcl_client_t * client, an_source_t * source)
{
  return result_of(rcl_client_set_on_new_response_callback(
      client, NULL == source ? NULL : an_source_notify, source));
}

an_result_t an_serialize(
  const void * message, const rosidl_message_type_support_t * type, rmw_serialized_message_t * to)
{
  return result_of(rmw_serialize(message, type, to));
}

an_result_t an_deserialize(
  const uint8_t * bytes, size_t size, const rosidl_message_type_support_t * type, void * message)
{
  rmw_serialized_message_t from = rmw_get_zero_initialized_serialized_message();
  from.buffer = (uint8_t *)bytes;  // only read
  from.buffer_length = from.buffer_capacity = size;
  from.allocator = rcutils_get_default_allocator();
  return result_of(rmw_deserialize(&from, type, message));
}

const void * an_call_handle(void * getter)
{
  return ((const void * (*)(void))getter)();
}

void an_message_init(const an_members_t * members, void * message)
{
  members->init_function(message, ROSIDL_RUNTIME_C_MSG_INIT_ALL);
}

void an_message_fini(const an_members_t * members, void * message)
{
  members->fini_function(message);
}

void an_messages_init(const an_members_t * members, void * first, size_t count)
{
  for (size_t i = 0; i < count; ++i) {
    members->init_function((char *)first + i * members->size_of_, ROSIDL_RUNTIME_C_MSG_INIT_ALL);
  }
}

void an_forget_error(void)
{
  rcl_reset_error();
}
