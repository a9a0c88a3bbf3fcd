package suite

import (
	"context"
	"errors"
	"path"
	"path/filepath"
	"strings"

	"assay/internal/planted"
	"assay/internal/postgres"
	"assay/internal/proof"
)

// What stands in the ledger as a planted project's runtime: how much of its proof was seen.
const (
	plantedQuick = "quick" // all good, all bad, two seeds: every exploit in each
	plantedWhole = "whole" // each site flipped alone in both, pairs, twenty seeds too
)

// planted holds that each exploit succeeds exactly where its site is bad, and the functional
// tests in every draw. -filter NAME proves it again whole, and so does ASSAY_PROOF=all.
func (v *verify) planted(t T, name string) {
	named := v.env.cfg.Filter == name
	if !named && !v.env.cfg.chooses(name) || !v.env.cfg.Shard.has(path.Join(t.Name())) {
		v.partly = true
		return
	}
	p, err := planted.Read(v.env.root.holdings(), path.Join(plantedDir, name))
	if err != nil {
		t.Fatal(err)
	}
	id := "planted/" + name
	before := v.ledger[id]
	whole := named || v.mode == "all"
	if !whole && v.stands(id, p.Hash()) {
		return
	}
	cache, err := cacheDir()
	if err != nil {
		t.Fatal(err)
	}
	servers, stop, err := plantedServers()
	defer stop()
	var proved *planted.Proof
	if err == nil {
		proved, err = planted.Verify(context.Background(), p, planted.Options{Servers: servers, Cache: filepath.Join(cache, "planted"), Quick: !whole})
	}
	if errors.Is(err, postgres.ErrMissing) || errors.Is(err, planted.ErrMissing) {
		v.partly = true
		missing(t, "%s is not proven: %v", name, err)
		return
	}
	if err != nil {
		t.Fatalf("%s: %v", p.Pos, err)
	}
	v.proven++
	if len(proved.Failed()) > 0 {
		var told strings.Builder
		proved.Tell(&told)
		t.Errorf("%s: %d outcomes are not as expected:\n%s", p.Pos, len(proved.Failed()), told.String())
		return
	}
	t.Logf("%s: %d outcomes, all as expected", name, len(proved.Outcomes))
	same := before.Content == p.Hash()
	how := plantedQuick
	if whole || same && before.Runtime == plantedWhole {
		how = plantedWhole
	}
	v.keep(t, p.Pos, id, proof.Proved{Content: p.Hash(), Runtime: how, Effects: "-"}, same)
}

func plantedServers() (servers []planted.Server, stop func(), err error) {
	var stops []func()
	stop = func() {
		for _, s := range stops {
			s()
		}
	}
	for range 2 {
		s, err := postgres.StartLoopback(context.Background())
		if err != nil {
			stop()
			return nil, func() {}, err
		}
		stops = append(stops, func() { s.Stop() })
		servers = append(servers, s)
	}
	return servers, stop, nil
}
