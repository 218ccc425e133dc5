package plot_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"

	"agent_node/sim/plot"
	"agent_node/sim/world"
)

func TestPictureIsWellFormedAndNamesEverything(t *testing.T) {
	w := world.Default()
	cube := func(x, y float64) []plot.Thing { return []plot.Thing{{Name: "red cube", X: x, Y: y, Z: 0.4}} }
	run := []plot.Sample{
		{T: 0, X: -1.6, Y: -1.5, Objects: cube(2.8, -1.45)},
		{T: 2, X: -1, Y: -1.5, Arm: make([]float64, 6), Width: 0.05},
		{T: 4, X: 0, Y: -1.2, Yaw: 0.3, Objects: cube(1, 1)},
		{T: 6, X: 1, Y: -1, Objects: cube(1.4, 2)},
	}
	for name, samples := range map[string][]plot.Sample{"a run": run, "one sample": run[:1], "the world alone": nil} {
		var out strings.Builder
		if err := plot.SVG(&out, w, samples, plot.Options{Title: `bring <it> & "go"`}); err != nil {
			t.Fatal(err)
		}
		d := xml.NewDecoder(strings.NewReader(out.String()))
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		for _, want := range []string{"kitchen", "office", "dock", "table", "keep-out", "red cube", "green ball", "bring &lt;it&gt; &amp;"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: no %q", name, want)
			}
		}
		if strings.Contains(out.String(), "NaN") {
			t.Errorf("%s: NaN in the picture", name)
		}
	}
}

func TestPictureOfTheRobotTellsOfEveryJoint(t *testing.T) {
	w := world.Default()
	var out strings.Builder
	if err := plot.Body(&out, w, world.Posture{Arm: w.Arm.Carry, Width: 0.05}); err != nil {
		t.Fatal(err)
	}
	if err := xml.Unmarshal([]byte(out.String()), new(struct{})); err != nil {
		t.Fatal(err)
	}
	for i, name := range w.Arm.Names {
		for _, want := range []string{">" + name + "<", fmt.Sprintf("%.3f rad", w.Arm.Carry[i])} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("no %q", want)
			}
		}
	}
	if strings.Contains(out.String(), "NaN") {
		t.Error("NaN in the picture")
	}
}

func TestReadTakesWhatAKilledProcessLeaves(t *testing.T) {
	run, err := plot.Read(strings.NewReader(`{"t":0.1,"x":1,"y":2,"yaw":3}` + "\n" + `{"t":0.2,"x":1`))
	if err != nil || len(run) != 1 || !reflect.DeepEqual(run[0], plot.Sample{T: 0.1, X: 1, Y: 2, Yaw: 3}) {
		t.Errorf("%+v, %v", run, err)
	}
	if _, err := plot.Read(strings.NewReader("{}\nnonsense\n")); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("%v, want line 2 named", err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"t":0.1,"x":1,"y":2,"yaw":3}` + "\n"))
	f.Add([]byte("{}\n[]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		run, err := plot.Read(strings.NewReader(string(data)))
		if err != nil {
			return
		}
		if err := plot.SVG(io.Discard, world.Default(), run, plot.Options{}); err != nil {
			t.Fatal(err)
		}
	})
}
