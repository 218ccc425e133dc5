package draft

import (
	_ "embed"
	"math"
	"strconv"
	"strings"
	"text/template"
)

//go:embed profile.yaml.tmpl
var profileText string

// commentWidth is how long a line of the list at the end becomes.
const commentWidth = 140

// YAML is the profile as text.
func (d *Draft) YAML() string {
	t := template.Must(template.New("profile").Funcs(template.FuncMap{
		"q":       quote,
		"n":       number,
		"inc":     func(i int) int { return i + 1 },
		"share":   share,
		"list":    list,
		"list2":   func(p [2]string) string { return list(p[:]) },
		"keys":    func(m map[string][]float64) string { return list(sortedKeys(m)) },
		"floats":  floats,
		"corners": corners,
		"comment": comment,
	}).Parse(profileText))
	var b strings.Builder
	if err := t.Execute(&b, d); err != nil {
		panic(err) // the template is this package's own, and tests fill all of it
	}
	return b.String()
}

// share of a limit that a skill asks for: below it, and never more than what is gentle for any robot.
func share(limit, gentle float64) float64 {
	return math.Min(math.Max(math.Floor(limit*80)/100, 0.01), gentle)
}

// quote where YAML wants it.
func quote(s string) string {
	if safe(s) {
		return s
	}
	return strconv.Quote(s)
}

// safe is a word that YAML takes as it is, in flow style too.
func safe(s string) bool {
	switch strings.ToLower(s) {
	case "", "true", "false", "yes", "no", "on", "off", "null", "y", "n":
		return false
	}
	for i, c := range s {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 && c != '/' || !(c >= '0' && c <= '9' || c == '_' || c == '/' || c == ' ')) {
			return false
		}
	}
	return !strings.HasSuffix(s, " ")
}

// number with a dot, so that expressions take it for a double.
func number(v float64) string {
	s := strconv.FormatFloat(v, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

func list(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = quote(n)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

func floats(v []float64) string {
	texts := make([]string, len(v))
	for i, x := range v {
		texts[i] = number(x)
	}
	return "[" + strings.Join(texts, ", ") + "]"
}

func corners(v [][2]float64) string {
	texts := make([]string, len(v))
	for i, x := range v {
		texts[i] = floats(x[:])
	}
	return "[" + strings.Join(texts, ", ") + "]"
}

// comment is a list item in comment lines.
func comment(text string) string {
	var lines []string
	line := "# -"
	for _, word := range strings.Fields(text) {
		if len(line)+1+len(word) > commentWidth {
			lines = append(lines, line)
			line = "#  "
		}
		line += " " + word
	}
	return strings.Join(append(lines, line), "\n")
}
