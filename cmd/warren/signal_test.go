package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// TestInterrupted sends a signal to a command that waits. The test binary is the command when its
// name is "warren": testscript.Main sees to that.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	for signal, status := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			asked := make(chan struct{}, 1)
			server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				asked <- struct{}{}
				<-r.Context().Done() // dedup hangs: the command must end nevertheless
			}))
			defer server.Close()
			var stderr bytes.Buffer
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			cmd.Args = []string{"warren", "status", "--wait"}
			cmd.Env = append(os.Environ(), "WARREN_DEDUP_URL="+server.URL)
			cmd.Stderr = &stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			<-asked
			if err := cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			if got := cmd.ProcessState.ExitCode(); got != status || !strings.Contains(stderr.String(), "warren: interrupted\n") {
				t.Errorf("exit status %d, want %d; stderr %s", got, status, &stderr)
			}
		})
	}
}
