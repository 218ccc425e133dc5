#ifndef AGENT_NODE_EVENTS_H_
#define AGENT_NODE_EVENTS_H_

#include <stddef.h>
#include <stdint.h>

// A list of entities with new data, and an eventfd that becomes readable when one of them is not to wait.
typedef struct an_ready_s an_ready_t;

// One entity as the middleware's callback knows it.
typedef struct an_source_s an_source_t;

// The eventfd belongs to the caller, who closes it after an_ready_free. NULL: no memory or no descriptor (errno).
an_ready_t * an_ready_new(void);
int an_ready_fd(const an_ready_t * ready);
void an_ready_free(an_ready_t * ready);

an_source_t * an_source_new(an_ready_t * ready, uint64_t id);
// Takes the source off the list and frees it. The middleware must not know it any more.
void an_source_free(an_source_t * source);

// From now on the source's data may wait until the next drain, as long as there are fewer than limit; 0: none may wait.
void an_source_let_wait(an_source_t * source, uint64_t limit);

// The rcl_event_callback_t of every source. Runs on the middleware's threads.
void an_source_notify(const void * source, size_t count);

// What a source has been told of since it was last drained.
typedef struct an_news_s
{
  uint64_t id;
  uint64_t count;
} an_news_t;

// Moves up to max sources off the list, oldest first, and returns how many.
size_t an_ready_drain(an_ready_t * ready, an_news_t * news, size_t max);

#endif  // AGENT_NODE_EVENTS_H_
