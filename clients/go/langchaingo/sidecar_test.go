package langchaingo_test

import (
	"bufio"
	"encoding/json"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	memsidecar "github.com/memsidecar/memsidecar/clients/go"
)

// client talks to a sidecar that all tests share; each uses sessions of its own.
var (
	client  *memsidecar.Client
	address string
)

func TestMain(m *testing.M) {
	log.SetFlags(0)
	os.Exit(withSidecar(m.Run))
}

// withSidecar runs a real sidecar meanwhile. Where there is none, the tests fail.
func withSidecar(run func() int) int {
	folder, err := os.MkdirTemp("", "memsidecar-langchaingo-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	sidecar := command("serve", "--listen", "127.0.0.1:0", "--health-listen", "", "--http-listen", "", "--index", "volatile",
		"--data-dir", filepath.Join(folder, "data"))
	output, err := sidecar.StdoutPipe()
	if err != nil {
		log.Fatal(err)
	}
	if err := sidecar.Start(); err != nil {
		log.Fatalf("there is no sidecar to test with: %v (MEMSIDECAR_COMMAND names one)", err)
	}
	defer func() {
		sidecar.Process.Kill()
		sidecar.Wait()
	}()
	var ready struct{ Listen string }
	line, err := bufio.NewReader(output).ReadBytes('\n')
	if err != nil || json.Unmarshal(line, &ready) != nil || ready.Listen == "" {
		log.Printf("the sidecar did not start: %q, %v", line, err)
		return 1
	}
	address = ready.Listen
	client, err = memsidecar.New(memsidecar.WithAddress(address))
	if err != nil {
		log.Print(err)
		return 1
	}
	defer client.Close()
	return run()
}

// command is that of MEMSIDECAR_COMMAND, else what `make setup` installs at the root of the repository.
func command(arguments ...string) *exec.Cmd {
	words := strings.Fields(os.Getenv("MEMSIDECAR_COMMAND"))
	if len(words) == 0 {
		words = []string{filepath.Join("..", "..", "..", ".venv", "bin", "memsidecar")}
	}
	found := exec.Command(words[0], append(words[1:], arguments...)...)
	found.Stderr = os.Stderr
	for _, variable := range os.Environ() {
		// Variables of clients and sidecars in the environment must not apply to this sidecar.
		if !strings.HasPrefix(variable, "MEMSIDECAR_") {
			found.Env = append(found.Env, variable)
		}
	}
	return found
}
