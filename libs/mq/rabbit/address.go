package rabbit

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"

	amqp "github.com/rabbitmq/amqp091-go"
)

// node is one broker node. Its credentials are kept apart from its URL, so that nothing which prints
// the URL or passes on the library's errors can show a password.
type node struct {
	uri      amqp.URI
	url      string // without userinfo
	user     string // "" if the URL names none
	password string
	hasUser  bool
	hasPass  bool
}

var errURL = errors.New("cannot be read as amqp[s]://[user:password@]host[:port][/vhost] " +
	"(special characters in user and password must be percent-encoded)")

func parseNode(raw string) (node, error) {
	raw = strings.TrimSpace(raw)
	u, err := url.Parse(raw)
	if err != nil || (u.Scheme != "amqp" && u.Scheme != "amqps") || u.Hostname() == "" || u.Opaque != "" {
		return node{}, errURL
	}
	n := node{}
	if u.User != nil {
		n.hasUser = true
		n.user = u.User.Username()
		n.password, n.hasPass = u.User.Password()
		u.User = nil
	}
	n.url = u.String()
	if n.uri, err = amqp.ParseURI(n.url); err != nil {
		return node{}, errURL
	}
	return n, nil
}

// String is for people: host, port and vhost.
func (n node) String() string {
	return net.JoinHostPort(n.uri.Host, strconv.Itoa(n.uri.Port)) + "/" + strings.TrimPrefix(n.uri.Vhost, "/")
}

// auth makes the credentials for one dial. The password file is read each time: a rotated secret
// takes effect at the next connect, without a restart. nil leaves the choice to the URL's
// auth_mechanism (EXTERNAL).
func (c Config) auth(n node) ([]amqp.Authentication, error) {
	if n.uri.AuthMechanism != nil {
		return nil, nil
	}
	user, password := "guest", "guest"
	if c.User != "" {
		user = c.User
	}
	if n.hasUser {
		user = n.user
	}
	switch {
	case n.hasPass:
		password = n.password
	case c.PasswordFile != "":
		content, err := os.ReadFile(c.PasswordFile)
		if err != nil {
			return nil, fmt.Errorf("read the broker's password: %w", err)
		}
		password = strings.TrimRight(string(content), "\r\n")
	case c.Password != "":
		password = c.Password
	}
	return []amqp.Authentication{&amqp.PlainAuth{Username: user, Password: password}}, nil
}
