package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"sync"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/cmd/decoy/serve"
)

// tool is the program, its version and the hash of its file, as ledgers and models record it.
func tool() string {
	text := thisVersion().Version
	if sum := ownSHA256(); sum != "" {
		text += " sha256:" + sum
	}
	return text
}

// ownSHA256 is the hash of the file of this program; "" if it cannot be read.
var ownSHA256 = sync.OnceValue(func() string {
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	sum, err := readFile(path, func(r io.Reader) ([]byte, error) {
		h := sha256.New()
		_, err := io.Copy(h, r)
		return h.Sum(nil), err
	})
	if err != nil {
		return ""
	}
	return hex.EncodeToString(sum)
})

func versionCommand(t *terminal) *cobra.Command {
	return t.verb("version", func(_ *cobra.Command, t *terminal, _ []string) error {
		v := thisVersion()
		v.SHA256 = ownSHA256()
		return t.print(v)
	})
}

type version struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`   // none if built outside of a clone
	Modified bool   `json:"modified,omitempty"` // the clone differed from the commit
	Go       string `json:"go"`
	Platform string `json:"platform"`
	SHA256   string `json:"sha256,omitempty"` // of the program's file
}

// thisVersion is what the linker wrote into this program.
func thisVersion() version {
	v := version{Version: "decoy devel", Go: runtime.Version(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if is := info.Main.Version; is != "" && is != "(devel)" {
		v.Version = "decoy " + is
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Commit = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	return v
}

func serveCommand(t *terminal) *cobra.Command {
	port := 0
	return t.verb("serve", func(cmd *cobra.Command, t *terminal, args []string) error {
		dir := "."
		if len(args) == 1 {
			dir = args[0]
		}
		self, err := os.Executable()
		if err != nil {
			return err
		}
		s, err := serve.Listen(dir, self, port)
		if err != nil {
			return err
		}
		fmt.Fprintf(t.stdout, "open this page in a browser: %s\n", s.Address())
		t.say("press Ctrl-C to end")
		return s.Serve(cmd.Context())
	}, flags{"port": &port})
}
