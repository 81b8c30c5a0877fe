package memsidecar

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"

	"google.golang.org/grpc/credentials"
)

// bearer shows a token with every call, from wherever it is.
type bearer func() (string, error)

func (b bearer) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	token, err := b()
	if err != nil {
		return nil, err
	}
	return map[string]string{"authorization": "Bearer " + token}, nil
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
		_, err := file.token()
		return bearer(file.token), err
	}
	token, err := tokenOf(*s.token)
	if err != nil {
		return nil, fmt.Errorf("memsidecar: the token %w", err)
	}
	return bearer(func() (string, error) { return token, nil }), nil
}

// tokenFile is read again when it changes. While it is away or empty, which happens for a moment when it is replaced,
// the last token stays.
type tokenFile struct {
	path string

	mu   sync.Mutex
	seen os.FileInfo
	last string
}

func (f *tokenFile) token() (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	found, err := os.Stat(f.path)
	if f.last != "" && (errors.Is(err, fs.ErrNotExist) || err == nil && isSame(f.seen, found)) {
		return f.last, nil
	}
	if err != nil {
		return "", fmt.Errorf("memsidecar: token file: %w", err)
	}
	if err := f.read(); err != nil {
		return "", err
	}
	f.seen = found
	return f.last, nil
}

func (f *tokenFile) read() error {
	text, err := os.ReadFile(f.path)
	if err != nil {
		return fmt.Errorf("memsidecar: token file: %w", err)
	}
	token, err := tokenOf(string(text))
	if errors.Is(err, errNoToken) && f.last != "" {
		return nil
	}
	if err != nil {
		return fmt.Errorf("memsidecar: the token in %s %w", f.path, err)
	}
	f.last = token
	return nil
}

func isSame(one, other os.FileInfo) bool {
	return os.SameFile(one, other) && one.Size() == other.Size() && one.ModTime().Equal(other.ModTime())
}

var errNoToken = errors.New("is empty")

// tokenOf is the token without the white space around it. What cannot be sent in a header is none.
func tokenOf(text string) (string, error) {
	token := strings.TrimSpace(text)
	if token == "" {
		return "", errNoToken
	}
	for _, character := range token {
		if character <= ' ' || character > '~' {
			return "", errors.New("has characters in it that no token has")
		}
	}
	return token, nil
}
