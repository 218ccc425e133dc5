package args

// ruleKind says what a rule applies to.
type ruleKind uint8

const (
	ruleName      ruleKind = iota // topics and services
	ruleTopic                     // rostopic://
	ruleService                   // rosservice://
	ruleNode                      // __node, __name
	ruleNamespace                 // __ns
)

// Rule is one remapping rule. The zero Rule is not valid: rules come from Parse.
type Rule struct {
	kind ruleKind
	node string // the node that it is for; empty: all
	from string // as written, of a topic or service
	to   string
}

// Node is what the arguments mean for one node: its final name, its names'
// resolution and its parameters. It is immutable.
type Node struct {
	Name      string // base name, after __node
	Namespace string // absolute, after __ns
	Params    map[string]any

	rules []Rule
}

// AnyName is the same arguments without those that name nodes: for one that visits under a name of its own.
func (a *Args) AnyName() *Args {
	if a == nil {
		return nil
	}
	out := *a
	out.Rules = nil
	for _, r := range a.Rules {
		if r.kind != ruleNode {
			out.Rules = append(out.Rules, r)
		}
	}
	return &out
}

// Node applies the arguments to a node that its program calls name in namespace
// (empty is "/"). The receiver may be nil: no arguments.
func (a *Args) Node(name, namespace string) (*Node, error) {
	n := &Node{Name: name, Params: map[string]any{}}
	if a != nil {
		n.rules = a.Rules
	}
	if to, ok := n.first(ruleNode); ok {
		n.Name = to
	}
	if err := ValidateNodeName(n.Name); err != nil {
		return nil, err
	}
	if to, ok := n.first(ruleNamespace); ok {
		namespace = to
	}
	var err error
	if n.Namespace, err = CleanNamespace(namespace); err != nil {
		return nil, err
	}
	if a == nil {
		return n, nil
	}
	for _, p := range a.Params {
		if p.Matches(n.FullName()) {
			n.Params[p.Name] = p.Value
		}
	}
	return n, nil
}

// first is the replacement of the first rule of a kind for the node.
func (n *Node) first(kind ruleKind) (string, bool) {
	for _, r := range n.rules {
		if r.kind == kind && (r.node == "" || r.node == n.Name) {
			return r.to, true
		}
	}
	return "", false
}

// FullName is the fully qualified name.
func (n *Node) FullName() string {
	if n.Namespace == "/" {
		return "/" + n.Name
	}
	return n.Namespace + "/" + n.Name
}

// Topic is the absolute name of a topic after expansion and the first rule that matches.
func (n *Node) Topic(name string) (string, error) { return n.resolve(name, ruleTopic) }

// Service is the same for a service.
func (n *Node) Service(name string) (string, error) { return n.resolve(name, ruleService) }

func (n *Node) resolve(name string, kind ruleKind) (string, error) {
	full, err := Expand(name, n.Name, n.Namespace)
	if err != nil {
		return "", err
	}
	for _, r := range n.rules {
		if r.kind != ruleName && r.kind != kind || r.node != "" && r.node != n.Name {
			continue
		}
		// A rule whose side does not expand for this node does not match it.
		if from, err := Expand(r.from, n.Name, n.Namespace); err != nil || from != full {
			continue
		}
		return Expand(r.to, n.Name, n.Namespace)
	}
	return full, nil
}
