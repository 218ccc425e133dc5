//go:build ros2

package ros2

// #include <stdlib.h>
// #include "shim.h"
import "C"

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"unsafe"

	"github.com/tiiuae/rclgo/pkg/rclgo"
)

// rclgo keeps the C handles of its objects to itself, and what it lacks needs them (see doc.go).
// They are read here, and nowhere else, by the names of the fields that hold them; rclgo is pinned to a commit.

func nodeHandle(n *rclgo.Node) (*C.rcl_node_t, error) {
	p, err := handleOf(n, "rcl_node_t")
	return (*C.rcl_node_t)(p), err
}

func publisherHandle(p *rclgo.Publisher) (*C.rcl_publisher_t, error) {
	h, err := handleOf(p, "rcl_publisher_t")
	return (*C.rcl_publisher_t)(h), err
}

func subscriptionHandle(s *rclgo.Subscription) (*C.rcl_subscription_t, error) {
	h, err := handleOf(s, "rcl_subscription_t")
	return (*C.rcl_subscription_t)(h), err
}

func serviceHandle(s *rclgo.Service) (*C.rcl_service_t, error) {
	h, err := handleOf(s, "rclService")
	return (*C.rcl_service_t)(h), err
}

func clientHandle(c *rclgo.Client) (*C.rcl_client_t, error) {
	h, err := handleOf(c, "rclClient")
	return (*C.rcl_client_t)(h), err
}

func handleOf(object any, field string) (unsafe.Pointer, error) {
	v := reflect.ValueOf(object).Elem().FieldByName(field)
	if !v.IsValid() || v.Kind() != reflect.Pointer || v.IsNil() {
		return nil, fmt.Errorf("ros2: rclgo's %T has no C handle %s: not the version of rclgo that go.mod names", object, field)
	}
	return v.UnsafePointer(), nil
}

// rclError is a failed call of rcl or rmw.
type rclError struct {
	call string
	code int
	text string
}

func (e *rclError) Error() string {
	return fmt.Sprintf("%s: rcl error %d: %s", e.call, e.code, e.text)
}

// check turns a result into an error and frees its text.
func check(call string, r C.an_result_t) error {
	if r.code == C.RCL_RET_OK {
		return nil
	}
	text := C.GoString(r.text)
	C.free(unsafe.Pointer(r.text))
	return &rclError{call, int(r.code), text}
}

// rclgoError is an error of rclgo without its stack trace.
type rclgoError struct{ err error }

func (e *rclgoError) Error() string {
	first, _, _ := strings.Cut(strings.TrimSpace(e.err.Error()), "\n")
	return first
}

func (e *rclgoError) Unwrap() error { return e.err }

// onThread runs calls of rclgo on one thread, because rclgo reads rcl's per-thread error text in a second call,
// and forgets that text afterwards, which rclgo does not, and the next error would complain.
func onThread(f func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := f(); err != nil {
		C.an_forget_error()
		return &rclgoError{err}
	}
	return nil
}
