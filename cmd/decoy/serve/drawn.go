package serve

import (
	"context"
	"path"
)

// mostCompared is the size, in bytes, of the largest table that is compared: that takes seconds.
const mostCompared = 256 << 20

// model is the one that gives a table, byte for byte, so that the table is synthetic; else ok is
// false. What a run of this page drew, or a name, proposes the model; the bytes alone decide.
func (s *Server) model(ctx context.Context, table string) (model string, ok bool) {
	c := s.proposed(table)
	info, err := s.folder.root.Stat(table)
	if err != nil || info.Size() > mostCompared || s.folder.have(models, c["model"]) != nil {
		return c["model"], false
	}
	args, _, err := s.folder.command("verify", c)
	if err == nil {
		_, err = s.drawn.ask(ctx, nil, args...)
	}
	return c["model"], err == nil
}

// proposed is the model that may have given a table, and how: that of a run of this page which drew
// it, or that with its name, or with the name of the folder of linked tables.
func (s *Server) proposed(table string) choice {
	if r := s.runs.of(table); r != nil && r.Verb == "sample" {
		return choice{"model": r.Choice["model"], "rows": r.Choice["rows"], "seed": r.Choice["seed"],
			"synthetic": table}
	}
	if dir := path.Dir(table); s.folder.have(models, dir+".decoy") == nil {
		return choice{"model": dir + ".decoy", "folder": dir}
	}
	return choice{"model": stem(table) + ".decoy", "synthetic": table}
}
