package ros1

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"agent_node/pkg/ros"
	"agent_node/pkg/ros/msgdef"
)

// Types finds ROS 1's interface types by the names of this house: std_msgs/msg/String, std_srvs/srv/Trigger,
// move_base_msgs/action/MoveBase. It reads definitions, so a type needs no code; one whose definition is
// neither in the trees given nor compiled in is an error that wraps ros.ErrUnknownType and says where was looked.
type Types struct {
	source *msgdef.Source
	wires  *wires
	where  string

	mu      sync.Mutex
	actions map[*ros.ActionType]*actionlibTypes
}

var _ ros.TypeSource = (*Types)(nil)

// NewTypes reads the trees first, and then the definitions that are compiled in. Types may be shared by nodes.
func NewTypes(trees ...msgdef.Tree) *Types {
	where := "the definitions that are compiled in; ROS_PACKAGE_PATH adds others"
	if len(trees) > 0 {
		where = fmt.Sprintf("%d packages of ROS_PACKAGE_PATH and the definitions that are compiled in", len(trees))
	}
	return &Types{
		source:  msgdef.NewSource(append(trees, msgdef.ROS1Trees()...)...),
		wires:   newWires(),
		where:   where,
		actions: make(map[*ros.ActionType]*actionlibTypes),
	}
}

// TypesFromEnvironment reads the packages of ROS_PACKAGE_PATH, too.
func TypesFromEnvironment() *Types {
	return NewTypes(PackageTrees(filepath.SplitList(os.Getenv("ROS_PACKAGE_PATH"))...)...)
}

// Message finds a message type. Those by which actionlib speaks of an action (<Name>ActionGoal, <Name>ActionFeedback,
// <Name>ActionResult) are made from the action's.
func (t *Types) Message(name string) (*ros.Type, error) {
	m, err := t.source.Message(name)
	if errors.Is(err, ros.ErrUnknownType) {
		if derived := t.derived(name); derived != nil {
			return derived, nil
		}
	}
	return m, t.explain(err)
}

// derived is a message of actionlib's, or nil.
func (t *Types) derived(name string) *ros.Type {
	pkg, kind, base := splitType(name)
	if kind != "msg" {
		return nil
	}
	for suffix, which := range map[string]func(*actionlibTypes) *ros.Type{
		"ActionGoal":     func(a *actionlibTypes) *ros.Type { return a.goal },
		"ActionFeedback": func(a *actionlibTypes) *ros.Type { return a.feedback },
		"ActionResult":   func(a *actionlibTypes) *ros.Type { return a.result },
	} {
		action, ok := strings.CutSuffix(base, suffix)
		if !ok {
			continue
		}
		at, err := t.source.Action(pkg + "/action/" + action)
		if err != nil {
			return nil
		}
		types, err := t.actionlib(at)
		if err != nil {
			return nil
		}
		return which(types)
	}
	return nil
}

// Service finds a service type.
func (t *Types) Service(name string) (*ros.ServiceType, error) {
	s, err := t.source.Service(name)
	return s, t.explain(err)
}

// Action finds an action type.
func (t *Types) Action(name string) (*ros.ActionType, error) {
	a, err := t.source.Action(name)
	return a, t.explain(err)
}

func (t *Types) explain(err error) error {
	if errors.Is(err, ros.ErrUnknownType) {
		return fmt.Errorf("%w (looked in %s)", err, t.where)
	}
	return err
}

// actionlibTypes are the messages by which actionlib speaks of an action.
type actionlibTypes struct{ goal, feedback, result *ros.Type }

// actionlib makes them: <Name>ActionGoal, <Name>ActionFeedback, <Name>ActionResult.
func (t *Types) actionlib(at *ros.ActionType) (*actionlibTypes, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if a, ok := t.actions[at]; ok {
		return a, nil
	}
	header, err := t.Message("std_msgs/msg/Header")
	if err != nil {
		return nil, err
	}
	id, err := t.Message("actionlib_msgs/msg/GoalID")
	if err != nil {
		return nil, err
	}
	status, err := t.Message("actionlib_msgs/msg/GoalStatus")
	if err != nil {
		return nil, err
	}
	field := func(name string, of *ros.Type) ros.Field {
		return ros.Field{Name: name, Kind: ros.KindMessage, Type: of}
	}
	base := strings.Replace(at.Name, "/action/", "/msg/", 1) + "Action"
	a := &actionlibTypes{
		goal:     ros.NewType(base+"Goal", []ros.Field{field("header", header), field("goal_id", id), field("goal", at.Goal)}, nil),
		feedback: ros.NewType(base+"Feedback", []ros.Field{field("header", header), field("status", status), field("feedback", at.Feedback)}, nil),
		result:   ros.NewType(base+"Result", []ros.Field{field("header", header), field("status", status), field("result", at.Result)}, nil),
	}
	t.actions[at] = a
	return a, nil
}

// deepest is how far below a path packages are looked for.
const deepest = 6

// PackageTrees are the packages below paths, as ROS_PACKAGE_PATH lists them: folders with a package.xml, of the same
// name the first. What cannot be read is left out.
func PackageTrees(paths ...string) []msgdef.Tree {
	var trees []msgdef.Tree
	known := map[string]bool{}
	for _, root := range paths {
		if root == "" {
			continue
		}
		_ = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return fs.SkipDir
			case !e.IsDir():
				return nil
			case path != root && strings.HasPrefix(e.Name(), "."), exists(path, "CATKIN_IGNORE"):
				return fs.SkipDir
			}
			if name := packageName(path); name != "" {
				if !known[name] {
					known[name] = true
					trees = append(trees, msgdef.Tree{FS: os.DirFS(path), Package: name, ROS1: true})
				}
				return fs.SkipDir
			}
			if below, err := filepath.Rel(root, path); err != nil || strings.Count(below, string(filepath.Separator)) >= deepest {
				return fs.SkipDir
			}
			return nil
		})
	}
	return trees
}

func exists(dir, name string) bool {
	_, err := os.Stat(filepath.Join(dir, name))
	return err == nil
}

// packageName is what a folder's package.xml says, or empty.
func packageName(dir string) string {
	data, err := os.ReadFile(filepath.Join(dir, "package.xml"))
	if err != nil {
		return ""
	}
	var p struct {
		Name string `xml:"name"`
	}
	if xml.Unmarshal(data, &p) != nil {
		return ""
	}
	return strings.TrimSpace(p.Name)
}

// Checksum is by what ROS 1 knows a message or service type.
func (t *Types) Checksum(name string) (string, error) {
	if _, kind, _ := splitType(name); kind == "srv" && !strings.Contains(name, "_Re") {
		s, err := t.Service(name)
		if err != nil {
			return "", err
		}
		return t.wires.service(s).md5, nil
	}
	m, err := t.Message(name)
	if err != nil {
		return "", err
	}
	return t.wires.message(m).md5, nil
}
