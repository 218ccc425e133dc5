package ros

import (
	"context"
	"sync"
)

// ServiceCall is what a transport puts into the context of a service handler, so
// that the handler can order work after its response and give up its place while
// it waits. A transport makes one per request with [NewServiceCall], and calls
// [ServiceCall.Finish] once the response was handed over, could not be sent, or
// was not wanted because the handler returned an error.
type ServiceCall struct {
	mu       sync.Mutex
	finished bool
	after    []func()
	release  func()
}

type serviceCallKey struct{}

type callerKey struct{}

// WithCaller puts into a service handler's context who sent the request, as EndpointInfo.Peer has it.
func WithCaller(ctx context.Context, peer string) context.Context {
	return context.WithValue(ctx, callerKey{}, peer)
}

// Caller is who sent the request that a service handler's context belongs to; empty where the transport does not tell.
func Caller(ctx context.Context) string {
	peer, _ := ctx.Value(callerKey{}).(string)
	return peer
}

// NewServiceCall makes the call and a context that carries it. release, which may be
// nil, gives back the place of this request among the bounded number that is
// served at once; it is called at most once, at the latest by Finish.
func NewServiceCall(ctx context.Context, release func()) (context.Context, *ServiceCall) {
	c := &ServiceCall{release: release}
	return context.WithValue(ctx, serviceCallKey{}, c), c
}

// Finish gives back the place if the handler has not, and then runs what the handler
// registered with [AfterResponse], in order, on the caller's goroutine.
func (c *ServiceCall) Finish() {
	c.giveBack()
	c.mu.Lock()
	after := c.after
	c.after, c.finished = nil, true
	c.mu.Unlock()
	for _, f := range after {
		f()
	}
}

func (c *ServiceCall) giveBack() {
	c.mu.Lock()
	release := c.release
	c.release = nil
	c.mu.Unlock()
	if release != nil {
		release()
	}
}

// AfterResponse has f called after the response of the request that ctx belongs to
// was sent (or could not be). f must not block for long. It reports false, and does
// nothing, when ctx is not that of a running service handler.
func AfterResponse(ctx context.Context, f func()) bool {
	c, ok := ctx.Value(serviceCallKey{}).(*ServiceCall)
	if !ok {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.finished {
		return false
	}
	c.after = append(c.after, f)
	return true
}

// Waiting says that the handler whose context this is now only waits: its place among
// the bounded number of requests served at once becomes free, so that
// any number of waiting requests starve no other. Outside of a handler it does nothing.
func Waiting(ctx context.Context) {
	if c, ok := ctx.Value(serviceCallKey{}).(*ServiceCall); ok {
		c.giveBack()
	}
}
