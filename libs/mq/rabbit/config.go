package rabbit

import (
	"errors"
	"fmt"
	"time"
)

// Config is how to reach the broker. Environment names are WARREN_AMQP_ and the field's name.
type Config struct {
	URLs           []string      `envconfig:"URLS" desc:"broker nodes, comma separated: amqp[s]://[user:password@]host[:port][/vhost]"`
	User           string        `desc:"user for URLs that name none"`
	Password       string        `desc:"password for URLs that have none"`
	PasswordFile   string        `split_words:"true" desc:"file with the password, read at each connect; wins over PASSWORD"`
	Attempts       int           `desc:"rounds over all URLs before giving up; 0 is for ever"`
	Delay          time.Duration `desc:"wait between two rounds, plus or minus a quarter"`
	Heartbeat      time.Duration `desc:"AMQP heartbeat; a dead peer is noticed after 1.5 of it"`
	ConnectTimeout time.Duration `split_words:"true" desc:"longest wait for TCP, TLS and AMQP handshake with one node"`
	ConfirmTimeout time.Duration `split_words:"true" desc:"longest wait for the broker's confirm of one message"`
	Grace          time.Duration `desc:"longest wait for handlers at a stop, where the service sets none"`
	Window         int           `desc:"most unconfirmed messages of each publishing channel"`
	CAFile         string        `split_words:"true" desc:"PEM file of the authorities to trust; the system's if empty"`
	CertFile       string        `split_words:"true" desc:"PEM file of the client's certificate"`
	KeyFile        string        `split_words:"true" desc:"PEM file of the client's key"`
	ServerName     string        `split_words:"true" desc:"name the broker's certificate must bear; the URL's host if empty"`
}

// DefaultConfig is a broker on this machine with RabbitMQ's own defaults.
func DefaultConfig() Config {
	return Config{
		URLs:           []string{"amqp://guest:guest@127.0.0.1:5672/"},
		Delay:          2 * time.Second,
		Heartbeat:      10 * time.Second,
		ConnectTimeout: 10 * time.Second,
		ConfirmTimeout: 30 * time.Second,
		Grace:          30 * time.Second,
		Window:         256,
	}
}

// Validate names the variable and the value that cannot be. Of a URL it shows nothing but its place
// in the list, since a password may stand anywhere in one that cannot be read.
func (c Config) Validate() error {
	if len(c.URLs) == 0 {
		return errors.New("WARREN_AMQP_URLS is empty: want at least one amqp:// or amqps:// URL")
	}
	for i, raw := range c.URLs {
		if _, err := parseNode(raw); err != nil {
			return fmt.Errorf("WARREN_AMQP_URLS, URL %d of %d: %w", i+1, len(c.URLs), err)
		}
	}
	if c.Attempts < 0 {
		return fmt.Errorf("WARREN_AMQP_ATTEMPTS is %d: want 0 (for ever) or more", c.Attempts)
	}
	if c.Window < 1 || c.Window > 65535 {
		return fmt.Errorf("WARREN_AMQP_WINDOW is %d: want 1 to 65535", c.Window)
	}
	// 1 s is the unit of AMQP's heartbeat; 0 would be "the server's choice".
	if c.Heartbeat < time.Second || c.Heartbeat > time.Minute {
		return fmt.Errorf("WARREN_AMQP_HEARTBEAT is %s: want 1s to 1m", c.Heartbeat)
	}
	for name, d := range map[string]time.Duration{
		"DELAY": c.Delay, "CONNECT_TIMEOUT": c.ConnectTimeout,
		"CONFIRM_TIMEOUT": c.ConfirmTimeout, "GRACE": c.Grace,
	} {
		if d <= 0 {
			return fmt.Errorf("WARREN_AMQP_%s is %s: want more than 0", name, d)
		}
	}
	if (c.CertFile == "") != (c.KeyFile == "") {
		return errors.New("WARREN_AMQP_CERT_FILE and WARREN_AMQP_KEY_FILE: want both or neither")
	}
	return nil
}
