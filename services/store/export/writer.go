package export

import (
	"bufio"
	"encoding/base64"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Writer writes pages in one format. Flush must be called at the end.
type Writer interface {
	Write(Page) error
	Flush() error
}

// Formats are what NewWriter knows.
const (
	FormatJSONL = "jsonl"
	FormatCSV   = "csv"
)

// NewWriter returns the writer of a format.
func NewWriter(format string, w io.Writer, options Options) (Writer, error) {
	switch format {
	case FormatJSONL:
		return JSONL(w), nil
	case FormatCSV:
		return CSV(w, options.Body), nil
	}
	return nil, fmt.Errorf("format %q: want %s or %s", format, FormatJSONL, FormatCSV)
}

// JSONL writes one JSON object a line, UTF-8, without escapes for HTML.
func JSONL(w io.Writer) Writer {
	buffer := bufio.NewWriterSize(w, 64<<10)
	encoder := json.NewEncoder(buffer)
	encoder.SetEscapeHTML(false)
	return jsonl{encoder, buffer}
}

type jsonl struct {
	encoder *json.Encoder
	buffer  *bufio.Writer
}

func (j jsonl) Write(p Page) error {
	if p.Links == nil {
		p.Links = []string{}
	}
	if err := j.encoder.Encode(p); err != nil {
		return fmt.Errorf("write json line: %w", err)
	}
	return nil
}

func (j jsonl) Flush() error {
	if err := j.buffer.Flush(); err != nil {
		return fmt.Errorf("write json lines: %w", err)
	}
	return nil
}

// CSV writes RFC 4180 with a line of column names, lines ended by \n. Links are joined by a space
// (which no canonical URL holds), the body is base64.
//
// A page's own text may be made to be run as a formula by a spreadsheet. A value that begins with
// = + - @ (or their full-width forms), tab or line break gets a ' in front, which spreadsheets read as
// "this is text" (OWASP, "CSV Injection"). Who reads CSV by program and needs the exact text takes JSON
// lines.
func CSV(w io.Writer, body bool) Writer {
	c := &csvWriter{csv: csv.NewWriter(w), columns: []string{
		"url", "status", "content_type", "fetched_at", "title", "description", "language", "text", "links", "sha256",
	}, body: body}
	if body {
		c.columns = append(c.columns, "body")
	}
	return c
}

type csvWriter struct {
	csv     *csv.Writer
	columns []string // written first, then nil
	body    bool
}

func (c *csvWriter) Write(p Page) error {
	if err := c.head(); err != nil {
		return err
	}
	record := []string{
		safe(p.URL), strconv.Itoa(p.Status), safe(p.ContentType), p.FetchedAt.Format(time.RFC3339Nano),
		safe(p.Title), safe(p.Description), safe(p.Language), safe(p.Text), safe(strings.Join(p.Links, " ")),
		p.SHA256,
	}
	if c.body {
		record = append(record, base64.StdEncoding.EncodeToString(p.Body))
	}
	if err := c.csv.Write(record); err != nil {
		return fmt.Errorf("write csv: %w", err)
	}
	return nil
}

// head writes the column names before anything else, an empty export's too.
func (c *csvWriter) head() error {
	if c.columns == nil {
		return nil
	}
	err := c.csv.Write(c.columns)
	c.columns = nil
	if err != nil {
		return fmt.Errorf("write csv: %w", err)
	}
	return nil
}

func (c *csvWriter) Flush() error {
	if err := c.head(); err != nil {
		return err
	}
	c.csv.Flush()
	if err := c.csv.Error(); err != nil {
		return fmt.Errorf("write csv: %w", err)
	}
	return nil
}

func safe(s string) string {
	if first, _ := utf8.DecodeRuneInString(s); s != "" && strings.ContainsRune("=+-@\t\r\n＝＋－＠", first) {
		return "'" + s
	}
	return s
}
