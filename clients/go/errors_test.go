package memsidecar

import (
	"testing"

	pb "github.com/memsidecar/memsidecar/clients/go/memsidecarpb"
)

func TestTheRequiredTokensAreWhatABudgetTakes(t *testing.T) {
	failed := &Error{Metadata: map[string]string{
		"required_tokens": "321", "item": "pinned facts", "last_sequence": "4294967296",
	}}
	var request pb.BuildContextRequest
	if request.MaxTokens, _ = failed.RequiredTokens(); request.MaxTokens != 321 {
		t.Errorf("%d", request.MaxTokens)
	}
	if failed.Item() != "pinned facts" {
		t.Errorf("%q", failed.Item())
	}
	if last, ok := failed.LastSequence(); last != 1<<32 || !ok {
		t.Errorf("%d, %t", last, ok)
	}
	for _, value := range []string{"", "many", "4294967296"} {
		failed.Metadata["required_tokens"] = value
		if tokens, ok := failed.RequiredTokens(); tokens != 0 || ok {
			t.Errorf("%q: %d, %t", value, tokens, ok)
		}
	}
}
