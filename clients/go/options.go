package memsidecar

import (
	"errors"
	"os"
	"strings"
	"time"

	"google.golang.org/grpc"
)

const (
	defaultAddress  = "127.0.0.1:7600"
	defaultTimeout  = 10 * time.Second
	defaultAttempts = 4
)

// Option changes something about a client that is about to be made; see [New].
type Option func(*settings)

// settings is what the caller said; what is nil or empty was not given.
type settings struct {
	address         string
	token           *string
	tokenFile       string
	tls             *bool
	caFile          string
	certificateFile string
	keyFile         string
	timeout         time.Duration
	attempts        int
	tokenInClear    bool
	dialOptions     []grpc.DialOption
}

// WithAddress says where the sidecar is: "host:port" or "unix:/path". Without it: MEMSIDECAR_ADDRESS, else
// 127.0.0.1:7600.
func WithAddress(address string) Option {
	return func(s *settings) { s.address = address }
}

// WithToken says what to show to the sidecar. Without it and [WithTokenFile]: MEMSIDECAR_TOKEN, else the file that
// MEMSIDECAR_TOKEN_FILE names, else nothing. An empty one means nothing, whatever the environment says.
func WithToken(token string) Option {
	return func(s *settings) { s.token = &token }
}

// WithTokenFile names a file with the token. It is read again when it changes, so that a token can be rotated under a
// running agent; while it holds none, the last token stays.
func WithTokenFile(path string) Option {
	return func(s *settings) { s.tokenFile = path }
}

// WithTLS says whether to speak TLS. Without [WithCAFile] the authorities that the system trusts are trusted. Where
// neither this nor a file is given, MEMSIDECAR_TLS (true or false), MEMSIDECAR_CA_FILE, MEMSIDECAR_CLIENT_CERTIFICATE_FILE and
// MEMSIDECAR_CLIENT_KEY_FILE say; where these are not set, either, nothing is encrypted.
func WithTLS(enabled bool) Option {
	return func(s *settings) { s.tls = &enabled }
}

// WithCAFile names a file with the authorities that sign the sidecar's certificate, and means TLS.
func WithCAFile(path string) Option {
	return func(s *settings) { s.caFile = path }
}

// WithClientCertificate names the files of the client's own certificate and its key, for a sidecar that wants one, and
// means TLS.
func WithClientCertificate(certificateFile, keyFile string) Option {
	return func(s *settings) { s.certificateFile, s.keyFile = certificateFile, keyFile }
}

// WithTimeout says how long a call may take, retries included, where its context has no deadline: more than 0. Without
// it: 10 seconds. 0 means none, as in [net/http.Client]: as long as the sidecar likes. Streams have no timeout.
func WithTimeout(timeout time.Duration) Option {
	return func(s *settings) { s.timeout = timeout }
}

// WithAttempts says how often a call is sent at most. Without it: 4. 1: no retry.
func WithAttempts(attempts int) Option {
	return func(s *settings) { s.attempts = attempts }
}

// WithTokenInClear lets a token leave the machine without TLS. Without it such a client is not made.
func WithTokenInClear() Option {
	return func(s *settings) { s.tokenInClear = true }
}

// WithDialOptions passes options on to gRPC, for interceptors and statistics. They are applied last.
func WithDialOptions(options ...grpc.DialOption) Option {
	return func(s *settings) { s.dialOptions = append(s.dialOptions, options...) }
}

// settingsOf is what the caller said, then what the environment says, then the defaults.
func settingsOf(options []Option) (*settings, error) {
	s := &settings{timeout: defaultTimeout, attempts: defaultAttempts}
	for _, option := range options {
		option(s)
	}
	s.address = firstOf(s.address, variable("MEMSIDECAR_ADDRESS"), defaultAddress)
	s.takeTokenFromEnvironment()
	return s, s.takeTLSFromEnvironment()
}

func (s *settings) takeTokenFromEnvironment() {
	if s.token != nil || s.tokenFile != "" {
		return
	}
	if token := variable("MEMSIDECAR_TOKEN"); token != "" {
		s.token = &token
	} else {
		s.tokenFile = variable("MEMSIDECAR_TOKEN_FILE")
	}
}

// takeTLSFromEnvironment asks it only where the caller says nothing about TLS.
func (s *settings) takeTLSFromEnvironment() error {
	if s.tls != nil || s.hasTLSFiles() {
		return nil
	}
	switch strings.ToLower(strings.TrimSpace(variable("MEMSIDECAR_TLS"))) {
	case "":
	case "true":
		s.tls = new(true)
	case "false":
		s.tls = new(false)
	default:
		return errors.New("memsidecar: MEMSIDECAR_TLS is neither true nor false")
	}
	s.caFile = variable("MEMSIDECAR_CA_FILE")
	s.certificateFile = variable("MEMSIDECAR_CLIENT_CERTIFICATE_FILE")
	s.keyFile = variable("MEMSIDECAR_CLIENT_KEY_FILE")
	return nil
}

// variable is one of the environment. A blank one is as if it were not set.
func variable(name string) string {
	text := os.Getenv(name)
	if strings.TrimSpace(text) == "" {
		return ""
	}
	return text
}

func (s *settings) hasTLSFiles() bool {
	return s.caFile != "" || s.certificateFile != "" || s.keyFile != ""
}

func (s *settings) hasToken() bool {
	return s.tokenFile != "" || s.token != nil && strings.TrimSpace(*s.token) != ""
}

// encrypted says whether TLS is spoken.
func (s *settings) encrypted() bool {
	return s.hasTLSFiles() || s.tls != nil && *s.tls
}

func firstOf(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}
