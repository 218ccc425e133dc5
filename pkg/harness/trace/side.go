package trace

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
)

// sideFiles hold what is too large for a line, one folder a session.
type sideFiles struct {
	dir, session string
	fsync        bool
	redact       *Redactor

	mu   sync.Mutex
	made bool
}

// sideDir is the folder of a session's side files, below the folder of the records.
func sideDir(session string) string { return session + ".files" }

// keep writes content into a file of its own and returns its name below the folder of the records, with slashes.
func (s *sideFiles) keep(name string, content []byte) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	folder := filepath.Join(s.dir, sideDir(s.session))
	if !s.made {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return "", fmt.Errorf("trace: %w", err)
		}
		s.made = true
	}
	base := sideName(name)
	for n := 1; ; n++ {
		file := base + ".txt"
		if n > 1 {
			file = fmt.Sprintf("%s.%d.txt", base, n)
		}
		err := s.write(filepath.Join(folder, file), []byte(s.redact.Text(string(content))))
		switch {
		case errors.Is(err, fs.ErrExist):
			continue
		case err != nil:
			return "", fmt.Errorf("trace: %w", err)
		}
		return path.Join(sideDir(s.session), file), nil
	}
}

// Claim implements Claimer: a file beside the record names the session that goes on with it.
func (s *files) Claim(of, by string) error {
	if !ValidSession(of) {
		return fmt.Errorf("trace: session %q must be 1 to 64 letters, digits, '-' and '_'", of)
	}
	name := s.claim(of)
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		before, _ := os.ReadFile(name) // empty where it cannot be read
		return fmt.Errorf("%w: session %s goes on with %s", ErrClaimed, strings.TrimSpace(string(before)), of)
	}
	if err != nil {
		return fmt.Errorf("trace: %w", err)
	}
	_, err = fmt.Fprintln(f, by)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("trace: %w", err)
	}
	return nil
}

// Release implements Claimer.
func (s *files) Release(of, by string) error {
	if !ValidSession(of) {
		return fmt.Errorf("trace: session %q must be 1 to 64 letters, digits, '-' and '_'", of)
	}
	has, err := os.ReadFile(s.claim(of))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("trace: %w", err)
	}
	if who := strings.TrimSpace(string(has)); who != by {
		return fmt.Errorf("%w: session %s goes on with %s, not %s", ErrClaimed, who, of, by)
	}
	if err := os.Remove(s.claim(of)); err != nil {
		return fmt.Errorf("trace: %w", err)
	}
	return nil
}

// claim is the file that names who goes on with a record.
func (s *files) claim(of string) string { return filepath.Join(s.opt.Dir, of+".resumed") }

func (s *sideFiles) write(name string, content []byte) (err error) {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	defer func() {
		if err = errors.Join(err, f.Close()); err != nil {
			_ = os.Remove(name) // half a file is none
		}
	}()
	if _, err := f.Write(content); err != nil {
		return err
	}
	if s.fsync {
		return errors.Join(f.Sync(), syncDir(filepath.Dir(name)))
	}
	return nil
}

// sideName turns any text into a file's name: letters, digits, '-' and '_' stay. What had to be changed ends in its hash, so that two
// names never share a file by that.
func sideName(name string) string {
	b := []byte(name)
	same := len(b) > 0
	for i, c := range b {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_') {
			b[i], same = '_', false
		}
	}
	if same && len(b) <= 64 {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return string(b[:min(len(b), 40)]) + "-" + hex.EncodeToString(sum[:6])
}

// WholeData is the data of an event of KindWhole.
func WholeData(file string, content []byte) json.RawMessage {
	sum := sha256.Sum256(content)
	var f Fields
	return f.Reset().String("file", file).Int("bytes", int64(len(content))).String("sha256", hex.EncodeToString(sum[:])).JSON()
}
