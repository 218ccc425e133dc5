package node

import (
	"errors"
	"fmt"
	"os"

	"agent_node/pkg/harness/model"
	"agent_node/pkg/harness/model/openai"
	"agent_node/pkg/harness/model/planner"
	"agent_node/pkg/harness/model/scripted"
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
		key := os.Getenv(p.modelKeyEnv.Get())
		m, err := openai.New(openai.Config{
			BaseURL: p.modelURL.Get(), Model: p.modelName.Get(), APIKey: key,
			Timeout: secondsOf(p.modelTimeout.Get()), Retries: int(p.retries.Get()), RetryTime: secondsOf(p.retryTime.Get()),
		})
		if key == "" {
			return m, nil, err
		}
		return m, []string{key}, err
	default:
		return nil, nil, fmt.Errorf("node: model.kind is %q: planner, openai or scripted", kind)
	}
}
