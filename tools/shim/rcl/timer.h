/* Found before the distribution's rcl/timer.h where that no longer has rcl_timer_init (Kilted and
 * later), which rclgo calls. rcl_timer_init2 with autostart does the same. A function, since cgo
 * sees no macros that take arguments. */
#ifndef AGENT_NODE_SHIM_RCL_TIMER_H_
#define AGENT_NODE_SHIM_RCL_TIMER_H_

#include_next <rcl/timer.h>

static inline rcl_ret_t rcl_timer_init(
  rcl_timer_t * timer, rcl_clock_t * clock, rcl_context_t * context, int64_t period,
  const rcl_timer_callback_t callback, rcl_allocator_t allocator)
{
  return rcl_timer_init2(timer, clock, context, period, callback, allocator, true);
}

#endif /* AGENT_NODE_SHIM_RCL_TIMER_H_ */
