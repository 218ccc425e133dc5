package trace

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
)

// partPath is the file of a session's n-th part, from 1.
func partPath(dir, session string, n int) string {
	if n == 1 {
		return filepath.Join(dir, session+".jsonl")
	}
	return filepath.Join(dir, fmt.Sprintf("%s.%d.jsonl", session, n))
}

// numbered is the name of a part behind the first.
var numbered = regexp.MustCompile(`^([A-Za-z0-9_-]{1,64})\.[0-9]+\.jsonl$`)

// Parts are the files of the record that a file belongs to, in their order: any of its parts stands for all. A file that is no record of
// this package's naming is its own only part.
func Parts(file string) ([]string, error) {
	dir, name := filepath.Split(file)
	if m := numbered.FindStringSubmatch(name); m != nil {
		if first := partPath(dir, m[1], 1); exists(first) {
			file, name = first, filepath.Base(first)
		}
	}
	if _, err := os.Stat(file); err != nil {
		return nil, fmt.Errorf("trace: %w", err)
	}
	list := []string{file}
	session, isRecord := cutSuffix(name)
	for n := 2; isRecord; n++ {
		next := partPath(dir, session, n)
		if !exists(next) {
			break
		}
		list = append(list, next)
	}
	return list, nil
}

func cutSuffix(name string) (session string, ok bool) {
	const ext = ".jsonl"
	if len(name) <= len(ext) || name[len(name)-len(ext):] != ext {
		return "", false
	}
	session = name[:len(name)-len(ext)]
	return session, ValidSession(session)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// ReadFile is Read of all parts of a file's record, and of its side files: one that is missing or was changed is a problem.
func ReadFile(file string, each func(Event) error) (Report, error) {
	parts, err := Parts(file)
	if err != nil {
		return Report{}, err
	}
	v := verifier{prev: genesis}
	for i, part := range parts {
		name := ""
		if len(parts) > 1 {
			name = filepath.Base(part)
		}
		dir := filepath.Dir(part)
		err := readPart(part, &v, name, i == len(parts)-1, func(n int, e Event) error {
			if e.Kind == KindWhole {
				v.sideFile(n, dir, e)
			}
			if each == nil {
				return nil
			}
			return each(e)
		})
		if err != nil {
			return v.report, err
		}
	}
	return v.report, nil
}

func readPart(path string, v *verifier, name string, last bool, each func(int, Event) error) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("trace: %w", err)
	}
	defer f.Close() // only read
	v.file = name
	return v.read(f, last, each)
}

// VerifyFile is Verify of all parts of a file's record, and of its side files.
func VerifyFile(path string) (Report, error) { return ReadFile(path, nil) }

// EventsOfFile reads all sound events of all parts of a file's record.
func EventsOfFile(path string) ([]Event, Report, error) {
	var all []Event
	rep, err := ReadFile(path, func(e Event) error { all = append(all, e); return nil })
	return all, rep, err
}

// Read checks a log line by line and hands every readable event to each (nil: none). An event whose line is not sound
// is handed on as well; the report says what is wrong with it. An error of each ends the reading and is returned.
func Read(r io.Reader, each func(Event) error) (Report, error) {
	v := verifier{prev: genesis}
	err := v.read(r, true, func(_ int, e Event) error {
		if each == nil {
			return nil
		}
		return each(e)
	})
	return v.report, err
}
