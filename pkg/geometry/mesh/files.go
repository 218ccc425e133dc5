package mesh

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// ErrFile is wrapped by errors about a file that cannot be found or read.
var ErrFile = errors.New("mesh: no such file")

// Files finds what descriptions name: package://NAME/PATH, file:///PATH and plain absolute paths.
type Files struct {
	// Package gives the directory of a package (of ROS: its share directory); nil knows none.
	Package func(name string) (dir string, err error)
}

// Load reads and parses the mesh that a description names. Errors wrap ErrFile, or are an *Error about the content under the file's name.
func (f Files) Load(uri string) (*Mesh, error) {
	name, err := f.path(uri)
	if err != nil {
		return nil, err
	}
	data, err := read(name)
	if err != nil {
		return nil, fmt.Errorf("%w: %q: %w", ErrFile, uri, err)
	}
	m, err := Parse(name, data)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", uri, err)
	}
	return m, nil
}

// Read gives the content of a file that is named in the same way. Errors wrap ErrFile.
func (f Files) Read(uri string) ([]byte, error) {
	name, err := f.path(uri)
	if err != nil {
		return nil, err
	}
	data, err := read(name)
	if err != nil {
		return nil, fmt.Errorf("%w: %q: %w", ErrFile, uri, err)
	}
	return data, nil
}

func (f Files) path(uri string) (string, error) {
	fail := func(format string, args ...any) (string, error) {
		return "", fmt.Errorf("%w: %q: %s", ErrFile, uri, fmt.Sprintf(format, args...))
	}
	scheme, rest, found := strings.Cut(uri, "://")
	if !found {
		if !filepath.IsAbs(uri) {
			return fail("a path must be absolute, or package://NAME/PATH or file:///PATH")
		}
		return uri, nil
	}
	rest, err := url.PathUnescape(rest)
	if err != nil {
		return fail("%v", err)
	}
	switch scheme {
	case "file":
		if !filepath.IsAbs(rest) {
			return fail("names a host: file:///PATH has three slashes")
		}
		return rest, nil
	case "package":
		name, inner, _ := strings.Cut(rest, "/")
		if name == "" || !filepath.IsLocal(inner) {
			return fail("must be package://NAME/PATH, the path within the package")
		}
		if f.Package == nil {
			return fail("no packages are known here")
		}
		dir, err := f.Package(name)
		if err != nil {
			return fail("%v", err)
		}
		return filepath.Join(dir, inner), nil
	}
	return fail("%s:// is not read: package:// and file:// are", scheme)
}

// read a regular file that is not too large.
func read(name string) ([]byte, error) {
	info, err := os.Stat(name) // before it is opened: opening a pipe waits
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("is no regular file")
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, MaxBytes+1))
}
