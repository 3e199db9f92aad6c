package rabbit

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// closeTimeout bounds every polite goodbye; after it the socket is simply closed. A broker in alarm
// does not read, and a half-open connection has nobody at its end.
const closeTimeout = 2 * time.Second

// link is a connection together with its socket, which can be closed when the library cannot.
type link struct {
	conn   *amqp.Connection
	raw    net.Conn
	closed chan *amqp.Error
}

func (b *Bus) dial(ctx context.Context, n node, role string) (*link, error) {
	ctx, cancel := context.WithTimeout(ctx, b.cfg.ConnectTimeout)
	defer cancel()
	auth, err := b.cfg.auth(n)
	if err != nil {
		return nil, err
	}
	tlsConfig, err := b.cfg.tls(n)
	if err != nil {
		return nil, err
	}
	properties := amqp.NewConnectionProperties()
	properties["connection_name"] = b.deps.Name + " " + role
	var raw net.Conn
	var undo func() bool
	conn, err := amqp.DialConfig(n.url, amqp.Config{
		SASL:            auth,
		Vhost:           n.uri.Vhost,
		Heartbeat:       b.cfg.Heartbeat,
		TLSClientConfig: tlsConfig,
		Properties:      properties,
		Dial: func(network, addr string) (net.Conn, error) {
			var dialer net.Dialer
			var err error
			if raw, err = dialer.DialContext(ctx, network, addr); err == nil {
				// Bounds the handshake; the library takes the limit off afterwards.
				undo = context.AfterFunc(ctx, func() { raw.Close() })
			}
			return raw, err
		},
	})
	if undo != nil && !undo() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		if raw != nil {
			raw.Close() // the library leaves its reader running after a failed handshake
		}
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			// What the library makes of the closed socket would mislead: wrong credentials.
			return nil, fmt.Errorf("no AMQP handshake within %s", b.cfg.ConnectTimeout)
		}
		if errors.Is(err, amqp.ErrCredentials) {
			return nil, errors.New("broker dropped the connection at login: user or password are wrong, most likely")
		}
		return nil, err
	}
	return &link{conn: conn, raw: raw, closed: conn.NotifyClose(make(chan *amqp.Error, 1))}, nil
}

// close says goodbye, for a short while.
func (l *link) close() {
	if l == nil {
		return
	}
	// The heartbeater of the library may move the deadline that CloseDeadline sets, so the socket is
	// closed from here too.
	kill := time.AfterFunc(closeTimeout, func() { l.raw.Close() })
	defer kill.Stop()
	_ = l.conn.CloseDeadline(time.Now().Add(closeTimeout))
	l.raw.Close()
}

// checkVersion refuses a broker that would break Warren's promises without a word: before 4.0 a
// quorum queue's single active consumer ignores priorities, and the first fetcher keeps all shards.
func checkVersion(conn *amqp.Connection) (string, error) {
	product, _ := conn.Properties["product"].(string)
	version, _ := conn.Properties["version"].(string)
	major, _, _ := strings.Cut(version, ".")
	n, err := strconv.Atoi(major)
	if product != "RabbitMQ" || err != nil || n < 4 {
		return version, uselessError{fmt.Errorf("broker is %s %s, Warren needs RabbitMQ 4.0 or later "+
			"(single active consumers that honour priorities on quorum queues)", product, version)}
	}
	return version, nil
}
