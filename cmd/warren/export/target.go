package export

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/warrenmq/warren/cmd/warren/term"
)

// target is where the pages go: a stream, or a file that appears under its name when it is whole.
type target struct {
	io.Writer
	file *os.File // nil for a stream
	name string
}

func newTarget(name string, stream io.Writer) (*target, error) {
	if name == "" {
		return &target{Writer: term.Writer(stream)}, nil
	}
	// In the same folder, so that it can be renamed into place.
	file, err := os.CreateTemp(filepath.Dir(name), ".warren-export-*")
	if err != nil {
		return nil, fmt.Errorf("make the file: %w", err)
	}
	return &target{Writer: file, file: file, name: name}, nil
}

// keep puts the file in its place.
func (t *target) keep() error {
	if t.file == nil {
		return nil
	}
	err := t.file.Chmod(0o644)
	if err == nil {
		err = t.file.Sync()
	}
	if e := t.file.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(t.file.Name(), t.name)
	}
	if err != nil {
		_ = os.Remove(t.file.Name())
		return fmt.Errorf("finish the file: %w", err)
	}
	return nil
}

// discard leaves what stood under the name before.
func (t *target) discard() error {
	if t.file == nil {
		return nil
	}
	_ = t.file.Close()
	return os.Remove(t.file.Name())
}
