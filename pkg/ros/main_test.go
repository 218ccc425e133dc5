package ros_test

import (
	"testing"

	"go.uber.org/goleak"

	"agent_node/pkg/ros"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Types that the tests of this package use. "every" has every kind of field.
var (
	stampType    = ros.NewType("builtin_interfaces/msg/Time", []ros.Field{{Name: "sec", Kind: ros.KindInt32}, {Name: "nanosec", Kind: ros.KindUint32}}, nil)
	durationType = ros.NewType("builtin_interfaces/msg/Duration", []ros.Field{{Name: "sec", Kind: ros.KindInt32}, {Name: "nanosec", Kind: ros.KindUint32}}, nil)
	pointType    = ros.NewType("test/msg/Point", []ros.Field{{Name: "x", Kind: ros.KindFloat64}, {Name: "y", Kind: ros.KindFloat64, Default: 2.5}}, nil)
	poseType     = ros.NewType("test/msg/Pose", []ros.Field{
		{Name: "position", Kind: ros.KindMessage, Type: pointType},
		{Name: "name", Kind: ros.KindString},
		{Name: "covariance", Kind: ros.KindFloat64, Array: ros.FixedArray, Size: 3},
	}, nil)
	everyType = ros.NewType("test/msg/Every", everyFields(), nil)
)

func everyFields() []ros.Field {
	fields := []ros.Field{
		{Name: "stamp", Kind: ros.KindMessage, Type: stampType},
		{Name: "elapsed", Kind: ros.KindMessage, Type: durationType},
		{Name: "pose", Kind: ros.KindMessage, Type: poseType},
		{Name: "poses", Kind: ros.KindMessage, Type: poseType, Array: ros.UnboundedSequence},
		{Name: "two_poses", Kind: ros.KindMessage, Type: poseType, Array: ros.FixedArray, Size: 2},
		{Name: "few_poses", Kind: ros.KindMessage, Type: poseType, Array: ros.BoundedSequence, Size: 2},
		{Name: "short", Kind: ros.KindString, StringBound: 4},
		{Name: "wshort", Kind: ros.KindWString, StringBound: 4},
		{Name: "shorts", Kind: ros.KindString, StringBound: 4, Array: ros.BoundedSequence, Size: 3},
		{Name: "answer", Kind: ros.KindInt16, Default: int16(42)},
		{Name: "triple", Kind: ros.KindUint8, Array: ros.FixedArray, Size: 3, Default: []uint8{1, 2, 3}},
	}
	for k := ros.KindBool; k <= ros.KindWString; k++ {
		fields = append(fields,
			ros.Field{Name: k.String() + "_value", Kind: k},
			ros.Field{Name: k.String() + "_list", Kind: k, Array: ros.UnboundedSequence},
			ros.Field{Name: k.String() + "_three", Kind: k, Array: ros.FixedArray, Size: 3},
			ros.Field{Name: k.String() + "_few", Kind: k, Array: ros.BoundedSequence, Size: 3})
	}
	return fields
}
