package suite

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"os"
	"strconv"
	"time"

	"assay/audit"
	"assay/audit/score"
	"assay/internal/store"
)

// A shard is the part of each suite's subtests that this process runs, as Bazel's
// test sharding defines it (Test Encyclopedia, "Test sharding"): TEST_SHARD_INDEX,
// from 0, of TEST_TOTAL_SHARDS. The zero shard is everything.
type shard struct{ index, total int }

func readShard(getenv func(string) string) (shard, error) {
	index, total := getenv("TEST_SHARD_INDEX"), getenv("TEST_TOTAL_SHARDS")
	if total == "" && index == "" {
		return shard{}, nil
	}
	n, errN := strconv.Atoi(total)
	i, errI := strconv.Atoi(index)
	if errN != nil || errI != nil || n < 1 || i < 0 || i >= n {
		return shard{}, fmt.Errorf("TEST_SHARD_INDEX is %q and TEST_TOTAL_SHARDS is %q: expected an index from 0 to the total less 1", index, total)
	}
	return shard{i, n}, nil
}

// announce touches the file without which Bazel takes every shard for a run of everything.
func announce(getenv func(string) string) error {
	name := getenv("TEST_SHARD_STATUS_FILE")
	if name == "" {
		return nil
	}
	if err := os.WriteFile(name, nil, 0o644); err != nil {
		return fmt.Errorf("TEST_SHARD_STATUS_FILE: %w", err)
	}
	return nil
}

// has depends on name and total alone: a case that is added or removed moves no other.
func (s shard) has(name string) bool {
	if s.total <= 1 {
		return true
	}
	sum := sha256.Sum256([]byte(name))
	return binary.BigEndian.Uint64(sum[:])%uint64(s.total) == uint64(s.index)
}

func (s shard) part() bool { return s.total > 1 }

func (s shard) String() string { return fmt.Sprintf("shard %d of %d", s.index+1, s.total) }

// command puts the variables where assay merge reads them.
func (s shard) command(text string) string {
	if !s.part() {
		return text
	}
	return fmt.Sprintf("TEST_SHARD_INDEX=%d TEST_TOTAL_SHARDS=%d %s", s.index, s.total, text)
}

// emptyShard records a run that no case fell into, so that a merge sees that it was there.
func (b *bench) emptyShard(t T) error {
	ctx := context.Background()
	st, command, err := b.open(ctx, t)
	if err != nil {
		return err
	}
	now := time.Now().UTC().Truncate(time.Millisecond)
	r := store.Run{ID: fmt.Sprintf("%s-empty-%d-%d", now.Format("20060102T150405.000Z"), b.env.cfg.Shard.index, os.Getpid()), Started: now, Ended: now,
		Command: command, ScoreVersion: score.Version, State: "finished", Usage: audit.Usage{Priced: true}}
	return st.Begin(ctx, r)
}
