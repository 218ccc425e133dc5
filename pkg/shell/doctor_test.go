package shell_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agent_node/pkg/ros"
	"agent_node/pkg/ros/mem"
	"agent_node/pkg/shell"
)

// sound is an environment in which nothing is wrong.
func sound(t *testing.T) map[string]string {
	return map[string]string{"ROS_DISTRO": "jazzy", "AMENT_PREFIX_PATH": t.TempDir(), "ROS_DOMAIN_ID": "7"}
}

type diagnosis struct {
	OK               bool
	Errors, Warnings int
	Findings         []shell.Finding
}

// says reports whether an area has a finding of a level that says so.
func (d diagnosis) says(area, level, text string) bool {
	for _, f := range d.Findings {
		if f.Area == area && string(f.Level) == level && strings.Contains(f.Message, text) && (level == "ok" || f.Advice != "" || area == "endpoint") {
			return true
		}
	}
	return false
}

// examine asks the doctor twice, for people and for programs.
func examine(t *testing.T, d shell.Doctor, environ map[string]string) diagnosis {
	t.Helper()
	d.Getenv = func(name string) string { return environ[name] }
	if d.Patience == 0 {
		d.Patience = 2 * time.Second
	}
	if d.Params == nil {
		d.Params = map[string]any{}
	}
	if d.Params["trace.dir"] == nil {
		d.Params["trace.dir"] = filepath.Join(t.TempDir(), "not", "yet")
	}
	d.Now = func() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) } // a bubble's is long ago
	d.JSON = true
	var data bytes.Buffer
	err := shell.Examine(t.Context(), d, &data)
	var out diagnosis
	fatal(t, json.Unmarshal(data.Bytes(), &out))
	if (err != nil) != (out.Errors > 0) || out.OK != (out.Errors == 0) || err != nil && !errors.Is(err, shell.ErrNotInOrder) {
		t.Errorf("error %v, %d errors", err, out.Errors)
	}
	return out
}

// small is a profile that is read in no time.
var small = filepath.Join("..", "..", "test", "e2e", "testdata", "stand_in.yaml")

func TestDoctorOnTheMachine(t *testing.T) {
	file := small
	blocked := filepath.Join(file, "traces") // below a file
	for _, x := range []struct {
		name              string
		environ           map[string]string // changes; "-" takes away
		params            map[string]any
		area, level, says string
	}{
		{"no prefix", map[string]string{"AMENT_PREFIX_PATH": ""}, nil, "prefix", "error", "AMENT_PREFIX_PATH is not set"},
		{"a prefix that is gone", map[string]string{"AMENT_PREFIX_PATH": "/nowhere/at/all"}, nil, "prefix", "warn", "/nowhere/at/all"},
		{"another distribution", map[string]string{"ROS_DISTRO": "foxy"}, nil, "prefix", "warn", "foxy"},
		{"a domain that is none", map[string]string{"ROS_DOMAIN_ID": "seven"}, nil, "network", "error", `"seven"`},
		{"a domain too high", map[string]string{"ROS_DOMAIN_ID": "233"}, nil, "network", "error", "233"},
		{"a domain of ordinary ports", map[string]string{"ROS_DOMAIN_ID": "200"}, nil, "network", "warn", "200"},
		{"discovery off", map[string]string{"ROS_AUTOMATIC_DISCOVERY_RANGE": "OFF"}, nil, "network", "error", "OFF"},
		{"discovery misspelt", map[string]string{"ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCAL"}, nil, "network", "error", "LOCAL"},
		{"an old switch", map[string]string{"ROS_LOCALHOST_ONLY": "1"}, nil, "network", "warn", "deprecated"},
		{"traces below a file", nil, map[string]any{"trace.dir": blocked}, "traces", "error", blocked},
		{"a model that is none", nil, map[string]any{"model.kind": "oracle"}, "endpoint", "error", "oracle"},
		{"no script", nil, map[string]any{"model.kind": "scripted", "model.script": "/none"}, "endpoint", "error", "/none"},
		{"no address", nil, map[string]any{"model.kind": "openai", "model.name": "m"}, "endpoint", "error", "no http or https address"},
		{"all is well", nil, nil, "endpoint", "ok", "planner"},
	} {
		t.Run(x.name, func(t *testing.T) {
			environ := sound(t)
			for k, v := range x.environ {
				environ[k] = v
			}
			d := examine(t, shell.Doctor{Profile: file, Params: x.params}, environ)
			if !d.says(x.area, x.level, x.says) {
				t.Errorf("no %s of %s that says %q: %+v", x.level, x.area, x.says, d.Findings)
			}
			if want := x.level == "error"; d.OK == want {
				t.Errorf("ok is %t: %+v", d.OK, d.Findings)
			}
		})
	}
	bad := written(t, "class: verify", "class: verifies")
	if d := examine(t, shell.Doctor{Profile: bad}, sound(t)); !d.says("profile", "error", bad+":") {
		t.Errorf("%+v", d.Findings)
	}
	if d := examine(t, shell.Doctor{Profile: file, HostError: errors.New("rcl is not there")}, sound(t)); !d.says("prefix", "error", "rcl is not there") {
		t.Errorf("%+v", d.Findings)
	}
}

func TestDoctorAsksTheEndpoint(t *testing.T) {
	file := small
	const key = "sk-very-secret"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, "/none"):
			http.NotFound(w, r)
		case strings.HasPrefix(r.URL.Path, "/broken"):
			w.WriteHeader(http.StatusInternalServerError)
		case strings.HasPrefix(r.URL.Path, "/page"):
			w.Write([]byte("<html>"))
		case strings.HasPrefix(r.URL.Path, "/locked") && r.Header.Get("Authorization") != "Bearer "+key:
			w.WriteHeader(http.StatusUnauthorized)
		default:
			w.Write([]byte(`{"data":[{"id":"small"},{"id":"large"}]}`))
		}
	}))
	defer server.Close()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	for _, x := range []struct{ base, name, key, level, says string }{
		{server.URL + "/v1", "small", "", "ok", "has small"},
		{server.URL + "/v1/", "small", "", "ok", "has small"},
		{server.URL + "/v1", "huge", "", "error", "no model huge"},
		{server.URL + "/locked/v1", "small", key, "ok", "has small"},
		{server.URL + "/locked/v1", "small", "", "error", "MY_KEY is not set"},
		{server.URL + "/locked/v1", "small", "sk-wrong", "error", "the key in MY_KEY is refused"},
		{server.URL + "/none", "small", "", "warn", "404"},
		{server.URL + "/broken", "small", "", "error", "500"},
		{server.URL + "/page", "small", "", "error", "no JSON"},
		{gone.URL + "/v1", "small", "", "error", "does not answer"},
		{strings.Replace(gone.URL, "http://", "http://me:"+key+"@", 1) + "/v1", "small", key, "error", "does not answer"},
		{server.URL + "/v1?key=" + key, "small", "", "error", ""},
	} {
		environ := sound(t)
		environ["MY_KEY"] = x.key
		d := examine(t, shell.Doctor{
			Profile: file, Params: map[string]any{"model.kind": "openai", "model.base_url": x.base, "model.name": x.name, "model.api_key_env": "MY_KEY"},
		}, environ)
		if x.says != "" && !d.says("endpoint", x.level, x.says) {
			t.Errorf("%s %s: no %s that says %q: %+v", x.base, x.name, x.level, x.says, d.Findings)
		}
		if data, err := json.Marshal(d); err != nil || strings.Contains(string(data), "secret") || strings.Contains(string(data), "sk-wrong") {
			t.Errorf("a key is told: %s, %v", data, err)
		}
	}
}

func TestDoctorLooksAtTheRobot(t *testing.T) {
	file := written(t)
	beside(t, nil, func(t *testing.T, visit *mem.Node) {
		d := examine(t, shell.Doctor{Host: visit, Profile: file}, sound(t))
		if !d.OK || !d.says("profile", "ok", "bindings are present") || !d.says("graph", "ok", "nodes are in sight") {
			t.Errorf("%+v", d.Findings)
		}
		d = examine(t, shell.Doctor{Host: visit, Profile: file, Params: map[string]any{"use_sim_time": true}}, sound(t))
		if !d.says("clock", "error", "nobody publishes /clock") {
			t.Errorf("%+v", d.Findings)
		}
	})
	beside(t, []string{"-r", "/battery_state:=/power"}, func(t *testing.T, visit *mem.Node) {
		d := examine(t, shell.Doctor{Host: visit, Profile: file}, sound(t))
		if d.OK || !d.says("profile", "error", "nobody publishes /battery_state") {
			t.Errorf("%+v", d.Findings)
		}
	})
}

func TestDoctorOnTime(t *testing.T) {
	file := small
	synctest.Test(t, func(t *testing.T) {
		bus := mem.NewBus()
		defer bus.Close()
		quiet := mem.Options{Logger: slog.New(slog.DiscardHandler)}
		visit, err := bus.NewNode("visitor", quiet)
		fatal(t, err)
		d := examine(t, shell.Doctor{Host: visit, Profile: file}, sound(t))
		if !d.says("graph", "warn", "no other ROS node is in sight") {
			t.Errorf("%+v", d.Findings)
		}
		for _, name := range []string{"gazebo", "bag"} {
			n, err := bus.NewNode(name, quiet)
			fatal(t, err)
			_, err = n.CreatePublisher("/clock", "rosgraph_msgs/msg/Clock", ros.DefaultQoS())
			fatal(t, err)
			d := examine(t, shell.Doctor{Host: visit, Profile: file}, sound(t))
			want := "/gazebo publishes /clock and the node has use_sim_time false"
			if name == "bag" {
				want = "2 publishers of /clock: /bag, /gazebo"
			}
			if !d.says("clock", "error", want) {
				t.Errorf("%+v", d.Findings)
			}
		}
	})
}
