package rabbit_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/warrenmq/warren/libs/mq"
	"github.com/warrenmq/warren/libs/mq/rabbit"
	"github.com/warrenmq/warren/libs/mq/rabbit/rabbittest"
)

// The password comes from a file, is read again at each connect, and is never shown.
func TestPasswordFileIsReadAtEachConnect(t *testing.T) {
	t.Parallel()
	b := newBroker(t, 1)
	u, err := url.Parse(b.url)
	if err != nil {
		t.Fatal(err)
	}
	user := "warren-" + strings.TrimPrefix(u.Path, "/")
	t.Cleanup(func() { rabbittest.API(t, "DELETE", "users/"+user, "") })
	file := filepath.Join(t.TempDir(), "password")
	setPassword := func(password string) {
		rabbittest.API(t, "PUT", "users/"+user, fmt.Sprintf(`{"password":%q,"tags":""}`, password))
		if err := os.WriteFile(file, []byte(password+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const first, second = "s3cret/@:#one", "s3cret-two"
	setPassword(first)
	rabbittest.API(t, "PUT", "permissions"+u.Path+"/"+user, `{"configure":".*","write":".*","read":".*"}`)

	u.User = nil
	via := newProxy(t, u.String())
	cfg := settings(via.url())
	cfg.User, cfg.PasswordFile, cfg.Password = user, file, "not this"
	p := start(t, cfg, 1)
	p.await(t, mq.Connected)

	setPassword(second)
	_, changed := p.State()
	via.cut()
	take(t, changed, "the loss to be told")
	p.await(t, mq.Connected)

	if err := os.WriteFile(file, []byte("wrong-s3cret"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, changed = p.State()
	via.cut()
	take(t, changed, "the loss to be told")
	eventually(t, "the refusal is logged", func() bool { return strings.Contains(p.log.String(), "user or password are wrong") })
	if err := p.Ready(t.Context()); err == nil {
		t.Error("ready with a wrong password")
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the missing file is logged", func() bool { return strings.Contains(p.log.String(), "no such file") })
	setPassword(second)
	p.await(t, mq.Connected)
	if strings.Contains(p.log.String(), "s3cret") {
		t.Errorf("a password is in the log:\n%s", p.log)
	}
}

// Whatever is wrong with a URL or its node, no error shows a password.
func TestErrorsShowNoPassword(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{
		"amqp://u:s3cret@ho st/", "amqp://u:s3cret/x@host/", "amqp://u:s3cret#@host", "amqp://u:s3c%ret@host",
		"http://u:s3cret@host/", "u:s3cret@host", "amqp:u:s3cret@host", "://s3cret", "amqp://u:s3cret@host:port/",
		"amqp://u:s3cret@host/?heartbeat=s3cret", "amqp://u:s3cret@/",
	} {
		cfg := settings("amqp://127.0.0.1/", raw)
		err := cfg.Validate()
		if err == nil {
			t.Errorf("%q is taken for a URL", raw)
			continue
		}
		if !strings.Contains(err.Error(), "WARREN_AMQP_URLS, URL 2 of 2") || strings.Contains(err.Error(), "s3c") {
			t.Errorf("%q: %v", raw, err)
		}
	}
	cfg := settings(strings.Replace(deadURL(t), "guest:guest", "u:s3cret", 1))
	cfg.Attempts = 1
	p := start(t, cfg, 1)
	take(t, p.done, "Run to return")
	if text := p.err.Error() + p.log.String(); strings.Contains(text, "s3cret") || !strings.Contains(text, "127.0.0.1:") {
		t.Errorf("the error shows a password or no address: %s", text)
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	if err := rabbit.DefaultConfig().Validate(); err != nil {
		t.Errorf("defaults: %v", err)
	}
	for want, change := range map[string]func(*rabbit.Config){
		"WARREN_AMQP_URLS is empty":              func(c *rabbit.Config) { c.URLs = nil },
		"WARREN_AMQP_ATTEMPTS is -1":             func(c *rabbit.Config) { c.Attempts = -1 },
		"WARREN_AMQP_DELAY is 0s":                func(c *rabbit.Config) { c.Delay = 0 },
		"WARREN_AMQP_HEARTBEAT is 1ms":           func(c *rabbit.Config) { c.Heartbeat = time.Millisecond },
		"WARREN_AMQP_CONNECT_TIMEOUT is -1s":     func(c *rabbit.Config) { c.ConnectTimeout = -time.Second },
		"WARREN_AMQP_CONFIRM_TIMEOUT is 0s":      func(c *rabbit.Config) { c.ConfirmTimeout = 0 },
		"WARREN_AMQP_GRACE is 0s":                func(c *rabbit.Config) { c.Grace = 0 },
		"WARREN_AMQP_WINDOW is 0":                func(c *rabbit.Config) { c.Window = 0 },
		"WARREN_AMQP_CERT_FILE and WARREN_AMQP_": func(c *rabbit.Config) { c.CertFile = "x" },
	} {
		cfg := rabbit.DefaultConfig()
		change(&cfg)
		if err := cfg.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// certificate makes a self-signed certificate and its file.
func certificate(t *testing.T, host string) (tls.Certificate, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	if ip := net.ParseIP(host); ip != nil {
		template.IPAddresses = []net.IP{ip}
	} else {
		template.DNSNames = []string{host}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, file
}

// tlsBroker puts TLS in front of a proxy and returns an amqps URL for host.
func tlsBroker(t *testing.T, via *proxy, cert tls.Certificate, host string) string {
	t.Helper()
	inner := via.listener
	plain, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	secure := tls.NewListener(plain, &tls.Config{Certificates: []tls.Certificate{cert}})
	t.Cleanup(func() { secure.Close() })
	go func() {
		for {
			conn, err := secure.Accept()
			if err != nil {
				return
			}
			go forward(conn, inner.Addr().String())
		}
	}()
	u, err := url.Parse(via.url())
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(plain.Addr().String())
	u.Scheme, u.Host = "amqps", net.JoinHostPort(host, port)
	return u.String()
}

// Each node's certificate is checked against that node's own name, after a reconnect too.
func TestTLS(t *testing.T) {
	t.Parallel()
	b := newBroker(t, 1)
	one, two := newProxy(t, b.url), newProxy(t, b.url)
	byIP, caIP := certificate(t, "127.0.0.1")
	byName, caName := certificate(t, "localhost")
	both := filepath.Join(t.TempDir(), "both.pem")
	var all []byte
	for _, file := range []string{caIP, caName} {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, content...)
	}
	if err := os.WriteFile(both, all, 0o600); err != nil {
		t.Fatal(err)
	}
	cfg := settings(tlsBroker(t, one, byIP, "127.0.0.1"), tlsBroker(t, two, byName, "localhost"))
	cfg.CAFile = both
	p := start(t, cfg, 1)
	for range 4 {
		p.await(t, mq.Connected)
		_, changed := p.State()
		one.cut()
		two.cut()
		take(t, changed, "the loss to be told")
	}
	p.await(t, mq.Connected)
	if one.dials() < 4 || two.dials() < 4 || strings.Contains(p.log.String(), "cannot be used") {
		t.Errorf("%d and %d connections: a node was not reached\n%s", one.dials(), two.dials(), p.log)
	}

	for want, change := range map[string]func(*rabbit.Config){
		"unknown authority":        func(c *rabbit.Config) { c.CAFile = caName },
		"no certificate in":        func(c *rabbit.Config) { c.CAFile = os.Args[0] },
		"no such file":             func(c *rabbit.Config) { c.CAFile = "/nonexistent" },
		"match other.example":      func(c *rabbit.Config) { c.ServerName = "other.example" },
		"the client's certificate": func(c *rabbit.Config) { c.CertFile, c.KeyFile = caIP, caIP },
	} {
		cfg := cfg
		cfg.URLs, cfg.Attempts = cfg.URLs[:1], 1
		change(&cfg)
		p := start(t, cfg, 1)
		take(t, p.done, "Run to return")
		if p.err == nil || !strings.Contains(p.err.Error(), want) {
			t.Errorf("got %v, want %q", p.err, want)
		}
	}
}
