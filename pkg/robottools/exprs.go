package robottools

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Expr is one named CEL expression.
type Expr struct{ Name, CEL string }

// Exprs is a mapping of names to CEL expressions in the order of the file.
type Exprs []Expr

// UnmarshalJSON keeps the order of the object's members.
func (e *Exprs) UnmarshalJSON(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return fmt.Errorf("robottools: a mapping of names to expressions is wanted, got %.40s", data)
	}
	for d.More() {
		k, err := d.Token()
		if err != nil {
			return fmt.Errorf("robottools: %w", err)
		}
		var v string
		if err := d.Decode(&v); err != nil {
			return fmt.Errorf("robottools: expression of %v: %w", k, err)
		}
		*e = append(*e, Expr{k.(string), v})
	}
	return nil
}
