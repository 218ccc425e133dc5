package trace

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// Redacted stands where a secret stood.
const Redacted = "[redacted]"

const (
	redacted = Redacted
	// minSecret: shorter texts would be found everywhere.
	minSecret = 4
)

// Redactor takes secrets out of text and JSON. The zero value and nil know none.
type Redactor struct {
	forms [][]byte // as they are, and as they look inside JSON; longest first
}

// NewRedactor knows the given secrets; those shorter than four bytes are ignored.
func NewRedactor(secrets []string) *Redactor {
	r := &Redactor{}
	for _, s := range secrets {
		s = strings.TrimSpace(s)
		if len(s) < minSecret {
			continue
		}
		// A secret may stand in a text, in a text inside a text (arguments), and escaped as encoding/json does.
		once := inner(AppendString(nil, s))
		twice := inner(AppendString(nil, string(once)))
		html, err := json.Marshal(s)
		if err != nil {
			html = once
		}
		for _, form := range [][]byte{[]byte(s), once, twice, inner(html)} {
			if !slices.ContainsFunc(r.forms, func(f []byte) bool { return bytes.Equal(f, form) }) {
				r.forms = append(r.forms, form)
			}
		}
	}
	slices.SortStableFunc(r.forms, func(a, b []byte) int { return len(b) - len(a) })
	return r
}

func inner(quoted []byte) []byte { return bytes.Trim(quoted, `"`) }

// Text without secrets, as they are and as JSON writes them.
func (r *Redactor) Text(s string) string {
	if !r.Holds(s) {
		return s
	}
	for _, form := range r.forms {
		s = strings.ReplaceAll(s, string(form), redacted)
	}
	return s
}

// Holds says whether a secret is in the text, as it is or as JSON writes it.
func (r *Redactor) Holds(s string) bool {
	if r == nil {
		return false
	}
	for _, form := range r.forms {
		if strings.Contains(s, string(form)) {
			return true
		}
	}
	return false
}

// JSON without secrets: still valid JSON.
func (r *Redactor) JSON(b []byte) []byte {
	if r == nil {
		return b
	}
	found := false
	for _, form := range r.forms {
		if bytes.Contains(b, form) {
			found = true
			b = bytes.ReplaceAll(b, form, []byte(redacted))
		}
	}
	if found && !json.Valid(b) {
		return []byte(`{"redacted":true}`)
	}
	return b
}
