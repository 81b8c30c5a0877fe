package memsidecar

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestATokenFileIsReadAgainWhenItChanges(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	file := &tokenFile{path: path}
	if file.read() == nil {
		t.Error("there is no file, and it was read")
	}
	for _, step := range []struct{ text, token string }{
		{"  first\n\n", "first"},
		{"", "first"},
		{"second", "second"},
		{"two words", "second"},
		{"t\u00f6k", "second"},
		{"third.", "third."},
	} {
		replace(t, path, step.text)
		for range 2 {
			if token := file.token(); token != step.token {
				t.Errorf("%q was read as %q", step.text, token)
			}
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if token := file.token(); token != "third." {
		t.Errorf("while the file is away: %q", token)
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if token := file.token(); token != "third." {
		t.Errorf("while the file is a directory: %q", token)
	}
}

func TestAnInvalidTokenIsRejectedAndNotShown(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	replace(t, path, "half-a secret")
	for _, option := range []Option{WithToken("half-a secret"), WithTokenFile(path)} {
		if _, err := New(option); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%v", err)
		}
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
