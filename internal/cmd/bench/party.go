package main

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/party"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/release"
	"github.com/decoy-dp/decoy/synth"
	"github.com/decoy-dp/decoy/table"
)

// partyLine prints, in the column of the joint model, the errors of sums under masks, and before
// them those of a model of the whole table.
func partyLine(
	t *table.Table, parts []*table.Table, variant string, b accountant.Budget, runs int,
) {
	f := must(fitterOf(variant))
	var cells [2][2]float64
	for range runs {
		for i, m := range []*release.Model{fitted(t, f, b), must(together(parts, f, b))} {
			for k, x := range errorOf(t, m.Params()) {
				cells[i][k] += x / float64(runs)
			}
		}
	}
	fmt.Printf("%-16s %.4f %.4f     %.4f %.4f\n", variant+" masked", cells[0][0], cells[0][1],
		cells[1][0], cells[1][1])
}

// together runs every part as a party of its own, over connections on this machine.
func together(
	parts []*table.Table, f synth.Fitter, b accountant.Budget,
) (*release.Model, error) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	all := &party.Parties{Address: free.Addr().String(), Colluding: 1, PerPerson: 1}
	free.Close()
	keys := make([]ed25519.PrivateKey, len(parts))
	for i := range keys {
		pem, err := party.NewKey()
		if err != nil {
			return nil, err
		}
		if keys[i], err = party.ParseKey(pem); err != nil {
			return nil, err
		}
		all.Parties = append(all.Parties, party.Member{Name: fmt.Sprint("party ", i+1),
			Key: party.Public(keys[i])})
	}
	models, errs := make([]*release.Model, len(parts)), make([]error, len(parts))
	var done sync.WaitGroup
	for i, part := range parts {
		done.Go(func() {
			lenient := *part.Schema() // the rows are those of a strict one
			lenient.Lenient = true
			link, err := party.Meet(context.Background(), party.Options{Parties: all, Key: keys[i],
				Method: f, Schema: &lenient, Budget: b, Adjacency: accountant.AddRemove, Tool: "bench",
				Wait: time.Minute})
			if err != nil {
				errs[i] = err
				return
			}
			models[i], _, errs[i] = synth.Run(context.Background(), privacy.FromTable(part),
				party.Fitter{Link: link}, synth.RunOptions{Options: privacy.Options{Budget: b, Tool: "bench"}})
			link.End(errs[i])
		})
	}
	done.Wait()
	return models[0], errors.Join(errs...)
}
