package term

import (
	"io"
	"strings"
	"unicode/utf8"
)

// Cell is one field of a table. Its text is shown as it is: use [Text] for what strangers wrote.
type Cell struct {
	Text  string
	Color Color
	Right bool // aligned to the right, as numbers are
}

// Table is lines of cells; the first is the heading.
type Table struct {
	Colors bool
	rows   [][]Cell
}

// Add adds a line.
func (t *Table) Add(cells ...Cell) { t.rows = append(t.rows, cells) }

// WriteTo writes the table with two spaces between its columns.
func (t *Table) WriteTo(w io.Writer) (int64, error) {
	var widths []int
	for _, row := range t.rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell.Text))
		}
	}
	var out strings.Builder
	for n, row := range t.rows {
		for i, cell := range row {
			if n == 0 {
				cell.Color = Strong
			}
			t.cell(&out, cell, widths[i], i == len(row)-1)
		}
		out.WriteByte('\n')
	}
	n, err := io.WriteString(w, out.String())
	return int64(n), err
}

func (t *Table) cell(out *strings.Builder, cell Cell, width int, last bool) {
	pad := strings.Repeat(" ", width-utf8.RuneCountInString(cell.Text))
	if cell.Right {
		out.WriteString(pad)
	}
	if t.Colors && cell.Color != Plain {
		out.WriteString(string(cell.Color) + cell.Text + "\x1b[0m")
	} else {
		out.WriteString(cell.Text)
	}
	if last { // nothing but a line's end behind the last column
		return
	}
	if !cell.Right {
		out.WriteString(pad)
	}
	out.WriteString("  ")
}
