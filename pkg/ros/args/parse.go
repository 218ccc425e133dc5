package args

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
)

// Args is what a command line asks of the process's nodes.
type Args struct {
	Rules   []Rule
	Params  []Param // in the order of the command line; of those that match a node, the last one wins
	Enclave string

	LogLevel  *slog.Level           // nil: not given
	Loggers   map[string]slog.Level // levels of single loggers
	NoRosout  bool                  // --disable-rosout-logs
	NoStdout  bool                  // --disable-stdout-logs
	LogConfig string                // --log-config-file; kept, not used
	LogPrefix string                // --log-file-name; kept, not used

	// Rest is what is not ROS's, in order.
	Rest []string
}

// ErrArgument is wrapped by every error of Parse.
var ErrArgument = errors.New("ros: bad argument")

// ArgumentError names the argument that is wrong. It wraps ErrArgument and its cause.
type ArgumentError struct {
	Flag     string // "--remap"
	Argument string // as given
	Err      error
}

func (e *ArgumentError) Error() string {
	if e.Argument == "" {
		return fmt.Sprintf("ros: bad argument %s: %v", e.Flag, e.Err)
	}
	return fmt.Sprintf("ros: bad argument %s %q: %v", e.Flag, e.Argument, e.Err)
}

// Unwrap gives ErrArgument and the cause.
func (e *ArgumentError) Unwrap() []error { return []error{ErrArgument, e.Err} }

// LevelFatal is ROS's level above error.
const LevelFatal = slog.LevelError + 4

// Parse reads a command line, without the program's name. ROS arguments stand
// between --ros-args and the next -- or the end; there may be several such stretches.
func Parse(argv []string) (*Args, error) { return ParseFiles(argv, os.ReadFile) }

// ParseFiles is Parse with a reader of parameter files of the caller's own.
func ParseFiles(argv []string, read func(path string) ([]byte, error)) (*Args, error) {
	a := &Args{Loggers: map[string]slog.Level{}}
	inside := false
	for i := 0; i < len(argv); i++ {
		arg := argv[i]
		switch {
		case arg == "--ros-args":
			inside = true
			continue
		case !inside:
			a.Rest = append(a.Rest, arg)
			continue
		case arg == "--":
			inside = false
			continue
		}
		apply, on := a.flag(arg, read)
		switch {
		case on != nil:
			on()
			continue
		case apply == nil:
			return nil, &ArgumentError{Flag: arg, Err: errors.New("unknown ROS argument")}
		case i+1 == len(argv):
			return nil, &ArgumentError{Flag: arg, Err: errors.New("its value is missing")}
		}
		i++
		value := argv[i]
		if err := apply(value); err != nil {
			return nil, &ArgumentError{Flag: arg, Argument: value, Err: err}
		}
	}
	return a, nil
}

// flag is what a flag does: with its value, or without one.
func (a *Args) flag(name string, read func(string) ([]byte, error)) (apply func(string) error, on func()) {
	switch name {
	case "-r", "--remap":
		return a.remap, nil
	case "-p", "--param":
		return a.param, nil
	case "--params-file":
		return func(path string) error {
			data, err := read(path)
			if err != nil {
				return err
			}
			params, err := ParseParamsFile(path, data)
			a.Params = append(a.Params, params...)
			return err
		}, nil
	case "--log-level":
		return a.logLevel, nil
	case "-e", "--enclave":
		return text(&a.Enclave), nil
	case "--log-config-file":
		return text(&a.LogConfig), nil
	case "--log-file-name":
		return text(&a.LogPrefix), nil
	case "--enable-rosout-logs":
		return nil, func() { a.NoRosout = false }
	case "--disable-rosout-logs":
		return nil, func() { a.NoRosout = true }
	case "--enable-stdout-logs":
		return nil, func() { a.NoStdout = false }
	case "--disable-stdout-logs":
		return nil, func() { a.NoStdout = true }
	case "--enable-external-lib-logs", "--disable-external-lib-logs":
		return nil, func() {} // there is no external log library to turn on or off
	}
	return nil, nil
}

func text(to *string) func(string) error {
	return func(s string) error {
		if s == "" {
			return errors.New("empty")
		}
		*to = s
		return nil
	}
}

func (a *Args) logLevel(s string) error {
	logger, level, named := strings.Cut(s, ":=")
	if !named {
		logger, level = "", s
	}
	var l slog.Level
	switch strings.ToLower(level) {
	case "debug":
		l = slog.LevelDebug
	case "info":
		l = slog.LevelInfo
	case "warn":
		l = slog.LevelWarn
	case "error":
		l = slog.LevelError
	case "fatal":
		l = LevelFatal
	default:
		return fmt.Errorf("unknown level %q: want debug, info, warn, error or fatal", level)
	}
	switch {
	case !named:
		a.LogLevel = &l
	case logger == "":
		return errors.New("the logger's name is empty")
	default:
		a.Loggers[logger] = l
	}
	return nil
}

// cutNode takes the node's name from node:from.
func cutNode(s string) (node, rest string, err error) {
	i := strings.IndexByte(s, ':')
	if i < 0 || strings.HasPrefix(s[i:], "://") {
		return "", s, nil
	}
	node = s[:i]
	if err := ValidateNodeName(node); err != nil {
		return "", "", err
	}
	return node, s[i+1:], nil
}

func (a *Args) remap(s string) error {
	from, to, ok := strings.Cut(s, ":=")
	if !ok {
		return errors.New("want FROM:=TO")
	}
	r := Rule{to: to}
	var err error
	if r.node, r.from, err = cutNode(from); err != nil {
		return err
	}
	switch r.from {
	case "__node", "__name":
		r.kind = ruleNode
		err = ValidateNodeName(to)
	case "__ns":
		r.kind = ruleNamespace
		if !strings.HasPrefix(to, "/") {
			return &NameError{What: "namespace", Name: to, At: -1, Reason: "not absolute"}
		}
		_, err = CleanNamespace(to)
	default:
		if rest, ok := strings.CutPrefix(r.from, "rostopic://"); ok {
			r.kind, r.from = ruleTopic, rest
		} else if rest, ok := strings.CutPrefix(r.from, "rosservice://"); ok {
			r.kind, r.from = ruleService, rest
		}
		if err = validateRuleSide(r.from); err == nil {
			err = validateRuleSide(to)
		}
	}
	if err != nil {
		return err
	}
	a.Rules = append(a.Rules, r)
	return nil
}

// validateRuleSide checks one side of a rule, where rcl takes less than in a program: no {…}, no ~ alone.
func validateRuleSide(name string) error {
	if err := validateUnexpanded(name); err != nil {
		return err
	}
	bad := func(at int, reason string) error {
		return &NameError{What: "topic name", Name: name, At: at, Reason: reason}
	}
	if i := strings.IndexByte(name, '{'); i >= 0 {
		return bad(i, "a rule takes no {}")
	}
	if i := strings.Index(name, "//"); i >= 0 {
		return bad(i+1, "two slashes in a row")
	}
	if name == "~" || strings.HasSuffix(name, "/") {
		return bad(len(name)-1, "a rule's name ends in a word")
	}
	return nil
}
