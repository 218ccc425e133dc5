package node

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strings"

	"agent_node/pkg/harness/model"
	"agent_node/pkg/harness/model/openai"
	"agent_node/pkg/harness/model/planner"
	"agent_node/pkg/harness/model/scripted"
	"agent_node/pkg/harness/model/textcalls"
)

// newModel makes the model that the parameters name, and lists the secrets that it holds.
func (n *Node) newModel() (model.Model, []string, error) {
	p := n.params
	switch kind := p.modelKind.Get(); kind {
	case "planner":
		return planner.New(), nil, nil
	case "scripted":
		if p.modelScript.Get() == "" {
			return nil, nil, errors.New("node: model.kind is scripted and model.script names no file")
		}
		script, err := scripted.Load(p.modelScript.Get())
		if err != nil {
			return nil, nil, err
		}
		return scripted.New(script), nil, nil
	case "openai":
		return n.newEndpoint()
	default:
		return nil, nil, fmt.Errorf("node: model.kind is %q: planner, openai or scripted", kind)
	}
}

// newEndpoint makes a model behind an endpoint.
func (n *Node) newEndpoint() (model.Model, []string, error) {
	p := n.params
	key, err := apiKey(p.modelKeyFile.Get(), p.modelKeyEnv.Get())
	if err != nil {
		return nil, nil, err
	}
	endpoint, err := openai.New(openai.Config{
		BaseURL: p.modelURL.Get(), Model: p.modelName.Get(), APIKey: key, Stream: p.modelStream.Get(),
		Timeout: secondsOf(p.modelTimeout.Get()), Idle: secondsOf(p.modelSilence.Get()),
		Retries: int(p.retries.Get()), RetryTime: secondsOf(p.retryTime.Get()),
	})
	if err != nil {
		return nil, nil, err
	}
	var secrets []string
	if key != "" {
		secrets = append(secrets, key)
		if readable(p.modelURL.Get()) {
			n.logger("model").Warn("the endpoint's key and all that the model is told travel unencrypted", "base_url", p.modelURL.Get())
		}
	}
	if p.modelCalls.Get() == "text" {
		return textcalls.New(endpoint), secrets, nil
	}
	return endpoint, secrets, nil
}

// maxKey is the size of the largest file that is read as a key, bytes.
const maxKey = 16 << 10

// apiKey reads a key from a file, else from an environment variable. No error holds anything of it.
func apiKey(file, variable string) (string, error) {
	if file == "" {
		return os.Getenv(variable), nil
	}
	f, err := os.Open(file)
	if err != nil {
		return "", fmt.Errorf("node: model.api_key_file: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxKey+1))
	if err != nil {
		return "", fmt.Errorf("node: model.api_key_file: %w", err)
	}
	key := strings.TrimSpace(string(data))
	switch {
	case len(data) > maxKey:
		return "", fmt.Errorf("node: model.api_key_file %s is over %d bytes", file, maxKey)
	case key == "":
		return "", fmt.Errorf("node: model.api_key_file %s is empty", file)
	case strings.ContainsFunc(key, func(c rune) bool { return c <= ' ' || c > '~' }):
		return "", fmt.Errorf("node: model.api_key_file %s holds more than one word, or characters that no HTTP header can carry", file)
	}
	return key, nil
}

// readable: others on the way can read what is sent there.
func readable(base string) bool {
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback())
}
