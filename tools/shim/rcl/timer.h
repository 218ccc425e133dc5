/* Found before the distribution's rcl/timer.h where that no longer has rcl_timer_init (Kilted and
 * later), which rclgo calls. rcl_timer_init2 with autostart does the same. */
#ifndef AGENT_NODE_SHIM_RCL_TIMER_H_
#define AGENT_NODE_SHIM_RCL_TIMER_H_

#include_next <rcl/timer.h>

#define rcl_timer_init(timer, clock, context, period, callback, allocator) \
  rcl_timer_init2((timer), (clock), (context), (period), (callback), (allocator), true)

#endif /* AGENT_NODE_SHIM_RCL_TIMER_H_ */
