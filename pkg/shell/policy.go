package shell

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"agent_node/pkg/node"
	"agent_node/pkg/node/survey"
	"agent_node/pkg/robottools"
	"agent_node/pkg/ros"
	"agent_node/pkg/ros/args"
	"agent_node/pkg/ros/mem"
)

// Access is one name of the graph that a node uses.
type Access struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

// Accesses are all names of the graph that a node uses with a profile.
type Accesses struct {
	Node       string   `json:"node"`
	Publishes  []Access `json:"publishes"`
	Subscribes []Access `json:"subscribes"`
	Serves     []Access `json:"serves"`
	Calls      []Access `json:"calls"`
	// Actions, whose topics and services are not among the others.
	ServesActions []Access `json:"serves_actions"`
	CallsActions  []Access `json:"calls_actions"`
	Notes         []string `json:"notes,omitempty"`
}

// recorder is a host that notes what is made on it.
type recorder struct {
	node.Host
	mu  sync.Mutex
	all Accesses
}

func (r *recorder) note(into *[]Access, name, typeName string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	full, err := r.ResolveName(name)
	if err != nil {
		return
	}
	if a := (Access{full, typeName}); !slices.Contains(*into, a) {
		*into = append(*into, a)
	}
}

func (r *recorder) CreatePublisher(topic, typeName string, qos ros.QoS) (ros.Publisher, error) {
	r.note(&r.all.Publishes, topic, typeName)
	return r.Host.CreatePublisher(topic, typeName, qos)
}

func (r *recorder) CreateSubscription(topic, typeName string, qos ros.QoS, f func(ros.Received)) (ros.Subscription, error) {
	r.note(&r.all.Subscribes, topic, typeName)
	return r.Host.CreateSubscription(topic, typeName, qos, f)
}

func (r *recorder) CreateClient(service, typeName string) (ros.Client, error) {
	r.note(&r.all.Calls, service, typeName)
	return r.Host.CreateClient(service, typeName)
}

func (r *recorder) CreateService(service, typeName string, h ros.ServiceHandler) (ros.Service, error) {
	r.note(&r.all.Serves, service, typeName)
	return r.Host.CreateService(service, typeName, h)
}

// AccessesOf a node with a profile: it is brought up where nothing is, and what it opens is noted. given are its arguments (names,
// namespace, parameters); types its interface definitions, nil for the embedded ones.
func AccessesOf(ctx context.Context, file string, given *args.Args, types ros.TypeSource) (all Accesses, err error) {
	dir, err := os.MkdirTemp("", "agent_node-policy-")
	if err != nil {
		return all, err
	}
	defer os.RemoveAll(dir)
	own := args.Args{}
	if given != nil {
		own = *given
	}
	set := func(name string, value any) {
		own.Params = append(own.Params[:len(own.Params):len(own.Params)], args.Param{Pattern: "/**", Name: name, Value: value})
	}
	if file != "" {
		if file, err = filepath.Abs(file); err != nil {
			return all, err
		}
		set("profile", file)
	}
	set("trace.dir", dir)
	set("autostart", true)
	set("model.kind", "planner")
	bus := mem.NewBus()
	defer func() { err = errors.Join(err, bus.Close()) }()
	host, err := bus.NewNode("agent_node", mem.Options{Args: &own, Types: types, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return all, err
	}
	r := &recorder{Host: host}
	// The log and simulated time are the program's and the clock's, and not made through the node.
	r.note(&r.all.Publishes, "/rosout", "rcl_interfaces/msg/Log")
	r.note(&r.all.Subscribes, "/clock", "rosgraph_msgs/msg/Clock")
	n, err := node.New(r, node.Options{})
	if err != nil {
		return all, err
	}
	err = n.Start(ctx)
	down, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if err = errors.Join(err, n.Shutdown(down)); err != nil {
		return all, err
	}
	r.all.Node = strings.TrimSuffix(host.Namespace(), "/") + "/" + host.Name()
	p, err := robottools.Open(file)
	if err != nil {
		return all, err
	}
	ns, _ := host.Params()["robot_namespace"].(string)
	prefix, _ := host.Params()["frame_prefix"].(string)
	r.later(p.Placed(ns, prefix))
	r.all.sort()
	return r.all, nil
}

// later are names that are used only when somebody asks.
func (r *recorder) later(p *robottools.Profile) {
	for _, need := range survey.Needs(p) {
		if need.Kind == survey.Topic {
			r.note(&r.all.Subscribes, need.Name, need.Type)
		}
	}
	if p.Discovery != nil {
		r.all.Notes = append(r.all.Notes, "discovery subscribes to any topic that the model asks for and calls the parameter services of any node, but for those denied: grant what it shall see")
	}
	for _, e := range p.Generic.SetParameter {
		r.note(&r.all.Calls, e.Node+"/get_parameters", "rcl_interfaces/srv/GetParameters")
		r.note(&r.all.Calls, e.Node+"/set_parameters", "rcl_interfaces/srv/SetParameters")
	}
}

// sort the lists and gather what belongs to actions.
func (a *Accesses) sort() {
	gather := func(list []Access, into *[]Access) []Access {
		rest := []Access{}
		for _, x := range list {
			action, part, ok := strings.Cut(x.Name, "/_action/")
			if !ok {
				rest = append(rest, x)
				continue
			}
			if part == "send_goal" {
				*into = append(*into, Access{action, strings.TrimSuffix(x.Type, "_SendGoal")})
			}
		}
		slices.SortFunc(rest, func(x, y Access) int { return strings.Compare(x.Name+" "+x.Type, y.Name+" "+y.Type) })
		return rest
	}
	a.ServesActions, a.CallsActions = []Access{}, []Access{}
	a.Serves, a.Calls = gather(a.Serves, &a.ServesActions), gather(a.Calls, &a.CallsActions)
	a.Publishes, a.Subscribes = gather(a.Publishes, nil), gather(a.Subscribes, nil)
	for _, list := range [][]Access{a.ServesActions, a.CallsActions} {
		slices.SortFunc(list, func(x, y Access) int { return strings.Compare(x.Name, y.Name) })
	}
}

// The policy file of SROS 2 (its schema's version 0.2.0), as far as it is used here.
type (
	xmlPolicy struct {
		XMLName  xml.Name     `xml:"policy"`
		Version  string       `xml:"version,attr"`
		Enclaves []xmlEnclave `xml:"enclaves>enclave"`
	}
	xmlEnclave struct {
		Path     string       `xml:"path,attr"`
		Profiles []xmlProfile `xml:"profiles>profile"`
	}
	xmlProfile struct {
		NS       string     `xml:"ns,attr"`
		Node     string     `xml:"node,attr"`
		Topics   []xmlNames `xml:"topics"`
		Services []xmlNames `xml:"services"`
		Actions  []xmlNames `xml:"actions"`
	}
	xmlNames struct {
		Publish   string   `xml:"publish,attr,omitempty"`
		Subscribe string   `xml:"subscribe,attr,omitempty"`
		Reply     string   `xml:"reply,attr,omitempty"`
		Request   string   `xml:"request,attr,omitempty"`
		Execute   string   `xml:"execute,attr,omitempty"`
		Call      string   `xml:"call,attr,omitempty"`
		Topic     []string `xml:"topic"`
		Service   []string `xml:"service"`
		Action    []string `xml:"action"`
	}
)

const allow = "ALLOW"

// PrintPolicy prints the names as a policy file of SROS 2 for an enclave, or as JSON.
func PrintPolicy(a Accesses, enclave string, asJSON bool, out io.Writer) error {
	if asJSON {
		enc := json.NewEncoder(out)
		enc.SetIndent("", "  ")
		return enc.Encode(a)
	}
	cut := strings.LastIndexByte(a.Node, '/')
	p := xmlProfile{NS: "/" + strings.Trim(a.Node[:cut], "/"), Node: a.Node[cut+1:]}
	p.Topics = []xmlNames{{Publish: allow, Topic: namesIn(a.Publishes)}, {Subscribe: allow, Topic: namesIn(a.Subscribes)}}
	p.Services = []xmlNames{{Reply: allow, Service: namesIn(a.Serves)}, {Request: allow, Service: namesIn(a.Calls)}}
	p.Actions = []xmlNames{{Execute: allow, Action: namesIn(a.ServesActions)}, {Call: allow, Action: namesIn(a.CallsActions)}}
	none := func(n xmlNames) bool { return len(n.Topic)+len(n.Service)+len(n.Action) == 0 }
	p.Topics, p.Services, p.Actions = slices.DeleteFunc(p.Topics, none), slices.DeleteFunc(p.Services, none), slices.DeleteFunc(p.Actions, none)
	fmt.Fprint(out, xml.Header)
	for _, n := range a.Notes {
		fmt.Fprintf(out, "<!-- %s -->\n", strings.ReplaceAll(n, "--", "- -"))
	}
	enc := xml.NewEncoder(out)
	enc.Indent("", "  ")
	if err := enc.Encode(xmlPolicy{Version: "0.2.0", Enclaves: []xmlEnclave{{Path: enclave, Profiles: []xmlProfile{p}}}}); err != nil {
		return err
	}
	_, err := fmt.Fprintln(out)
	return err
}

// namesIn a list, each once.
func namesIn(list []Access) []string {
	var names []string
	for _, x := range list {
		if !slices.Contains(names, x.Name) {
			names = append(names, x.Name)
		}
	}
	return names
}
