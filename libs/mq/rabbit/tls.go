package rabbit

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
)

// tls makes a configuration for one dial, nil for amqp://. It is made anew each time: the library
// writes the dialled host into it, which would then be demanded of the next node too; and renewed
// certificate files take effect at the next connect.
func (c Config) tls(n node) (*tls.Config, error) {
	if n.uri.Scheme != "amqps" {
		return nil, nil
	}
	config := &tls.Config{
		MinVersion: tls.VersionTLS12,
		ServerName: first(c.ServerName, n.uri.ServerName, n.uri.Host),
	}
	if file := first(c.CAFile, n.uri.CACertFile); file != "" {
		pem, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("read the broker's certificate authority: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("read the broker's certificate authority: no certificate in %s", file)
		}
	}
	cert, key := first(c.CertFile, n.uri.CertFile), first(c.KeyFile, n.uri.KeyFile)
	if cert != "" && key != "" {
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return nil, fmt.Errorf("read the client's certificate: %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}

func first(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}
