package seed

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/warrenmq/warren/cmd/warren/term"
	"github.com/warrenmq/warren/libs/weburl"
)

// source is a place that URLs come from: the arguments, or a stream of lines.
type source struct {
	name string // as errors call one of its URLs: "argument", "sites.txt line"
	from io.Reader
	file io.Closer // nil if not ours to close
}

type sources []source

// open opens all that is named before anything is sent.
func open(cmd *cli.Command) (all sources, err error) {
	defer func() {
		if err != nil {
			all.close()
		}
	}()
	var plain []string
	for _, arg := range cmd.Args().Slice() {
		if arg == "-" {
			all = append(all, source{name: "stdin line", from: cmd.Root().Reader})
			continue
		}
		plain = append(plain, strings.ReplaceAll(arg, "\n", " "))
	}
	if len(plain) > 0 {
		all = append(sources{{name: "argument", from: strings.NewReader(strings.Join(plain, "\n"))}}, all...)
	}
	for _, name := range cmd.StringSlice("file") {
		file, err := os.Open(name)
		if err != nil {
			return all, err
		}
		all = append(all, source{name: term.Text(name, 200) + " line", from: file, file: file})
	}
	return all, nil
}

func (s sources) close() {
	for _, source := range s {
		if source.file != nil {
			_ = source.file.Close()
		}
	}
}

// maxLine is the longest line that is read, in bytes: well above the longest URL. A longer one ends
// the reading, since it is no list of URLs.
const maxLine = 64 << 10

// urls reads every source. It yields canonical URLs, without fragment and password. A line that is
// no URL is told to invalid; an error of reading is yielded and is the last thing.
func (s sources) urls(invalid func(error)) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for _, source := range s {
			lines := bufio.NewScanner(source.from)
			lines.Buffer(nil, maxLine)
			n := 0
			for lines.Scan() {
				n++
				line := lines.Text()
				if n == 1 {
					line = strings.TrimPrefix(line, "\ufeff")
				}
				if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
					continue
				}
				url, err := weburl.Parse(line)
				if err != nil {
					invalid(fmt.Errorf("%s %d: %s: %s", source.name, n, term.Text(line, 200), reason(line, err)))
					continue
				}
				if !yield(url.String(), nil) {
					return
				}
			}
			if err := lines.Err(); err != nil {
				yield("", fmt.Errorf("read %s %d: %w", source.name, n+1, err))
				return
			}
		}
	}
}

// reason is the error without the value, which is told already.
func reason(line string, err error) string {
	switch {
	case errors.Is(err, weburl.ErrNotWeb):
		return weburl.ErrNotWeb.Error()
	case errors.Is(err, weburl.ErrTooLong):
		return weburl.ErrTooLong.Error()
	case !strings.Contains(line, "://"):
		return "not a whole url: want for example https://example.com/"
	}
	return weburl.ErrInvalid.Error()
}
