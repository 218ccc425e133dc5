package node

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Keys come from a file that is named, else from the environment; what cannot be a key is told by nothing of it.
func TestAPIKeys(t *testing.T) {
	t.Setenv("THE_KEY", "sk-of-the-environment")
	file := filepath.Join(t.TempDir(), "key")
	for name, c := range map[string]struct{ content, key, says string }{
		"a key":                    {"sk-planted-4711", "sk-planted-4711", ""},
		"a key on a line":          {"\n  sk-planted-4711\r\n", "sk-planted-4711", ""},
		"two words":                {"sk-planted 4711", "", "more than one word"},
		"two lines":                {"sk-planted\n4711", "", "more than one word"},
		"nothing":                  {" \n", "", "is empty"},
		"too long":                 {strings.Repeat("sk-planted", 2000), "", "over 16384 bytes"},
		"not for a header":         {"sk-plantéd", "", "no HTTP header"},
		"no bytes of an encoding":  {"sk-planted\xff", "", "no HTTP header"},
		"a character that rings":   {"sk-planted\a", "", "no HTTP header"},
		"a key at the limit's end": {strings.Repeat("k", maxKey), strings.Repeat("k", maxKey), ""},
	} {
		if err := os.WriteFile(file, []byte(c.content), 0o600); err != nil {
			t.Fatal(err)
		}
		key, err := apiKey(file, "THE_KEY")
		switch {
		case key != c.key, (err != nil) != (c.says != ""):
			t.Errorf("%s: %.40q %v", name, key, err)
		case err != nil && (!strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "sk-")):
			t.Errorf("%s: %v", name, err)
		}
	}
	if key, err := apiKey("", "THE_KEY"); key != "sk-of-the-environment" || err != nil {
		t.Errorf("%q %v", key, err)
	}
	if key, err := apiKey("", "NO_SUCH_KEY_4711"); key != "" || err != nil {
		t.Errorf("%q %v", key, err)
	}
	if key, err := apiKey(file+"s", "THE_KEY"); key != "" || err == nil {
		t.Errorf("a file that is not there: %q %v", key, err)
	}
	if key, err := apiKey(filepath.Dir(file), "THE_KEY"); key != "" || err == nil {
		t.Errorf("a folder: %q %v", key, err)
	}
}

func TestWhatOthersOnTheWayCanRead(t *testing.T) {
	for url, want := range map[string]bool{
		"https://api.example.com/v1": false, "http://api.example.com/v1": true, "http://localhost:8080/v1": false, "http://127.0.0.1:1/v1": false,
		"http://[::1]:1/v1": false, "http://192.168.1.5/v1": true, "://": false,
	} {
		if readable(url) != want {
			t.Errorf("%s: %v", url, !want)
		}
	}
}
