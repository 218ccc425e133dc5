package robottools

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"sync"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
	"cel.dev/cel-go/ext"
)

// scope is what an expression sees: variable names to values.
type scope map[string]any

// with is a copy of the scope with one more variable.
func (s scope) with(name string, v any) scope {
	out := make(scope, len(s)+1)
	for k, x := range s {
		out[k] = x
	}
	out[name] = v
	return out
}

// variables that any expression of a profile may name. Those that do not apply in a place are absent there.
var variables = []string{
	"args",      // the call's arguments
	"msg",       // the newest message of a topic, or the transform as {x, y, z, yaw, qx, qy, qz, qw}
	"result",    // of an action
	"response",  // of a service
	"value",     // of a parameter
	"state",     // measured {x, y, yaw, vx, vy, wz} in the feedback's own frame
	"start",     // state when the motion began
	"moved",     // motion since then: {x, y} in the frame of the start pose, yaw unwrapped, seconds
	"pose",      // {x, y, yaw} in the map frame, now
	"begin",     // {x, y, yaw} in the map frame when the call began
	"from",      // {x, y, yaw} from which a plan's step would begin; absent in real calls
	"begun",     // of a sequence, as it was when it began: held, and the where values
	"joints",    // measured joint positions by actuator, lists in the actuator's order
	"goal",      // the joint positions that a trajectory ends in
	"places",    // the profile's
	"objects",   // the profile's
	"constants", // the profile's
	"frames",    // the profile's {map, odom, base}
	"now",       // ROS time {sec, nanosec}
}

// newEnv declares the variables and the functions of profiles:
// CEL's own, its math, strings, lists and bindings extensions, and
// sin, cos, atan2, hypot, angle_diff, pose2d, yaw_of, approach.
func newEnv() (*cel.Env, error) {
	opts := []cel.EnvOption{
		ext.Math(), ext.Strings(), ext.Lists(), ext.Bindings(),
		cel.CrossTypeNumericComparisons(true),
		cel.OptionalTypes(),
		number1("sin", math.Sin), number1("cos", math.Cos),
		number2("atan2", math.Atan2), number2("hypot", math.Hypot), number2("angle_diff", AngleDiff),
		cel.Function("pose2d", cel.Overload("pose2d_dyn", []*cel.Type{cel.DynType, cel.DynType, cel.DynType}, cel.DynType,
			cel.FunctionBinding(pose2d))),
		cel.Function("yaw_of", cel.Overload("yaw_of_dyn", []*cel.Type{cel.DynType}, cel.DoubleType, cel.UnaryBinding(yawOf))),
		cel.Function("approach", cel.Overload("approach_dyn", []*cel.Type{cel.DynType, cel.DynType, cel.DynType}, cel.DoubleType,
			cel.FunctionBinding(func(a ...ref.Val) ref.Val {
				n, bad := numbers(a...)
				if bad != nil {
					return bad
				}
				return types.Double(approach(n[0], n[1], n[2]))
			}))),
	}
	for _, v := range variables {
		opts = append(opts, cel.Variable(v, cel.DynType))
	}
	return cel.NewEnv(opts...)
}

// envs makes the environments of one profile's expressions: one for each set of names, since making one costs more than
// compiling an expression in it.
type envs struct {
	mu   sync.Mutex
	made map[string]*cel.Env
}

// with is the environment in which these names are known beside the variables.
func (e *envs) with(extra ...string) (*cel.Env, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.find(extra)
}

func (e *envs) find(extra []string) (*cel.Env, error) {
	key := strings.Join(extra, " ")
	if env, ok := e.made[key]; ok {
		return env, nil
	}
	var env *cel.Env
	var err error
	if len(extra) == 0 {
		env, err = newEnv()
	} else if env, err = e.find(nil); err == nil {
		opts := make([]cel.EnvOption, len(extra))
		for i, name := range extra {
			opts[i] = cel.Variable(name, cel.DynType)
		}
		env, err = env.Extend(opts...)
	}
	if err != nil {
		return nil, err
	}
	if e.made == nil {
		e.made = map[string]*cel.Env{}
	}
	e.made[key] = env
	return env, nil
}

// AngleDiff is a-b wrapped to (-pi, pi].
func AngleDiff(a, b float64) float64 {
	d := math.Mod(a-b, 2*math.Pi)
	switch {
	case d > math.Pi:
		return d - 2*math.Pi
	case d <= -math.Pi:
		return d + 2*math.Pi
	}
	return d
}

// approach is the speed at which to close a remaining distance so that a
// deceleration suffices: sign(r) * min(max, sqrt(2 decel |r|)).
func approach(remaining, maximum, deceleration float64) float64 {
	return math.Copysign(math.Min(maximum, math.Sqrt(2*deceleration*math.Abs(remaining))), remaining)
}

func number1(name string, f func(float64) float64) cel.EnvOption {
	return cel.Function(name, cel.Overload(name+"_dyn", []*cel.Type{cel.DynType}, cel.DoubleType,
		cel.UnaryBinding(func(a ref.Val) ref.Val {
			n, bad := numbers(a)
			if bad != nil {
				return bad
			}
			return types.Double(f(n[0]))
		})))
}

func number2(name string, f func(a, b float64) float64) cel.EnvOption {
	return cel.Function(name, cel.Overload(name+"_dyn", []*cel.Type{cel.DynType, cel.DynType}, cel.DoubleType,
		cel.BinaryBinding(func(a, b ref.Val) ref.Val {
			n, bad := numbers(a, b)
			if bad != nil {
				return bad
			}
			return types.Double(f(n[0], n[1]))
		})))
}

// numbers converts every argument or gives the error value to return.
func numbers(args ...ref.Val) ([]float64, ref.Val) {
	out := make([]float64, len(args))
	for i, a := range args {
		switch v := a.(type) {
		case types.Double:
			out[i] = float64(v)
		case types.Int:
			out[i] = float64(v)
		case types.Uint:
			out[i] = float64(v)
		default:
			return nil, types.NewErr("argument %d is %v, not a number", i+1, a.Type())
		}
	}
	return out, nil
}

// pose2d makes a geometry_msgs/msg/Pose of x, y, yaw.
func pose2d(args ...ref.Val) ref.Val {
	n, bad := numbers(args...)
	if bad != nil {
		return bad
	}
	return types.DefaultTypeAdapter.NativeToValue(map[string]any{
		"position":    map[string]any{"x": n[0], "y": n[1], "z": 0.0},
		"orientation": map[string]any{"x": 0.0, "y": 0.0, "z": math.Sin(n[2] / 2), "w": math.Cos(n[2] / 2)},
	})
}

// yawOf is the yaw of a quaternion {x, y, z, w}.
func yawOf(q ref.Val) ref.Val {
	v, err := q.ConvertToNative(reflect.TypeFor[map[string]any]())
	if err != nil {
		return types.NewErr("yaw_of wants a quaternion: %v", err)
	}
	m := v.(map[string]any)
	var c [4]float64
	for i, k := range []string{"x", "y", "z", "w"} {
		f, ok := m[k].(float64)
		if !ok {
			return types.NewErr("yaw_of: the quaternion has no number %s", k)
		}
		c[i] = f
	}
	return types.Double(math.Atan2(2*(c[3]*c[2]+c[0]*c[1]), 1-2*(c[1]*c[1]+c[2]*c[2])))
}

// expression is one compiled CEL expression.
type expression struct {
	text    string
	program cel.Program
}

// compile checks and compiles an expression; an empty one yields nil.
func compile(env *cel.Env, text string) (*expression, error) {
	if text == "" {
		return nil, nil
	}
	e, _, err := compileTree(env, text)
	return e, err
}

// compileTree also gives what tells types and names.
func compileTree(env *cel.Env, text string) (*expression, *cel.Ast, error) {
	tree, issues := env.Compile(text)
	if issues.Err() != nil {
		return nil, nil, fmt.Errorf("CEL: %w", issues.Err())
	}
	program, err := env.Program(tree, cel.EvalOptions(cel.OptOptimize), cel.CostLimit(2_000_000))
	if err != nil {
		return nil, nil, fmt.Errorf("CEL: %w", err)
	}
	return &expression{text, program}, tree, nil
}

// eval yields plain Go values: bool, int64, uint64, float64, string, []any, map[string]any.
func (e *expression) eval(s scope) (any, error) {
	v, _, err := e.program.Eval(map[string]any(s))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", e.text, err)
	}
	return native(v)
}

func (e *expression) bool(s scope) (bool, error) {
	v, err := e.eval(s)
	if err != nil {
		return false, err
	}
	b, ok := v.(bool)
	if !ok {
		return false, fmt.Errorf("%s: is %v, wanted true or false", e.text, v)
	}
	return b, nil
}

// number evaluates to a finite float64.
func (e *expression) number(s scope) (float64, error) {
	v, err := e.eval(s)
	if err != nil {
		return 0, err
	}
	var f float64
	switch n := v.(type) {
	case float64:
		f = n
	case int64:
		f = float64(n)
	case uint64:
		f = float64(n)
	default:
		return 0, fmt.Errorf("%s: is %v, wanted a number", e.text, v)
	}
	return f, nil
}

// strings evaluates to a list of strings.
func (e *expression) strings(s scope) ([]string, error) {
	v, err := e.eval(s)
	if err != nil {
		return nil, err
	}
	list, ok := v.([]any)
	if !ok {
		return nil, fmt.Errorf("%s: is %v, wanted a list of strings", e.text, v)
	}
	out := make([]string, len(list))
	for i, x := range list {
		if out[i], ok = x.(string); !ok {
			return nil, fmt.Errorf("%s: element %d is %v, wanted a string", e.text, i, x)
		}
	}
	return out, nil
}

// native converts a CEL value to plain Go.
func native(v ref.Val) (any, error) {
	switch x := v.(type) {
	case types.Bool:
		return bool(x), nil
	case types.Int:
		return int64(x), nil
	case types.Uint:
		return uint64(x), nil
	case types.Double:
		return float64(x), nil
	case types.String:
		return string(x), nil
	case types.Null:
		return nil, nil
	case types.Bytes:
		return []byte(x), nil
	case *types.Optional:
		if !x.HasValue() {
			return nil, nil
		}
		return native(x.GetValue())
	}
	switch x := v.(type) {
	case traits.Mapper:
		out := map[string]any{}
		for it := x.Iterator(); it.HasNext() == types.True; {
			k := it.Next()
			name, ok := k.(types.String)
			if !ok {
				return nil, fmt.Errorf("a map with the key %v: keys are strings", k)
			}
			e, err := native(x.Get(k))
			if err != nil {
				return nil, err
			}
			out[string(name)] = e
		}
		return out, nil
	case traits.Lister:
		n, _ := x.Size().(types.Int)
		out := make([]any, n)
		for i := range out {
			e, err := native(x.Get(types.Int(i)))
			if err != nil {
				return nil, err
			}
			out[i] = e
		}
		return out, nil
	}
	return nil, fmt.Errorf("a value of type %v has no plain form", v.Type())
}

// decodeArgs is the arguments object with every number a float64.
func decodeArgs(raw json.RawMessage) (map[string]any, error) {
	args := map[string]any{}
	if len(raw) == 0 {
		return args, nil
	}
	if err := json.Unmarshal(raw, &args); err != nil {
		return nil, fmt.Errorf("robottools: arguments: %w", err)
	}
	return args, nil
}
