package shell

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"agent_node/pkg/node"
	"agent_node/pkg/node/survey"
	"agent_node/pkg/ros"
)

// setUp is what brings a shell its ROS.
const setUp = ". build/env.sh (or source /opt/ros/DISTRO/setup.bash and the workspace that has agent_msgs)"

// prefix: is ROS there, with the interfaces that the node needs?
func (x *doctor) prefix() {
	distro := x.Getenv("ROS_DISTRO")
	prefixes := filepath.SplitList(x.Getenv("AMENT_PREFIX_PATH"))
	if x.HostError != nil {
		x.say("prefix", survey.Error, setUp, "no ROS node can be made: %v", x.HostError)
	}
	if len(prefixes) == 0 {
		x.say("prefix", survey.Error, setUp, "AMENT_PREFIX_PATH is not set: no interface type is found")
	}
	for _, p := range prefixes {
		if s, err := os.Stat(p); err != nil || !s.IsDir() {
			x.say("prefix", survey.Warn, "source its setup again, or take it off AMENT_PREFIX_PATH", "%s is in AMENT_PREFIX_PATH and is not there", p)
		}
	}
	switch distro {
	case "jazzy", "kilted":
		x.say("prefix", survey.OK, "", "ROS 2 %s, %s", distro, cmp.Or(x.Getenv("RMW_IMPLEMENTATION"), "the default middleware"))
	default:
		x.say("prefix", survey.Warn, "jazzy and kilted are", "ROS_DISTRO is %q, which is not tested", distro)
	}
	if x.Host == nil {
		return
	}
	if _, err := x.Host.Types().Action("agent_msgs/action/ExecuteTask"); err != nil {
		x.say("prefix", survey.Error, "build the package agent_msgs (make setup, or colcon) and source its prefix", "%v", err)
	} else {
		x.say("prefix", survey.OK, "", "agent_msgs is installed")
	}
}

// network: can nodes find each other?
func (x *doctor) network() {
	const highest, beyondLinux = 232, 101
	domain := cmp.Or(x.Getenv("ROS_DOMAIN_ID"), "0")
	switch n, err := strconv.Atoi(domain); {
	case err != nil || n < 0 || n > highest:
		x.say("network", survey.Error, "set it to 0 to 101", "ROS_DOMAIN_ID is %q, must be 0 to %d", domain, highest)
	case n > beyondLinux:
		x.say("network", survey.Warn, "set it to 0 to 101", "ROS_DOMAIN_ID is %d: its ports may be taken by ordinary connections", n)
	default:
		x.say("network", survey.OK, "", "domain %d", n)
	}
	reach := cmp.Or(x.Getenv("ROS_AUTOMATIC_DISCOVERY_RANGE"), "SUBNET")
	switch reach {
	case "SUBNET", "SYSTEM_DEFAULT":
	case "LOCALHOST":
		x.say("network", survey.OK, "", "nodes of this machine alone are discovered (ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST)")
	case "OFF":
		x.say("network", survey.Error, "unset it, or set it to LOCALHOST or SUBNET", "ROS_AUTOMATIC_DISCOVERY_RANGE is OFF: no node finds another")
	default:
		x.say("network", survey.Error, "SUBNET, LOCALHOST, OFF or SYSTEM_DEFAULT", "ROS_AUTOMATIC_DISCOVERY_RANGE is %q", reach)
	}
	if v := x.Getenv("ROS_LOCALHOST_ONLY"); v != "" && v != "0" {
		x.say("network", survey.Warn, "use ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST instead", "ROS_LOCALHOST_ONLY is deprecated, and wins over ROS_AUTOMATIC_DISCOVERY_RANGE")
	}
}

// oldest is a time that no running machine's clock can be before.
var oldest = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)

// clock: do node and robot mean the same time?
func (x *doctor) clock() {
	if now := x.Now(); now.Before(oldest) {
		x.say("clock", survey.Error, "set it: chrony or ntp", "the machine's clock says %s", now.UTC().Format(time.RFC3339))
	}
	if x.Host == nil {
		return
	}
	clocks, err := x.Host.Graph().Publishers("/clock")
	if err != nil {
		x.say("clock", survey.Warn, "", "%v", err)
		return
	}
	simulated, _ := x.Params["use_sim_time"].(bool)
	switch {
	case len(clocks) > 1:
		x.say("clock", survey.Error, "leave one of them: time would jump back and forth", "%d publishers of /clock: %s", len(clocks), strings.Join(nodeNames(clocks), ", "))
	case len(clocks) == 1 && !simulated:
		x.say("clock", survey.Error, "start the node with -p use_sim_time:=true, as every node of the simulation", "%s publishes /clock and the node has use_sim_time false: every stamp looks wrong", clocks[0].Node)
	case len(clocks) == 0 && simulated:
		x.say("clock", survey.Error, "start the simulation, or set use_sim_time:=false", "use_sim_time is true and nobody publishes /clock: ROS time stands at zero")
	case simulated && x.Host.Clock().Simulated() && !x.Host.Clock().Advancing():
		x.say("clock", survey.Warn, "let the simulation go on", "/clock does not advance: motions wait")
	default:
		x.say("clock", survey.OK, "", "%s", map[bool]string{true: "time from /clock, which advances", false: "the machine's time"}[simulated])
	}
}

func nodeNames(infos []ros.EndpointInfo) []string {
	var names []string
	for _, i := range infos {
		names = append(names, i.Node)
	}
	slices.Sort(names)
	return names
}

// endpointPatience bounds the question to the model's endpoint.
const endpointPatience = 5 * time.Second

// endpoint: does the model answer?
func (x *doctor) endpoint(ctx context.Context) {
	switch kind := x.text("model.kind", "planner"); kind {
	case "planner":
		x.say("endpoint", survey.OK, "", "model.kind is planner: it needs no endpoint")
	case "scripted":
		if _, err := os.Stat(x.text("model.script", "")); err != nil {
			x.say("endpoint", survey.Error, "set model.script to a file of answers", "model.kind is scripted: %v", err)
		}
	case "openai":
		x.ask(ctx)
	default:
		x.say("endpoint", survey.Error, "planner, openai or scripted", "model.kind is %q", kind)
	}
}

// ask the endpoint for its models: the cheapest question there is.
func (x *doctor) ask(ctx context.Context) {
	base, name, keyEnv := x.text("model.base_url", ""), x.text("model.name", ""), x.text("model.api_key_env", "OPENAI_API_KEY")
	u, err := url.Parse(base)
	if base == "" || err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		x.say("endpoint", survey.Error, "set model.base_url, such as http://localhost:11434/v1", "model.base_url is no http or https address")
		return
	}
	if name == "" {
		x.say("endpoint", survey.Error, "set model.name", "model.name is not set")
	}
	said := u.Scheme + "://" + u.Host + u.Path // without a password or a key in the query
	ctx, cancel := context.WithTimeout(ctx, endpointPatience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(base, "/")+"/models", http.NoBody)
	if err != nil {
		x.say("endpoint", survey.Error, "mend model.base_url", "%v", err)
		return
	}
	key := x.Getenv(keyEnv)
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		x.say("endpoint", survey.Error, "is the server running, and reachable from here? curl "+said+"/models", "%s does not answer: %v", said, unwrapped(err))
		return
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	switch code := resp.StatusCode; {
	case err != nil:
		x.say("endpoint", survey.Error, "", "%s: %v", said, err)
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		why := "the key in " + keyEnv + " is refused"
		if key == "" {
			why = "a key is wanted, and " + keyEnv + " is not set"
		}
		x.say("endpoint", survey.Error, "export "+keyEnv+"=... in the node's environment (model.api_key_env names the variable)", "%s answers %d: %s", said, code, why)
	case code == http.StatusNotFound:
		x.say("endpoint", survey.Warn, "does model.base_url end in the API's version, such as /v1?", "%s has no /models (404): whether it has %s cannot be told", said, name)
	case code != http.StatusOK:
		x.say("endpoint", survey.Error, "", "%s answers %s", said, resp.Status)
	default:
		x.models(said, name, body)
	}
}

// unwrapped is the reason without the address, which may hold a password.
func unwrapped(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

func (x *doctor) models(base, name string, body []byte) {
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if err := json.Unmarshal(body, &list); err != nil {
		x.say("endpoint", survey.Error, "is it an OpenAI-compatible endpoint?", "%s/models is no JSON: %v", base, err)
		return
	}
	var names []string
	for _, m := range list.Data {
		names = append(names, m.ID)
	}
	slices.Sort(names)
	if name != "" && len(names) > 0 && !slices.Contains(names, name) {
		x.say("endpoint", survey.Error, "it has "+strings.Join(names[:min(len(names), 10)], ", "), "%s has no model %s", base, name)
		return
	}
	x.say("endpoint", survey.OK, "", "%s answers, and has %s", base, cmp.Or(name, "models"))
}

// traces: can a goal be recorded?
func (x *doctor) traces() {
	dir, err := node.TraceDir(x.text("trace.dir", ""))
	if err != nil {
		x.say("traces", survey.Error, "set trace.dir", "%v", err)
		return
	}
	// The node makes what is missing: the nearest folder that is there must let it.
	at := dir
	for {
		if _, err := os.Stat(at); err == nil || filepath.Dir(at) == at {
			break
		}
		at = filepath.Dir(at)
	}
	f, err := os.CreateTemp(at, ".agent_node-doctor-*")
	if err != nil {
		x.say("traces", survey.Error, "set trace.dir to a folder that can be written", "%s: %v", dir, err)
		return
	}
	f.Close()
	os.Remove(f.Name())
	x.say("traces", survey.OK, "", "%s can be written", dir)
}
