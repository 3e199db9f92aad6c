// Package rabbittest gives each test a RabbitMQ virtual host of its own, so that tests share no names
// and may run at the same time, against whatever broker the environment names.
package rabbittest

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"
)

// Environment variables.
const (
	EnvAMQP       = "WARREN_TEST_AMQP_URL"       // amqp://user:password@host:port/
	EnvManagement = "WARREN_TEST_MANAGEMENT_URL" // http://user:password@host:port; port 15672 of the above if unset
)

// VHost makes a virtual host, deletes it when the test ends, and returns its amqp URL. It stops the
// test if the environment names no broker.
func VHost(t testing.TB) string {
	t.Helper()
	broker, management := environment(t)
	name := "warren-test-" + strings.ToLower(rand.Text()[:12])
	api(t, management, http.MethodPut, "vhosts/"+name, fmt.Sprintf(`{"description":%q}`, t.Name()))
	t.Cleanup(func() { api(t, management, http.MethodDelete, "vhosts/"+name, "") })
	api(t, management, http.MethodPut, "permissions/"+name+"/"+url.PathEscape(broker.User.Username()),
		`{"configure":".*","write":".*","read":".*"}`)
	broker.Path = "/" + name
	return broker.String()
}

// API calls the management API of the broker under test and returns the answer's body. path is
// relative to /api/; an answer other than 2xx stops the test.
func API(t testing.TB, method, path, body string) []byte {
	t.Helper()
	_, management := environment(t)
	return api(t, management, method, path, body)
}

func environment(t testing.TB) (broker, management *url.URL) {
	t.Helper()
	raw := os.Getenv(EnvAMQP)
	if raw == "" {
		t.Fatalf("%s is not set: run make test, which provides a broker", EnvAMQP)
	}
	broker, err := url.Parse(raw)
	if err != nil || broker.User == nil {
		t.Fatalf("%s: want amqp://user:password@host:port/", EnvAMQP)
	}
	management = &url.URL{Scheme: "http", User: broker.User, Host: net.JoinHostPort(broker.Hostname(), "15672")}
	if raw := os.Getenv(EnvManagement); raw != "" {
		if management, err = url.Parse(raw); err != nil {
			t.Fatalf("%s: want http://user:password@host:port", EnvManagement)
		}
	}
	if management.User == nil {
		management.User = broker.User
	}
	return broker, management
}

func api(t testing.TB, management *url.URL, method, path, body string) []byte {
	t.Helper()
	// Not the test's context: the deletion comes after that has ended.
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	target := *management
	target.User = nil
	request, err := http.NewRequestWithContext(ctx, method, target.JoinPath("api").String()+"/"+path, bytes.NewBufferString(body))
	if err != nil {
		t.Fatalf("management API: %v", err)
	}
	password, _ := management.User.Password()
	request.SetBasicAuth(management.User.Username(), password)
	request.Header.Set("Content-Type", "application/json")
	// A transport of its own leaves no idle connection behind for goleak to find.
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		t.Fatalf("management API: %v (is the management plugin enabled, or %s needed?)", err, EnvManagement)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode/100 != 2 {
		t.Fatalf("management API: %s %s: %s %s %v", method, path, response.Status, answer, err)
	}
	return answer
}
