package ros1

import (
	"bytes"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bluenviron/goroslib/v2/pkg/actionproc"
	"github.com/bluenviron/goroslib/v2/pkg/msgproc"
	"github.com/bluenviron/goroslib/v2/pkg/protocommon"
	"github.com/bluenviron/goroslib/v2/pkg/serviceproc"

	"agent_node/pkg/ros"
	"agent_node/pkg/ros/conformance"
)

// messagesOf are a name's message types here, each with goroslib's struct.
func messagesOf(t *testing.T, types *Types, name string) map[*ros.Type]any {
	t.Helper()
	_, kind, _ := splitType(name)
	switch kind {
	case "srv":
		s, err := types.Service(name)
		if err != nil {
			t.Fatal(err)
		}
		request, response, err := serviceproc.RequestResponse(goroslibs[name])
		if err != nil {
			t.Fatal(err)
		}
		return map[*ros.Type]any{s.Request: request, s.Response: response}
	case "action":
		a, err := types.Action(name)
		if err != nil {
			t.Fatal(err)
		}
		whole, err := types.actionlib(a)
		if err != nil {
			t.Fatal(err)
		}
		goal, result, feedback, err := actionproc.Messages(goroslibs[name])
		if err != nil {
			t.Fatal(err)
		}
		return map[*ros.Type]any{whole.goal: goal, whole.result: result, whole.feedback: feedback}
	}
	m, err := types.Message(name)
	if err != nil {
		t.Fatal(err)
	}
	return map[*ros.Type]any{m: goroslibs[name]}
}

// Checksums are what two nodes know a type by: a wrong one, and they do not meet.
func TestChecksumsAreGoroslibs(t *testing.T) {
	types := NewTypes()
	for _, name := range slices.Sorted(maps.Keys(goroslibs)) {
		for typ, theirs := range messagesOf(t, types, name) {
			want, err := msgproc.MD5(theirs)
			if err != nil {
				t.Fatal(err)
			}
			if typ.Name == "std_msgs/msg/ByteMultiArray" {
				want = "70ea476cbcfd65ac2f68f3cda1e891fe" // ROS 1's own; goroslib takes its bytes for int8
			}
			if w := types.wires.message(typ); w.md5 != want {
				t.Errorf("%s has checksum %s, goroslib's is %s; text:\n%s", w.name, w.md5, want, types.wires.sumText(typ))
			}
		}
		if s, err := types.Service(name); err == nil {
			want, err := serviceproc.MD5(goroslibs[name])
			if err != nil {
				t.Fatal(err)
			}
			if w := types.wires.service(s); w.md5 != want || w.name != strings.Replace(name, "/srv/", "/", 1) {
				t.Errorf("service %s has checksum %s, goroslib's is %s", w.name, w.md5, want)
			}
		}
	}
}

// What is written here is read by goroslib and written again, byte by byte the same.
func TestEncodingIsGoroslibs(t *testing.T) {
	types := NewTypes()
	r := rand.New(rand.NewPCG(1, 2))
	for _, name := range slices.Sorted(maps.Keys(goroslibs)) {
		for typ, theirs := range messagesOf(t, types, name) {
			for range 5 {
				m := plainTimes(conformance.Random(typ, r), r)
				data, err := encode(m)
				if err != nil {
					t.Fatal(err)
				}
				into := reflect.New(reflect.TypeOf(theirs))
				if err := protocommon.MessageDecode(bytes.NewReader(frame(data)), into.Interface()); err != nil {
					t.Fatalf("%s: goroslib reads: %v", typ.Name, err)
				}
				var again bytes.Buffer
				if err := protocommon.MessageEncode(&again, into.Interface()); err != nil {
					t.Fatal(err)
				}
				if want := frame(data); !bytes.Equal(again.Bytes(), want) {
					t.Fatalf("%s: goroslib read and wrote other bytes:\n%x\n%x", typ.Name, want, again.Bytes())
				}
				back, err := types.wires.decode(types.wires.message(typ), data)
				if err != nil || !ros.Equal(back, m) {
					t.Fatalf("%s: there and back: %v\n%v\n%v", typ.Name, err, m.Map(), back.Map())
				}
			}
		}
	}
}

// plainTimes makes times and durations such as goroslib, which knows time.Time, does not change.
func plainTimes(m *ros.Message, r *rand.Rand) *ros.Message {
	for i, v := range m.Values {
		switch x := v.(type) {
		case *ros.Message:
			if x.Type.Name == timeName || x.Type.Name == durationName {
				x.With("sec", r.Int32N(math.MaxInt32)).With("nanosec", r.Uint32N(uint32(time.Second)))
				continue
			}
			m.Values[i] = plainTimes(x, r)
		case []*ros.Message:
			for _, e := range x {
				if e.Type.Name == timeName || e.Type.Name == durationName {
					e.With("sec", r.Int32N(math.MaxInt32)).With("nanosec", r.Uint32N(uint32(time.Second)))
					continue
				}
				plainTimes(e, r)
			}
		}
	}
	return m
}

func TestDefinition(t *testing.T) {
	types := NewTypes()
	typ, err := types.Message("nav_msgs/msg/Path")
	if err != nil {
		t.Fatal(err)
	}
	line := strings.Repeat("=", 80) + "\nMSG: "
	want := "std_msgs/Header header\ngeometry_msgs/PoseStamped[] poses\n" +
		line + "std_msgs/Header\nuint32 seq\ntime stamp\nstring frame_id\n" +
		line + "geometry_msgs/PoseStamped\nstd_msgs/Header header\ngeometry_msgs/Pose pose\n" +
		line + "geometry_msgs/Pose\ngeometry_msgs/Point position\ngeometry_msgs/Quaternion orientation\n" +
		line + "geometry_msgs/Point\nfloat64 x\nfloat64 y\nfloat64 z\n" +
		line + "geometry_msgs/Quaternion\nfloat64 x\nfloat64 y\nfloat64 z\nfloat64 w\n"
	if got := types.wires.message(typ).definition; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestNames(t *testing.T) {
	for house, wire := range map[string]string{
		"std_msgs/msg/String":                                     "std_msgs/String",
		"std_srvs/srv/Trigger":                                    "std_srvs/Trigger",
		"std_srvs/srv/Trigger_Request":                            "std_srvs/TriggerRequest",
		"move_base_msgs/action/MoveBase_Goal":                     "move_base_msgs/MoveBaseGoal",
		"agent_msgs/action/ExecuteTask_Feedback":                  "agent_msgs/ExecuteTaskFeedback",
		"control_msgs/action/FollowJointTrajectory_SendGoal":      "control_msgs/FollowJointTrajectorySendGoal",
		"control_msgs/action/FollowJointTrajectory_SendGoal_Item": "control_msgs/FollowJointTrajectorySendGoalItem",
	} {
		if got := wireName(house); got != wire {
			t.Errorf("%s is %s, want %s", house, got, wire)
		}
	}
	for _, bad := range []string{"*", "", "String", "/String", "std_msgs/"} {
		if got := houseName("msg", bad); got != "" {
			t.Errorf("%q is %q", bad, got)
		}
	}
}

// Whatever comes from the network is a message or an error, and costs no more memory than it says.
func FuzzDecode(f *testing.F) {
	types := NewTypes()
	var all []*wire
	for _, name := range []string{
		"sensor_msgs/msg/PointCloud2", "tf2_msgs/msg/TFMessage", "diagnostic_msgs/msg/DiagnosticArray", "nav_msgs/msg/OccupancyGrid",
		"agent_msgs/msg/AgentState", "std_msgs/msg/Bool", "rcl_interfaces/msg/ParameterEvent", "visualization_msgs/msg/MarkerArray",
	} {
		t, err := types.Message(name)
		if err != nil {
			f.Fatal(err)
		}
		all = append(all, types.wires.message(t))
		r := rand.New(rand.NewPCG(3, 4))
		for range 3 {
			data, err := encode(conformance.Random(t, r))
			if err != nil {
				f.Fatal(err)
			}
			f.Add(uint8(len(all)-1), data)
		}
	}
	f.Add(uint8(1), []byte{0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, which uint8, data []byte) {
		w := all[int(which)%len(all)]
		m, err := types.wires.decode(w, data)
		if err != nil {
			return
		}
		if err := m.Validate(); err != nil {
			t.Fatal(err)
		}
		again, err := encode(m)
		if err != nil {
			t.Fatal(err)
		}
		back, err := types.wires.decode(w, again)
		if err != nil || !ros.Equal(back, m) {
			t.Fatalf("there and back: %v", err)
		}
	})
}

func TestDecodeRefuses(t *testing.T) {
	types := NewTypes()
	get := func(name string) *wire {
		typ, err := types.Message(name)
		if err != nil {
			t.Fatal(err)
		}
		return types.wires.message(typ)
	}
	for name, c := range map[string]struct {
		typ  string
		data []byte
	}{
		"nothing":                 {"std_msgs/msg/Int64", nil},
		"too short":               {"std_msgs/msg/Int64", []byte{1, 2, 3}},
		"too long":                {"std_msgs/msg/Bool", []byte{1, 2}},
		"a text beyond the end":   {"std_msgs/msg/String", []byte{5, 0, 0, 0, 'a'}},
		"four billion floats":     {"std_msgs/msg/Float64MultiArray", []byte{0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff}},
		"four billion transforms": {"tf2_msgs/msg/TFMessage", []byte{0xff, 0xff, 0xff, 0xff}},
	} {
		if _, err := types.wires.decode(get(c.typ), c.data); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
