#ifndef AGENT_NODE_SHIM_H_
#define AGENT_NODE_SHIM_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rcl/client.h>
#include <rcl/graph.h>
#include <rcl/node.h>
#include <rcl/publisher.h>
#include <rcl/service.h>
#include <rcl/subscription.h>
#include <rmw/rmw.h>
#include <rmw/serialized_message.h>
#include <rosidl_runtime_c/message_type_support_struct.h>
#include <rosidl_typesupport_introspection_c/message_introspection.h>

#include "events.h"

// Every call that can fail gives its error text along: rcl keeps the text per thread, and a
// goroutine may be on another thread by the time it asks. text is NULL for RCL_RET_OK, else the
// caller's to free (and NULL again when memory is out).
typedef struct an_result_s
{
  rcl_ret_t code;
  char * text;
} an_result_t;

typedef struct an_taken_s
{
  an_result_t result;
  bool taken;  // false: nothing was there
  int64_t source_timestamp;
  int64_t received_timestamp;  // on the system's clock; 0: the middleware does not tell
  uint8_t gid[RMW_GID_STORAGE_SIZE];
} an_taken_t;

typedef struct an_taken_request_s
{
  an_result_t result;
  bool taken;
  rmw_request_id_t id;
} an_taken_request_t;

typedef struct an_sequence_s
{
  an_result_t result;
  bool taken;
  int64_t number;
} an_sequence_t;

typedef struct an_gid_s
{
  an_result_t result;
  uint8_t gid[RMW_GID_STORAGE_SIZE];
} an_gid_t;

typedef struct an_flag_s
{
  an_result_t result;
  bool value;
} an_flag_t;

an_result_t an_publish(const rcl_publisher_t * publisher, const void * message);
an_flag_t an_acknowledged(const rcl_publisher_t * publisher, int64_t limit);
an_taken_t an_take(const rcl_subscription_t * subscription, void * message);
an_taken_request_t an_take_request(const rcl_service_t * service, void * request);
an_result_t an_send_response(const rcl_service_t * service, rmw_request_id_t id, void * response);
an_sequence_t an_send_request(const rcl_client_t * client, const void * request);
an_sequence_t an_take_response(const rcl_client_t * client, void * response);
an_flag_t an_server_is_available(const rcl_node_t * node, const rcl_client_t * client);
an_gid_t an_publisher_gid(const rcl_publisher_t * publisher);
an_result_t an_service_names(const rcl_node_t * node, rcl_names_and_types_t * services);
void an_names_fini(rcl_names_and_types_t * names);

// source NULL: the entity calls nobody any more, and no call is under way when this returns.
an_result_t an_watch_subscription(const rcl_subscription_t * subscription, an_source_t * source);
an_result_t an_watch_service(const rcl_service_t * service, an_source_t * source);
an_result_t an_watch_client(const rcl_client_t * client, an_source_t * source);

// Serialised form (CDR), for measuring and tests. The array is initialised by the caller.
an_result_t an_serialize(
  const void * message, const rosidl_message_type_support_t * type, rmw_serialized_message_t * to);
an_result_t an_deserialize(
  const uint8_t * bytes, size_t size, const rosidl_message_type_support_t * type, void * message);

// Calls through the pointers of an introspection table.
typedef rosidl_typesupport_introspection_c__MessageMembers an_members_t;
typedef rosidl_typesupport_introspection_c__MessageMember an_member_t;
const void * an_call_handle(void * getter);
void an_message_init(const an_members_t * members, void * message);
void an_message_fini(const an_members_t * members, void * message);
void an_messages_init(const an_members_t * members, void * first, size_t count);

// Forgets an error text that rcl left on this thread.
void an_forget_error(void);

#endif  // AGENT_NODE_SHIM_H_
