package openai

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	sdk "github.com/sashabaranov/go-openai"

	"agent_node/pkg/harness/model"
)

// Config of an endpoint.
type Config struct {
	BaseURL string // such as http://127.0.0.1:8080/v1
	Model   string
	APIKey  string // empty: none is sent
	// Stream asks for answers piece by piece. Nothing of one is used before it is complete, so this changes only how long silence may last
	// and how servers read the model's calls; either kind of answer is read, whatever was asked for.
	Stream bool
	// Timeout of one request (120 s).
	Timeout time.Duration
	// Idle is how long an answer that has begun may stand still (60 s).
	Idle time.Duration
	// Retries of one sample. A retry that would begin later than RetryTime after the sample began is not made.
	Retries   int
	RetryTime time.Duration
	// MaxBody bounds an answer, bytes (16 MiB).
	MaxBody int64
	// Transport; nil: http.DefaultTransport's settings. For tests.
	Transport http.RoundTripper
	// Wait sleeps between retries; nil: a timer. For tests.
	Wait func(ctx context.Context, d time.Duration) error
	// Jitter yields a number in [0,1); nil: random.
	Jitter func() float64
}

// Defaults of Config.
const (
	defaultTimeout = 120 * time.Second
	defaultIdle    = 60 * time.Second
	defaultMaxBody = 16 << 20
)

// Model is an endpoint. It is safe for concurrent use.
type Model struct {
	cfg    Config
	client *sdk.Client
	dialect
}

// New checks the configuration; nothing is sent.
func New(cfg Config) (*Model, error) {
	u, err := url.Parse(cfg.BaseURL)
	switch {
	case err != nil:
		return nil, fmt.Errorf("openai: base URL: %w", redact(err, cfg.APIKey))
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return nil, fmt.Errorf("openai: base URL %q: http://HOST/v1 or https://HOST/v1 is wanted", u.Redacted())
	case u.User != nil, u.RawQuery != "", u.Fragment != "":
		u.RawQuery = ""
		return nil, fmt.Errorf("openai: base URL %q: a user, a query and a fragment have no place in it; keys come from the environment or a file", u.Redacted())
	case strings.ContainsFunc(cfg.APIKey, func(c rune) bool { return c <= ' ' || c > '~' }):
		return nil, errors.New("openai: the API key holds a character that no HTTP header can carry")
	case cfg.Model == "":
		return nil, errors.New("openai: no model name is given")
	case cfg.Retries < 0, cfg.RetryTime < 0, cfg.Timeout < 0, cfg.Idle < 0, cfg.MaxBody < 0:
		return nil, errors.New("openai: retries, retry time, time limits and the largest body must not be negative")
	}
	if cfg.Timeout == 0 {
		cfg.Timeout = defaultTimeout
	}
	if cfg.Idle == 0 {
		cfg.Idle = defaultIdle
	}
	if cfg.MaxBody == 0 {
		cfg.MaxBody = defaultMaxBody
	}
	if cfg.Transport == nil {
		cfg.Transport = http.DefaultTransport
	}
	c := sdk.DefaultConfig(cfg.APIKey)
	c.BaseURL = strings.TrimRight(cfg.BaseURL, "/")
	c.HTTPClient = &http.Client{
		Transport: &wire{next: cfg.Transport, maxBody: cfg.MaxBody, idle: cfg.Idle},
		// What the task says and the key stay at the endpoint that was named.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return &Model{cfg: cfg, client: sdk.NewClientWithConfig(c)}, nil
}

// Name implements model.Model.
func (m *Model) Name() string { return m.cfg.Model }

// Sample implements model.Model. Its errors are of type *Error, but for those of ctx, of the deadline and of the budget.
func (m *Model) Sample(ctx context.Context, r model.Request) (model.Response, error) {
	begin := time.Now()
	var wasted model.Usage // by tries that failed
	for try := 0; ; {
		resp, err := m.once(ctx, r)
		resp.Wasted = wasted
		if err == nil {
			return resp, nil
		}
		wait, again := time.Duration(0), m.adapt(err)
		if again {
			tell(r, "model.adapted", map[string]any{"error": err.Error()})
		} else {
			if wait, again = m.again(ctx, err, try, begin, r.Deadline); !again {
				return resp, err
			}
			try++
			tell(r, "model.retry", map[string]any{"try": try, "wait_s": wait.Seconds(), "error": err.Error()})
		}
		wasted = wasted.Plus(resp.Usage)
		resp.Usage, resp.Wasted = model.Usage{}, wasted
		if r.Afford != nil {
			most, poor := r.Afford(wasted)
			if poor != nil {
				return resp, fmt.Errorf("openai: asked no more: %w; the last answer was %w", poor, err)
			}
			r.MaxOutputTokens = most
		}
		if stopped := m.wait(ctx, wait); stopped != nil {
			return resp, errors.Join(stopped, err)
		}
	}
}

func tell(r model.Request, kind string, data map[string]any) {
	if r.Observe != nil {
		r.Observe(kind, data)
	}
}

// once makes one request.
func (m *Model) once(ctx context.Context, r model.Request) (model.Response, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, m.cfg.Timeout, errTimeout)
	defer cancel()
	if !r.Deadline.IsZero() {
		var done context.CancelFunc
		ctx, done = context.WithDeadlineCause(ctx, r.Deadline, errDeadline)
		defer done()
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	x := &exchange{stop: stop}
	if err := m.send(context.WithValue(ctx, exchangeKey{}, x), m.request(r)); err != nil {
		err = m.explain(ctx, err, x)
		return model.Response{Usage: x.spent(ctx, err)}, err
	}
	x.response.Usage = x.usage
	return x.response, nil
}

// send a request through the client library; what comes back is in the exchange.
func (m *Model) send(ctx context.Context, req sdk.ChatCompletionRequest) error {
	if !req.Stream {
		_, err := m.client.CreateChatCompletion(ctx, req)
		return err
	}
	s, err := m.client.CreateChatCompletionStream(ctx, req)
	if err != nil {
		return err
	}
	return s.Close()
}
