package urdf

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Bounds of what is read: a description of a robot is far below them.
const (
	maxBytes    = 16 << 20
	maxDepth    = 64
	maxElements = 200_000
)

// element is an XML element with the line on which it begins. Text between elements means nothing in a description.
type element struct {
	name     string
	line     int
	attrs    []xml.Attr
	children []*element
}

// readXML reads one document.
func readXML(data []byte) (*element, error) {
	if len(data) > maxBytes {
		return nil, &Error{Reason: ErrTooLarge, What: fmt.Sprintf("%d bytes, at most %d", len(data), maxBytes)}
	}
	d := xml.NewDecoder(bytes.NewReader(data))
	var root *element
	var open []*element
	count := 0
	for {
		line, _ := d.InputPos() // a token begins where the one before ends
		tok, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, syntax(d, err)
		}
		switch t := tok.(type) {
		case xml.StartElement:
			if count++; count > maxElements {
				return nil, &Error{Line: line, Reason: ErrTooLarge, What: fmt.Sprintf("more than %d elements", maxElements)}
			}
			if len(open) >= maxDepth {
				return nil, &Error{Line: line, Reason: ErrTooLarge, What: fmt.Sprintf("elements nested deeper than %d", maxDepth)}
			}
			e := &element{name: qualified(t.Name), line: line, attrs: t.Attr}
			if err := e.uniqueAttrs(); err != nil {
				return nil, err
			}
			switch {
			case len(open) > 0:
				p := open[len(open)-1]
				p.children = append(p.children, e)
			case root != nil:
				return nil, &Error{Line: line, Where: e.where(), Reason: ErrSyntax, What: fmt.Sprintf("a second document begins after <%s> has ended", root.name)}
			default:
				root = e
			}
			open = append(open, e)
		case xml.EndElement:
			if len(open) == 0 || open[len(open)-1].name != qualified(t.Name) {
				return nil, &Error{Line: line, Reason: ErrSyntax, What: fmt.Sprintf("</%s> ends nothing that is open", qualified(t.Name))}
			}
			open = open[:len(open)-1]
		case xml.CharData:
			if len(open) == 0 && len(bytes.TrimSpace(t)) > 0 {
				return nil, &Error{Line: line, Reason: ErrSyntax, What: "text outside of any element"}
			}
		case xml.ProcInst, xml.Directive, xml.Comment:
		}
	}
	line, _ := d.InputPos()
	if len(open) > 0 {
		e := open[len(open)-1]
		return nil, &Error{Line: line, Where: e.where(), Reason: ErrSyntax, What: fmt.Sprintf("<%s> of line %d is not closed", e.name, e.line)}
	}
	if root == nil {
		return nil, &Error{Line: line, Reason: ErrSyntax, What: "there is no element"}
	}
	return root, nil
}

func syntax(d *xml.Decoder, err error) error {
	line, _ := d.InputPos()
	what := err.Error()
	var s *xml.SyntaxError
	if errors.As(err, &s) {
		line, what = s.Line, s.Msg
	}
	return &Error{Line: line, Reason: ErrSyntax, What: what}
}

func qualified(n xml.Name) string {
	if n.Space != "" {
		return n.Space + ":" + n.Local
	}
	return n.Local
}

// where names the element in errors.
func (e *element) where() string {
	if n, ok := e.attr("name"); ok && n != "" {
		return fmt.Sprintf("%s %q", e.name, n)
	}
	return e.name
}

func (e *element) errorf(reason error, format string, args ...any) *Error {
	return &Error{Line: e.line, Where: e.where(), Reason: reason, What: fmt.Sprintf(format, args...)}
}

func (e *element) uniqueAttrs() error {
	for i, a := range e.attrs {
		for _, b := range e.attrs[:i] {
			if a.Name == b.Name {
				return e.errorf(ErrSyntax, "attribute %s is given twice", qualified(a.Name))
			}
		}
	}
	return nil
}

func (e *element) attr(name string) (string, bool) {
	for _, a := range e.attrs {
		if a.Name.Space == "" && a.Name.Local == name {
			return a.Value, true
		}
	}
	return "", false
}

// only gives the one child of that name; nil where there is none, an error where there are more.
func (e *element) only(name string) (*element, error) {
	var found *element
	for _, c := range e.children {
		if c.name != name {
			continue
		}
		if found != nil {
			return nil, c.errorf(ErrElement, "the %s has a second <%s>; the first is on line %d", e.where(), name, found.line)
		}
		found = c
	}
	return found, nil
}

// need is only for a child that must be there.
func (e *element) need(name string) (*element, error) {
	c, err := e.only(name)
	if err == nil && c == nil {
		err = e.errorf(ErrElement, "has no <%s>", name)
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// text is an attribute that must be there and must not be blank at its ends: names are compared exactly.
func (e *element) text(name string) (string, error) {
	v, ok := e.attr(name)
	if !ok {
		return "", e.errorf(ErrElement, "has no attribute %s", name)
	}
	if v == "" || strings.TrimSpace(v) != v {
		return "", e.errorf(ErrName, "%s is %q, must be a name without blanks around it", name, v)
	}
	return v, nil
}
