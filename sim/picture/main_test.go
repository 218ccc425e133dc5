package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agent_node/sim/world"
)

func TestPictureOfADriveOfItsOwn(t *testing.T) {
	var out bytes.Buffer
	if err := run([]string{"-to", "kitchen,office", "-title", "two places"}, &out); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "two places") || !strings.Contains(out.String(), "m driven in") {
		t.Errorf("%.200s", out.String())
	}
}

func TestPictureOfARecordedRun(t *testing.T) {
	dir := t.TempDir()
	record, picture := filepath.Join(dir, "run.jsonl"), filepath.Join(dir, "run.svg")
	if err := os.WriteFile(record, []byte("{\"t\":0,\"x\":0,\"y\":-1}\n{\"t\":2,\"x\":1,\"y\":-1}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run([]string{"-run", record, "-o", picture}, nil); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(picture)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "1.0 m driven in 2.0 s") {
		t.Errorf("%.200s", text)
	}
}

func TestPictureOfTheRobot(t *testing.T) {
	var out bytes.Buffer
	if err := run([]string{"-urdf"}, &out); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "wrist_3_joint") {
		t.Errorf("%.200s", out.String())
	}
	w := world.Default()
	tool := w.Body.Frames(w.Positions(overTable))[w.Body.Index(world.LinkTool)]
	if tool.P.Sub(world.Vec{X: 0.55, Z: 0.425}).Norm() > 0.002 || tool.R.Column(2).Z > -0.999 {
		t.Errorf("over the table the tool is at %+v", tool)
	}
}

func TestWhatCannotBeDrawnIsRefused(t *testing.T) {
	for _, args := range [][]string{{"-to", "garage"}, {"-run", "/no/such/file"}, {"-run", "a", "-to", "kitchen"}, {"-urdf", "-to", "kitchen"}, {"extra"}, {"-nonsense"}} {
		if err := run(args, &bytes.Buffer{}); err == nil {
			t.Errorf("%v is drawn", args)
		}
	}
}
