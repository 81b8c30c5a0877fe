package memsidecar

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
)

// connect makes a connection that connects with its first call, out of settings that it checks.
func connect(s *settings) (*grpc.ClientConn, error) {
	target, err := targetOf(s.address)
	if err != nil {
		return nil, err
	}
	transport, err := transportCredentials(s)
	if err != nil {
		return nil, err
	}
	options := append(dialOptions(), grpc.WithTransportCredentials(transport))
	if s.hasToken() {
		shown, err := tokenCredentials(s)
		if err != nil {
			return nil, err
		}
		options = append(options, grpc.WithPerRPCCredentials(shown))
	}
	if staysHere(s.address) {
		// Regardless of the environment.
		options = append(options, grpc.WithNoProxy())
	}
	return grpc.NewClient(target, append(options, s.dialOptions...)...)
}

func dialOptions() []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithUserAgent("memsidecar-client-go/" + Version),
		// Keepalive detects a dead connection during a long call. Only during calls: servers close connections that ping
		// without calls, and the next call detects a dead idle connection.
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 30 * time.Second, Timeout: 10 * time.Second}),
		// gRPC waits up to two minutes before it looks for a server again; a sidecar is back within a second. The
		// longest delay stays below one, a fifth of it added.
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff: backoff.Config{
				BaseDelay:  100 * time.Millisecond,
				Multiplier: 1.6,
				Jitter:     0.2,
				MaxDelay:   800 * time.Millisecond,
			},
			MinConnectTimeout: 2 * time.Second,
		}),
		// gRPC's own retries are off: the client's policy reads RetryInfo.
		grpc.WithDisableRetry(),
		grpc.WithDisableServiceConfig(),
	}
}

// targetOf is the address in gRPC's words. Host names are left to the dialer, which asks for them each time it connects
// and tries all addresses; gRPC's own resolver asks at most twice a minute.
func targetOf(address string) (string, error) {
	path, isUnix := strings.CutPrefix(address, "unix:")
	switch {
	case isUnix && isPath(path):
		path, err := filepath.Abs(path)
		if err != nil {
			return "", fmt.Errorf("memsidecar: address %q: %w", address, err)
		}
		return (&url.URL{Scheme: "unix", Path: path}).String(), nil
	case !isUnix && isHostAndPort(address):
		return (&url.URL{Scheme: "passthrough", Path: "/" + address}).String(), nil
	}
	return "", fmt.Errorf("memsidecar: address %q is neither host:port nor unix:/path", address)
}

// isPath says whether there is one; behind "unix://" it is absolute.
func isPath(path string) bool {
	return strings.Trim(path, "/ ") != "" && (!strings.HasPrefix(path, "//") || strings.HasPrefix(path, "///"))
}

// isHostAndPort says whether the port is a number, and what is in brackets an IPv6 address.
func isHostAndPort(address string) bool {
	host, port, err := net.SplitHostPort(address)
	if err != nil || host == "" || strings.ContainsAny(host, "/@ \t\r\n") {
		return false
	}
	if number, err := strconv.ParseUint(port, 10, 16); err != nil || number == 0 {
		return false
	}
	if !strings.HasPrefix(address, "[") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Is6()
}

// staysHere says whether the address is a unix socket or loopback: what is sent there never sees a network.
func staysHere(address string) bool {
	if strings.HasPrefix(address, "unix:") {
		return true
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

func transportCredentials(s *settings) (credentials.TransportCredentials, error) {
	switch {
	case s.tls != nil && !*s.tls && s.hasTLSFiles():
		return nil, errors.New("memsidecar: files for TLS are given, and TLS is switched off")
	case (s.certificateFile == "") != (s.keyFile == ""):
		return nil, errors.New("memsidecar: the client's certificate and its key belong together")
	case !s.encrypted() && s.hasToken() && !s.tokenInClear && !staysHere(s.address):
		return nil, fmt.Errorf("memsidecar: a token would go to %s in the clear: use TLS, or WithTokenInClear", s.address)
	case !s.encrypted():
		return insecure.NewCredentials(), nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if err := trust(config, s.caFile); err != nil {
		return nil, err
	}
	if err := present(config, s.certificateFile, s.keyFile); err != nil {
		return nil, err
	}
	return credentials.NewTLS(config), nil
}

// trust takes the authorities of a file in place of the system's.
func trust(config *tls.Config, caFile string) error {
	if caFile == "" {
		return nil
	}
	text, err := os.ReadFile(caFile)
	if err != nil {
		return fmt.Errorf("memsidecar: authorities: %w", err)
	}
	config.RootCAs = x509.NewCertPool()
	if !config.RootCAs.AppendCertsFromPEM(text) {
		return fmt.Errorf("memsidecar: %s holds no certificate", caFile)
	}
	return nil
}

// present shows the client's own certificate to a sidecar that wants one.
func present(config *tls.Config, certificateFile, keyFile string) error {
	if certificateFile == "" {
		return nil
	}
	certificate, err := tls.LoadX509KeyPair(certificateFile, keyFile)
	if err != nil {
		return fmt.Errorf("memsidecar: the client's certificate: %w", err)
	}
	config.Certificates = []tls.Certificate{certificate}
	return nil
}
