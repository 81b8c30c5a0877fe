package memsidecar

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"google.golang.org/grpc/credentials"
)

// bearer adds a token to every call.
type bearer func() string

func (b bearer) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"authorization": "Bearer " + b()}, nil
}

// RequireTransportSecurity is false: where a token may go in the clear was decided when the client was made.
func (b bearer) RequireTransportSecurity() bool {
	return false
}

func tokenCredentials(s *settings) (credentials.PerRPCCredentials, error) {
	if s.token != nil && s.tokenFile != "" {
		return nil, errors.New("memsidecar: give a token or a token file, not both")
	}
	if s.tokenFile != "" {
		file := &tokenFile{path: s.tokenFile}
		return bearer(file.token), file.read()
	}
	token, err := tokenOf(*s.token)
	if err != nil {
		return nil, fmt.Errorf("memsidecar: the token %w", err)
	}
	return bearer(func() string { return token }), nil
}

// tokenFile is read again when it changes. While it is missing, empty or invalid, which happens for a moment when it is
// replaced, the last token stays.
type tokenFile struct {
	path string

	mu   sync.Mutex
	seen os.FileInfo
	last string
}

func (f *tokenFile) token() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if found, err := os.Stat(f.path); err == nil && !isSame(f.seen, found) {
		_ = f.read()
	}
	return f.last
}

// read takes what the file holds; an error changes nothing. The file is looked at before it is read: what is written
// between the two is read with the next call.
func (f *tokenFile) read() error {
	found, err := os.Stat(f.path)
	if err != nil {
		return fmt.Errorf("memsidecar: token file: %w", err)
	}
	text, err := os.ReadFile(f.path)
	if err != nil {
		return fmt.Errorf("memsidecar: token file: %w", err)
	}
	token, err := tokenOf(string(text))
	if err != nil {
		return fmt.Errorf("memsidecar: the token in %s %w", f.path, err)
	}
	f.seen, f.last = found, token
	return nil
}

func isSame(one, other os.FileInfo) bool {
	return os.SameFile(one, other) && one.Size() == other.Size() && one.ModTime().Equal(other.ModTime())
}

// tokenOf is the token without the white space around it: printable ASCII. The error does not tell what is wrong: it may
// be most of a token.
func tokenOf(text string) (string, error) {
	token := strings.TrimSpace(text)
	if token == "" {
		return "", errors.New("is empty")
	}
	for _, character := range token {
		if character <= ' ' || character > '~' {
			return "", errors.New("has characters in it that no token has")
		}
	}
	return token, nil
}
