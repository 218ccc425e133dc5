//go:build ros2

package ros2

/*
#cgo LDFLAGS: -ldl -lrcl -lrmw -lrosidl_runtime_c -lrcutils
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

typedef struct an_library_s
{
  void * handle;
  char * error;  // the caller's to free
} an_library_t;

// dlerror is per thread, so it is read in the same call.
static an_library_t an_open_library(const char * path)
{
  an_library_t library = {dlopen(path, RTLD_NOW | RTLD_LOCAL), NULL};
  if (NULL == library.handle) {
    const char * text = dlerror();
    library.error = strdup(NULL == text ? "unknown" : text);
  }
  return library;
}
*/
import "C"

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unsafe"
)

// interfacePackage holds the opened libraries of one interface package. They stay open for the
// life of the process: types and messages point into them.
type interfacePackage struct {
	introspection, typesupport unsafe.Pointer // dlopen handles
	where                      string         // for errors
}

// prefixesFromEnvironment lists AMENT_PREFIX_PATH.
func prefixesFromEnvironment() []string {
	prefixes := filepath.SplitList(os.Getenv("AMENT_PREFIX_PATH"))
	return slices.DeleteFunc(prefixes, func(p string) bool { return p == "" })
}

// openPackage opens an interface package's libraries from the first prefix that has them, else from where
// the loader looks anyway.
func openPackage(prefixes []string, name string) (*interfacePackage, error) {
	file := func(kind string) string { return "lib" + name + "__rosidl_" + kind + ".so" }
	prefix := ""
	for _, p := range prefixes {
		if _, err := os.Stat(filepath.Join(p, "lib", file("typesupport_introspection_c"))); err == nil {
			prefix = p
			break
		}
	}
	var pkg interfacePackage
	path := func(kind string) string { return file(kind) }
	if prefix != "" {
		pkg.where = filepath.Join(prefix, "lib")
		path = func(kind string) string { return filepath.Join(prefix, "lib", file(kind)) }
		// The middleware asks the loader for its own type support by bare name, which finds what is open already
		// even where the prefix is not on the loader's path.
		others, err := filepath.Glob(filepath.Join(prefix, "lib", "lib"+name+"__rosidl_typesupport_*_c.so"))
		if err != nil {
			return nil, err
		}
		for _, other := range others {
			if _, err := openLibrary(prefixes, other); err != nil {
				return nil, err
			}
		}
	}
	var err error
	if pkg.introspection, err = openLibrary(prefixes, path("typesupport_introspection_c")); err != nil {
		if prefix == "" {
			return nil, fmt.Errorf("no package %s: looked for %s in lib of AMENT_PREFIX_PATH (%s) and on the loader's path: %w",
				name, file("typesupport_introspection_c"), listed(prefixes), err)
		}
		return nil, err
	}
	if pkg.typesupport, err = openLibrary(prefixes, path("typesupport_c")); err != nil {
		return nil, err
	}
	if prefix == "" {
		pkg.where = "the loader's path"
	}
	return &pkg, nil
}

func listed(prefixes []string) string {
	if len(prefixes) == 0 {
		return "not set"
	}
	return strings.Join(prefixes, string(filepath.ListSeparator))
}

var missingLibrary = regexp.MustCompile(`^(lib[^/:\s]+\.so[^/:\s]*): cannot open shared object file`)

// openLibrary opens a library, and before it those that it needs and that the loader finds only below one of the
// prefixes: a prefix in AMENT_PREFIX_PATH need not be in LD_LIBRARY_PATH.
func openLibrary(prefixes []string, path string) (unsafe.Pointer, error) {
	tried := map[string]bool{}
	for {
		cpath := C.CString(path)
		library := C.an_open_library(cpath)
		C.free(unsafe.Pointer(cpath))
		if library.handle != nil {
			return library.handle, nil
		}
		text := C.GoString(library.error)
		C.free(unsafe.Pointer(library.error))
		missing := missingLibrary.FindStringSubmatch(text)
		if missing == nil || tried[missing[1]] || missing[1] == filepath.Base(path) {
			return nil, fmt.Errorf("open %s: %s", path, text)
		}
		tried[missing[1]] = true
		if !openDependency(prefixes, missing[1]) {
			return nil, fmt.Errorf("open %s: %s", path, text)
		}
	}
}

func openDependency(prefixes []string, file string) bool {
	for _, p := range prefixes {
		path := filepath.Join(p, "lib", file)
		if _, err := os.Stat(path); err != nil {
			continue
		}
		if _, err := openLibrary(prefixes, path); err == nil {
			return true
		}
	}
	return false
}

// symbol is a function of an opened library, nil if it has none of this name.
func symbol(library unsafe.Pointer, name string) unsafe.Pointer {
	cname := C.CString(name)
	defer C.free(unsafe.Pointer(cname))
	return C.dlsym(library, cname)
}
