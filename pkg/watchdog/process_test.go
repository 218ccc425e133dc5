//go:build linux

package watchdog

import (
	"os/exec"
	"strings"
	"testing"
	"time"
)

func TestAProcessThatEndsIsGone(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	f, err := statOf(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	p := Process{PID: cmd.Process.Pid, Start: f.start, Host: host()}
	if p.Gone() {
		t.Error("gone while it sleeps")
	}
	other := p
	other.Start += "1"
	if !other.Gone() {
		t.Error("another process of that pid is taken for it")
	}
	elsewhere := p
	elsewhere.Host = "elsewhere"
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(10 * time.Second); !p.Gone() && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	if !p.Gone() {
		t.Error("not gone though killed, and waited for by nobody yet")
	}
	_ = cmd.Wait() // killed
	if !p.Gone() {
		t.Error("not gone")
	}
	if elsewhere.Gone() {
		t.Error("of another machine nothing can be seen")
	}
	if (Process{PID: p.PID}).Gone() {
		t.Error("of an unknown one nothing can be seen")
	}
}

func TestSelfIsThere(t *testing.T) {
	p := Self()
	if p.Gone() || p.PID == 0 || p.Start == "" || !strings.Contains(p.Host, "pid:[") {
		t.Errorf("%+v, gone %t", p, p.Gone())
	}
}
