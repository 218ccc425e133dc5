package action

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestPacerSpacesABurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p pacer
		start := time.Now()
		var mu sync.Mutex
		var left []time.Duration
		for range 300 {
			go func() {
				if err := p.wait(t.Context()); err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				left = append(left, time.Since(start))
			}()
		}
		time.Sleep(2 * time.Second) // the bubble's time
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		slices.Sort(left)
		if len(left) != 300 || left[paceBurst] != 0 || left[paceBurst+1] != paceGap || left[20] > 200*time.Millisecond || left[299] > time.Second {
			t.Errorf("%d left; %v, %v, 20th %v, last %v", len(left), left[paceBurst], left[paceBurst+1], left[20], left[299])
		}
		if n := slices.IndexFunc(left, func(d time.Duration) bool { return d > 0 }); n > paceBurst+1 {
			t.Errorf("%d left at once", n)
		}
	})
}

func TestPacerDoesNotDelayWhoComesNowAndThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p pacer
		for range 100 {
			start := time.Now()
			if err := p.wait(t.Context()); err != nil || time.Since(start) != 0 {
				t.Fatalf("waited %v, %v", time.Since(start), err)
			}
			time.Sleep(paceGap)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		for range paceBurst + 1 {
			_ = p.wait(t.Context())
		}
		if err := p.wait(ended); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	})
}
