//go:build ros2

#include "events.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct an_source_s
{
  an_ready_t * ready;
  an_source_t * next;  // on the list
  bool queued;
  uint64_t id;
  uint64_t count;  // of data told of while queued
  uint64_t limit;  // so many data are not left waiting
};

struct an_ready_s
{
  pthread_mutex_t mutex;  // guards the list and its links
  an_source_t * head;
  an_source_t * tail;
  bool woken;  // since the last drain
  int fd;
};

an_ready_t * an_ready_new(void)
{
  an_ready_t * ready = calloc(1, sizeof(*ready));
  if (NULL == ready) {
    return NULL;
  }
  ready->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (ready->fd < 0) {
    free(ready);
    return NULL;
  }
  pthread_mutex_init(&ready->mutex, NULL);
  return ready;
}

int an_ready_fd(const an_ready_t * ready)
{
  return ready->fd;
}

void an_ready_free(an_ready_t * ready)
{
  pthread_mutex_destroy(&ready->mutex);
  free(ready);
}

an_source_t * an_source_new(an_ready_t * ready, uint64_t id)
{
  an_source_t * source = calloc(1, sizeof(*source));
  if (NULL != source) {
    source->ready = ready;
    source->id = id;
  }
  return source;
}

void an_source_free(an_source_t * source)
{
  an_ready_t * ready = source->ready;
  pthread_mutex_lock(&ready->mutex);
  if (source->queued) {
    an_source_t * before = NULL;
    an_source_t * at = ready->head;
    while (at != source) {
      before = at;
      at = at->next;
    }
    if (NULL == before) {
      ready->head = source->next;
    } else {
      before->next = source->next;
    }
    if (ready->tail == source) {
      ready->tail = before;
    }
  }
  pthread_mutex_unlock(&ready->mutex);
  free(source);
}

// The caller holds the mutex.
static void wake(an_ready_t * ready)
{
  if (ready->woken) {
    return;
  }
  ready->woken = true;
  // Non-blocking; it fails only when the counter is at its end, and then the reader is awake already.
  const uint64_t one = 1;
  ssize_t written = write(ready->fd, &one, sizeof(one));
  (void)written;
}

void an_source_let_wait(an_source_t * source, uint64_t limit)
{
  an_ready_t * ready = source->ready;
  pthread_mutex_lock(&ready->mutex);
  source->limit = limit;
  // Whoever drains learns of it, and of what has waited.
  wake(ready);
  pthread_mutex_unlock(&ready->mutex);
}

void an_source_notify(const void * data, size_t count)
{
  an_source_t * source = (an_source_t *)data;
  an_ready_t * ready = source->ready;
  pthread_mutex_lock(&ready->mutex);
  source->count += count;
  if (!source->queued) {
    source->queued = true;
    source->next = NULL;
    if (NULL == ready->head) {
      ready->head = source;
    } else {
      ready->tail->next = source;
    }
    ready->tail = source;
  }
  if (source->count >= source->limit) {
    wake(ready);
  }
  pthread_mutex_unlock(&ready->mutex);
}

size_t an_ready_drain(an_ready_t * ready, an_news_t * news, size_t max)
{
  size_t n = 0;
  pthread_mutex_lock(&ready->mutex);
  ready->woken = false;
  while (n < max && NULL != ready->head) {
    an_source_t * source = ready->head;
    ready->head = source->next;
    if (NULL == ready->head) {
      ready->tail = NULL;
    }
    source->next = NULL;
    source->queued = false;
    news[n].id = source->id;
    news[n].count = source->count;
    source->count = 0;
    ++n;
  }
  pthread_mutex_unlock(&ready->mutex);
  return n;
}
