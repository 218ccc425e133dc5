package harness_test

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agent_node/pkg/harness"
	"agent_node/pkg/harness/model"
	"agent_node/pkg/harness/tool"
)

// What somebody else's code does to the goroutine that carries it out is not the session's business: it ends it, locks its thread and
// forgets that, panics, waits to be told to end, or never comes back, one after the other in one session, of a caller whose own thread is
// locked.
func TestSessionOutlivesWhatIsDoneToItsGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		let := make(chan struct{})
		acts := map[string]func(context.Context){
			"ends":   func(context.Context) { runtime.Goexit() },
			"locks":  func(context.Context) { runtime.LockOSThread(); runtime.LockOSThread() },
			"panics": func(context.Context) { panic("oops") },
			"hangs":  func(context.Context) { <-let },
			"waits":  func(ctx context.Context) { <-ctx.Done() },
		}
		var tools []tool.Tool
		for name, do := range acts {
			tools = append(tools, &fake{
				spec: tool.Spec{Name: name, Class: tool.Query, TimeLimit: time.Second},
				do: func(ctx context.Context, _ tool.Call) tool.Result {
					do(ctx)
					return tool.Result{OK: true, Content: name}
				},
			})
		}
		var script []model.Response
		list := []string{"locks", "hangs", "ends", "locks", "panics", "waits", "hangs", "locks"}
		for _, name := range list {
			script = append(script, calls(call(name, "{}")))
		}
		r := newRig(t, &answers{list: append(script, says("done"), says("done"), says("done"))}, tools...)
		res := r.run()
		close(let)
		var kinds []string
		for _, s := range res.Steps {
			kinds = append(kinds, string(s.ErrorKind))
		}
		if got, want := strings.Join(kinds, " "), " timeout tool_error  tool_error  timeout "; got != want {
			t.Errorf("steps ended %q, want %q", got, want)
		}
		want(t, res, harness.ReasonUnverified)
		synctest.Wait()
	})
}

// An observer that ends its goroutine ends that of who asked for the session, as it would without the session between.
func TestObserverThatEndsItsGoroutineEndsItsCallers(t *testing.T) {
	r := newRig(t, &answers{list: []model.Response{says("done")}})
	h, err := harness.New(r.cfg)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan bool)
	go func() {
		returned := false
		defer func() { ended <- !returned }()
		h.Run(t.Context(), r.goal, observer(func(harness.Progress) { runtime.Goexit() }))
		returned = true
	}()
	if !<-ended {
		t.Error("the caller went on")
	}
}

type observer func(harness.Progress)

func (f observer) Progress(p harness.Progress) { f(p) }
