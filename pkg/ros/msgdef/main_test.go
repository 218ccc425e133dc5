package msgdef_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"agent_node/pkg/ros/msgdef"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// withTestMsgs is the embedded set and ROS's own test messages.
func withTestMsgs() *msgdef.Source {
	return msgdef.NewSource(append(msgdef.EmbeddedTrees(), msgdef.Tree{FS: os.DirFS("testdata")})...)
}
