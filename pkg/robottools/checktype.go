package robottools

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/types"
)

// wanted is what an expression has to yield where it stands.
type wanted string

const (
	wantAny    wanted = ""
	wantBool   wanted = "true or false"
	wantNumber wanted = "a number"
	wantList   wanted = "a list"
	wantTexts  wanted = "a list of strings"
	wantMap    wanted = "a map"
)

// takes a type that is known before anything is evaluated. Dynamic ones, such as a field of a message, are judged when they are there.
func (w wanted) takes(t *cel.Type) bool {
	if t.Kind() == types.DynKind || w == wantAny {
		return true
	}
	switch w {
	case wantBool:
		return t.Kind() == types.BoolKind
	case wantNumber:
		return slices.Contains([]types.Kind{types.DoubleKind, types.IntKind, types.UintKind}, t.Kind())
	case wantList:
		return t.Kind() == types.ListKind
	case wantTexts:
		return t.Kind() == types.ListKind && slices.ContainsFunc(t.Parameters(), func(e *cel.Type) bool {
			return slices.Contains([]types.Kind{types.DynKind, types.StringKind, types.TypeParamKind}, e.Kind())
		})
	case wantMap:
		return t.Kind() == types.MapKind
	case wantAny:
	}
	return true
}

// checkTree judges what an expression yields, and which arguments it reads. The schema of the arguments is nil where there is no call.
func checkTree(tree *cel.Ast, want wanted, arguments *schemaNode) error {
	if t := tree.OutputType(); !want.takes(t) {
		return fmt.Errorf("yields a %s, wanted %s", t, want)
	}
	if arguments == nil {
		return nil
	}
	root := ast.NavigateAST(tree.NativeRep())
	for _, e := range ast.MatchDescendants(root, ast.KindMatcher(ast.SelectKind)) {
		if err := arguments.knows(e.AsSelect()); err != nil {
			return err
		}
	}
	return nil
}

// schemaNode is as much of an object's JSON Schema as tells which names it has.
type schemaNode struct {
	Properties           map[string]*schemaNode `json:"properties"`
	AdditionalProperties any                    `json:"additionalProperties"`
}

// argumentsOf a tool: nil where its schema cannot be read, which is told elsewhere. A tool without one has none.
func argumentsOf(raw json.RawMessage) *schemaNode {
	n := &schemaNode{}
	if len(raw) > 0 && json.Unmarshal(raw, n) != nil {
		return nil
	}
	n.AdditionalProperties = false
	return n
}

// knows the name that a selection reads below args.
func (n *schemaNode) knows(sel ast.SelectExpr) error {
	of, path, ok := n.at(sel.Operand())
	if !ok || of == nil || of.AdditionalProperties != false {
		return nil
	}
	if _, known := of.Properties[sel.FieldName()]; known {
		return nil
	}
	names := make([]string, 0, len(of.Properties))
	for name := range of.Properties {
		names = append(names, name)
	}
	slices.Sort(names)
	return fmt.Errorf("%s.%s is no argument: %s has %s", path, sel.FieldName(), path, orNone(names))
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// at is the schema of what an expression reads, where that is args or below it.
func (n *schemaNode) at(e ast.Expr) (of *schemaNode, path string, ok bool) {
	switch e.Kind() {
	case ast.IdentKind:
		return n, "args", e.AsIdent() == "args"
	case ast.SelectKind:
		sel := e.AsSelect()
		of, path, ok = n.at(sel.Operand())
		if !ok || of == nil {
			return nil, "", false
		}
		return of.Properties[sel.FieldName()], path + "." + sel.FieldName(), true
	case ast.UnspecifiedExprKind, ast.CallKind, ast.ComprehensionKind, ast.ListKind, ast.LiteralKind, ast.MapKind, ast.StructKind:
	}
	return nil, "", false
}
