package table

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/internal/stattest"
)

func TestFormatOf(t *testing.T) {
	for path, want := range map[string]Format{
		"a.csv": CSV, "dir.parquet/a.CSV": CSV, "a.parquet": Parquet, "a.b.Parquet": Parquet, "-": CSV,
		"a.csv.GZ": CSV | Gzip, "a.tsv": CSV | Tabs,
		"a.tsv.gz": CSV | Tabs | Gzip, "a.arrow": Arrow, "a.feather": Arrow,
		"a.XLSX": Sheet, "a.csv.zip": Zip, "a.jsonl": Objects, "a.ndjson.gz": Objects | Gzip,
	} {
		if got, err := FormatOf(path); got != want || err != nil {
			t.Errorf("%s: got %d, %v", path, got, err)
		}
	}
	for _, path := range []string{"a.gz", "a.xls", "a.xlsx.gz", "a.json", "a.parquet.gz",
		"a.csv.gz.gz", "a.csv.gz.zst",
		"csv", "", "a.csv/other"} {
		if _, err := FormatOf(path); err == nil {
			t.Errorf("%s: got %v", path, err)
		}
	}
}

func TestRead(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	for name, text := range map[string]string{"a.csv": "a,b,c\nx,1,0\n", "b.CSV": "a,b,c\nx,1,0\n",
		"text.parquet": "a,b,c\nx,1,0\n", "text.arrow": "a,b,c\nx,1,0\n"} {
		stattest.Check(t, os.WriteFile(in(name), []byte(text), 0o400))
	}
	stattest.Check(t, os.Mkdir(in("dir.csv"), 0o700))
	stattest.Check(t, syscall.Mkfifo(in("pipe.csv"), 0o600))
	for _, name := range []string{"a.csv", "b.CSV"} {
		tab, _, err := Read(context.Background(), in(name), abc(), ReadOptions{})
		stattest.Check(t, err)
		if got := text(t, tab); got != "x|1|0;" {
			t.Errorf("%s: got %s", name, got)
		}
	}
	for name, want := range map[string]string{
		"dir.csv":      "is not a regular file",
		"pipe.csv":     "is not a regular file; CSV from a pipe is read as -, the standard input",
		"none.csv":     "no such file or directory",
		"text.parquet": "the file is not Parquet or Arrow as its name says, or is damaged",
		"a.txt":        "the file name must end in .csv, ",
		"a.csv.bz2":    "the file name must end in .csv, .csv.gz, ",
		"a.arrow.gz":   "the file name must end in .csv, .csv.gz, ",
		"text.arrow":   "the file is not Parquet or Arrow as its name says, or is damaged",
	} {
		_, _, err := Read(context.Background(), in(name), abc(), ReadOptions{})
		if err == nil || !strings.HasPrefix(err.Error(), "table: ") || !strings.Contains(err.Error(),
			want) {
			t.Errorf("%s: got %v, want %s", name, err, want)
		}
		if errors.Is(err, schema.ErrSchema) {
			t.Errorf("%s: %v is not about the content", name, err)
		}
		if scan := ScanText(in(name), ScanOptions{}, nil); scan == nil || scan.Error() != err.Error() {
			t.Errorf("%s: ScanText says %v, Read %v", name, scan, err)
		}
	}
	if _, _, err := Read(context.Background(), in("none.csv"), abc(), ReadOptions{}); !errors.Is(err,
		fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	bad := &schema.Schema{Columns: []schema.Column{{Name: "a"}}}
	for _, name := range []string{"a.csv", "text.parquet"} {
		if _, _, err := Read(context.Background(), in(name), bad, ReadOptions{}); !errors.Is(err,
			schema.ErrInvalid) {
			t.Errorf("an invalid schema: %v", err)
		}
	}
}

func TestReadStandardInput(t *testing.T) {
	r, w, err := os.Pipe()
	stattest.Check(t, err)
	stdin := os.Stdin
	os.Stdin = r
	defer func() { os.Stdin = stdin }()
	go func() {
		w.WriteString("a,b,c\nx,1,0\n")
		w.Close()
	}()
	tab, _, err := Read(context.Background(), "-", abc(), ReadOptions{})
	stattest.Check(t, err)
	if got := text(t, tab); got != "x|1|0;" {
		t.Errorf("got %s", got)
	}
}
