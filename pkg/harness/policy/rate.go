package policy

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Rate is how often a tool may be called: so many calls within any stretch of time of that length.
type Rate struct {
	Calls int
	Per   time.Duration
}

// maxRateCalls bounds what a limiter keeps per tool.
const maxRateCalls = 10_000

// Check says what is impossible about it.
func (r Rate) Check() error {
	if r.Calls < 1 || r.Calls > maxRateCalls || r.Per <= 0 {
		return fmt.Errorf("rate of %d calls per %v, must be 1 to %d calls per time over 0", r.Calls, r.Per, maxRateCalls)
	}
	return nil
}

// String says it in words.
func (r Rate) String() string { return fmt.Sprintf("%d calls per %v", r.Calls, r.Per) }

// ParseRate reads "5 per 60": calls, and seconds.
func ParseRate(text string) (Rate, error) {
	calls, seconds, ok := strings.Cut(text, " per ")
	n, errN := strconv.Atoi(strings.TrimSpace(calls))
	s, errS := strconv.ParseFloat(strings.TrimSpace(seconds), 64)
	if !ok || errN != nil || errS != nil || !(s < 1e9) {
		return Rate{}, fmt.Errorf("rate %q is not 'CALLS per SECONDS'", text)
	}
	r := Rate{n, time.Duration(s * float64(time.Second))}
	return r, r.Check()
}

// Limiter counts calls against rates. It is safe for concurrent use.
type Limiter struct {
	rates map[string]Rate

	mu   sync.Mutex
	made map[string][]time.Time // the newest calls of each tool, the oldest first
}

// NewLimiter holds the rates of a policy.
func NewLimiter(p Policy) *Limiter { return &Limiter{rates: p.Rates, made: map[string][]time.Time{}} }

// Take counts one call, or says how long to wait until there may be one.
func (l *Limiter) Take(tool string, now time.Time) (wait time.Duration, r Rate, ok bool) {
	r, limited := l.rates[tool]
	if !limited {
		return 0, r, true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	made := l.made[tool]
	for len(made) > 0 && now.Sub(made[0]) >= r.Per {
		made = made[1:]
	}
	if len(made) >= r.Calls {
		l.made[tool] = made
		return r.Per - now.Sub(made[0]), r, false
	}
	l.made[tool] = append(made, now)
	return 0, r, true
}
