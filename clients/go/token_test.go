package memsidecar

import (
	"os"
	"path/filepath"
	"testing"
)

func TestATokenFileIsReadAgainWhenItChanges(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	file := &tokenFile{path: path}
	if _, err := file.token(); err == nil {
		t.Error("there is no file, and it was read")
	}
	for _, step := range []struct{ text, token string }{
		{"  first\n\n", "first"},
		{"", "first"},
		{"second", "second"},
		{"third.", "third."},
	} {
		replace(t, path, step.text)
		for range 2 {
			if token, err := file.token(); token != step.token || err != nil {
				t.Errorf("%q was read as %q, %v", step.text, token, err)
			}
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if token, err := file.token(); token != "third." || err != nil {
		t.Errorf("while the file is away: %q, %v", token, err)
	}
	replace(t, path, "two words")
	if token, err := file.token(); err == nil {
		t.Errorf("two words were read as %q", token)
	}
}

// replace puts another file in the place of one, as those do who rotate tokens.
func replace(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}
