// Package checks prints a line of JSON per check: {"check", "error"?}.
package checks

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// Line returns the document of a number.
func Line(n int) string {
	level := "info"
	if n%10 == 0 {
		level = "error"
	}
	return fmt.Sprintf(`{"n":%d,"@timestamp":%d,"level":%q,"message":"request %d was answered"}`, n, 1767312000000+n*1000, level, n)
}

// Check runs a check; what it returns is its error.
func Check(name string, run func() error) {
	result := map[string]string{"check": name}
	if err := run(); err != nil {
		result["error"] = err.Error()
	}
	_ = json.NewEncoder(os.Stdout).Encode(result)
}

// Answer is a response as both versions of the client have it.
type Answer interface {
	IsError() bool
	String() string
}

// Read decodes the body of an answer that isn't an error.
func Read(answer Answer, body io.ReadCloser, err error) (map[string]any, error) {
	if err != nil {
		return nil, err
	}
	defer body.Close()
	if answer.IsError() {
		return nil, fmt.Errorf("%.400s", answer.String())
	}
	found := map[string]any{}
	return found, json.NewDecoder(body).Decode(&found)
}

// Equal compares the printed forms.
func Equal(found, wanted any) error {
	if fmt.Sprint(found) != fmt.Sprint(wanted) {
		return fmt.Errorf("%v instead of %v", found, wanted)
	}
	return nil
}
