package watchdog

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// Process names one process for good: a pid alone is used again.
type Process struct {
	PID int
	// Start is when it was started, in the kernel's ticks since the machine's start; empty where that is not known.
	Start string
	// Host is the machine's start and the space that its pid counts in; empty where that is not known.
	Host string
}

// Self is the calling process.
func Self() Process {
	p := Process{PID: os.Getpid(), Host: host()}
	if f, err := statOf(p.PID); err == nil {
		p.Start = f.start
	}
	return p
}

// host tells machines, their restarts and containers apart.
func host() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	space, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(boot)) + " " + space
}

// Gone is true where the process is known to have ended (one that nobody has waited for yet has, too). Where that cannot be
// seen, on another machine or without /proc, it is false: then only its silence tells.
func (p Process) Gone() bool {
	if p.Host == "" || p.Start == "" || p.Host != host() {
		return false
	}
	f, err := statOf(p.PID)
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	return err == nil && (f.start != p.Start || f.state == 'Z' || f.state == 'X')
}

type stat struct {
	state byte
	start string
}

var errStat = errors.New("watchdog: /proc/PID/stat is not as it should be")

// statOf reads /proc/PID/stat.
func statOf(pid int) (stat, error) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return stat{}, err
	}
	// The program's name stands in parentheses and may hold anything.
	i := bytes.LastIndexByte(data, ')')
	if i < 0 {
		return stat{}, errStat
	}
	fields := strings.Fields(string(data[i+1:]))
	const state, start = 0, 19 // fields 3 and 22 of proc(5)
	if len(fields) <= start || fields[state] == "" {
		return stat{}, errStat
	}
	return stat{state: fields[state][0], start: fields[start]}, nil
}
