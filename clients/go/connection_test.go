package memsidecar

import (
	"strings"
	"testing"
	"time"
)

func TestWhatStaysOnTheMachine(t *testing.T) {
	for address, stays := range map[string]bool{
		"127.0.0.1:7600":          true,
		"127.8.8.8:7600":          true,
		"localhost:7600":          true,
		"LOCALHOST:7600":          true,
		"[::1]:7600":              true,
		"[::ffff:127.0.0.1]:7600": true,
		"unix:/run/memory.sock":   true,
		"0.0.0.0:7600":            false,
		"10.0.0.1:7600":           false,
		"[2001:db8::1]:7600":      false,
		"localhost.example:7600":  false,
		"127.0.0.1.example:7600":  false,
		"memory.example:7600":     false,
	} {
		if staysHere(address) != stays {
			t.Errorf("%s stays here: %t", address, !stays)
		}
	}
}

func TestAddressesInTheWordsOfGRPC(t *testing.T) {
	for address, target := range map[string]string{
		"127.0.0.1:7600":        "passthrough:///127.0.0.1:7600",
		"memory.example:7600":   "passthrough:///memory.example:7600",
		"[::1]:7600":            "passthrough:///%5B::1%5D:7600",
		"[fe80::1%eth0]:7600":   "passthrough:///%5Bfe80::1%25eth0%5D:7600",
		"unix:/run/memory.sock": "unix:///run/memory.sock",
		"unix:///run/a b.sock":  "unix:///run/a%20b.sock",
	} {
		if found, err := targetOf(address); found != target || err != nil {
			t.Errorf("%s: %s, %v", address, found, err)
		}
	}
	for _, address := range []string{
		"localhost", ":7600", "localhost:", "::1:7600", "http://localhost:7600", "localhost:0", "localhost:99999",
		"localhost:http", "localhost:-1", "[localhost]:7600", "me@localhost:7600", "a b:7600", "unix:", "unix:// ",
		"unix://run/memory.sock",
	} {
		if target, err := targetOf(address); err == nil {
			t.Errorf("%s was taken as %s", address, target)
		}
	}
}

func TestConflictingOptionsAreRejected(t *testing.T) {
	for _, refused := range []struct {
		why     string
		options []Option
	}{
		{"clear", []Option{WithAddress("memory.example:7600"), WithToken("secret")}},
		{"not both", []Option{WithToken("secret"), WithTokenFile("token")}},
		{"switched off", []Option{WithTLS(false), WithCAFile("ca.pem")}},
		{"belong together", []Option{WithClientCertificate("certificate.pem", "")}},
		{"no such file", []Option{WithCAFile("nothing.pem")}},
		{"no certificate", []Option{WithCAFile("LICENSE")}},
		{"no token has", []Option{WithToken("two words")}},
		{"no token has", []Option{WithToken("t\u00f6k")}},
		{"at least once", []Option{WithAttempts(0)}},
		{"negative", []Option{WithTimeout(-1)}},
		{"neither", []Option{WithAddress("somewhere")}},
	} {
		if _, err := New(refused.options...); err == nil || !strings.Contains(err.Error(), refused.why) {
			t.Errorf("%s: %v", refused.why, err)
		}
	}
}

func TestATimeoutIsMoreThanNothingOrNone(t *testing.T) {
	if _, err := New(WithTimeout(-time.Second)); err == nil || !strings.Contains(err.Error(), "timeout must be more than 0") {
		t.Errorf("%v", err)
	}
	client, err := New(WithTimeout(0))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ctx, cancel := client.withTimeout(t.Context())
	defer cancel()
	if _, bounded := ctx.Deadline(); bounded {
		t.Error("0 is a deadline")
	}
}

func TestTheEnvironmentSetsWhatNoOptionSets(t *testing.T) {
	t.Setenv("MEMSIDECAR_ADDRESS", "memory.example:7600")
	t.Setenv("MEMSIDECAR_TOKEN", "secret")
	t.Setenv("MEMSIDECAR_TOKEN_FILE", "nothing")
	t.Setenv("MEMSIDECAR_TLS", "true")
	s, err := settingsOf(nil)
	if err != nil {
		t.Fatal(err)
	}
	if s.address != "memory.example:7600" || *s.token != "secret" || s.tokenFile != "" || !s.encrypted() {
		t.Errorf("%+v", s)
	}
	s, err = settingsOf([]Option{WithAddress("localhost:1"), WithToken(""), WithTLS(false)})
	if err != nil {
		t.Fatal(err)
	}
	if s.address != "localhost:1" || s.hasToken() || s.encrypted() {
		t.Errorf("%+v", s)
	}
}

func TestABlankVariableIsNotSet(t *testing.T) {
	for _, name := range []string{"ADDRESS", "TOKEN", "TLS", "CA_FILE"} {
		t.Setenv("MEMSIDECAR_"+name, " ")
	}
	t.Setenv("MEMSIDECAR_TOKEN_FILE", "a file")
	s, err := settingsOf(nil)
	if err != nil || s.address != defaultAddress || s.token != nil || s.tokenFile != "a file" || s.encrypted() {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestTLSInTheEnvironmentIsTrueOrFalse(t *testing.T) {
	for text, encrypted := range map[string]bool{" TRUE\n": true, "False": false, "": false} {
		t.Setenv("MEMSIDECAR_TLS", text)
		if s, err := settingsOf(nil); err != nil || s.encrypted() != encrypted {
			t.Errorf("%q: %v", text, err)
		}
	}
	t.Setenv("MEMSIDECAR_TLS", "yes")
	if _, err := New(); err == nil || !strings.Contains(err.Error(), "neither true nor false") {
		t.Errorf("%v", err)
	}
	t.Setenv("MEMSIDECAR_TLS", "false")
	t.Setenv("MEMSIDECAR_CA_FILE", "ca.pem")
	if _, err := New(); err == nil || !strings.Contains(err.Error(), "switched off") {
		t.Errorf("%v", err)
	}
}
