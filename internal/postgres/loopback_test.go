package postgres_test

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"assay/internal/postgres"
)

// start gives a server; without the programs the test is skipped, or fails where
// ./check has installed them.
func start(t testing.TB) *postgres.Loopback {
	s, err := postgres.StartLoopback(t.Context())
	if errors.Is(err, postgres.ErrMissing) && os.Getenv("ASSAY_CHECK") == "" {
		t.Skip(err)
	}
	require.NoError(t, err)
	t.Cleanup(s.Stop)
	return s
}

// TestDatabase: a role that owns its database, is no superuser, sees no other
// database, and is asked for its password.
func TestDatabase(t *testing.T) {
	s := start(t)
	ctx := t.Context()
	one, drop, err := s.Database(ctx)
	require.NoError(t, err)
	other, _, err := s.Database(ctx)
	require.NoError(t, err)
	cfg, err := pgx.ParseConfig(one)
	require.NoError(t, err)
	require.Equal(t, "127.0.0.1", cfg.Host)
	c, err := pgx.ConnectConfig(ctx, cfg)
	require.NoError(t, err)
	var super, creates bool
	var tables int
	require.NoError(t,
		c.QueryRow(ctx,
			"SELECT rolsuper, rolcreatedb OR rolcreaterole FROM pg_roles WHERE rolname = current_user").Scan(&super, &creates))
	require.NoError(t,
		c.QueryRow(ctx, "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").Scan(&tables))
	require.Equal(t, []any{false, false, 0}, []any{super, creates, tables})
	_, err = c.Exec(ctx, "CREATE TABLE t (i int)")
	require.NoError(t, err)
	_, err = c.Exec(ctx, "COPY t FROM PROGRAM 'echo 1'")
	require.ErrorContains(t, err, "pg_execute_server_program")

	foreign, err := pgx.ParseConfig(other)
	require.NoError(t, err)
	cfg.Database = foreign.Database
	_, err = pgx.ConnectConfig(ctx, cfg)
	require.ErrorContains(t, err, "permission denied for database")
	foreign.Password = "guessed"
	_, err = pgx.ConnectConfig(ctx, foreign)
	require.ErrorContains(t, err, "password authentication failed")
	foreign.User, foreign.Database = "postgres", "postgres"
	_, err = pgx.ConnectConfig(ctx, foreign)
	require.ErrorContains(t, err, "pg_hba.conf rejects")

	drop() // although c is connected
	_, err = pgx.Connect(ctx, one)
	require.Error(t, err)
	_ = c.Close(context.WithoutCancel(ctx))
}

func BenchmarkDatabase(b *testing.B) {
	s := start(b)
	for b.Loop() {
		_, drop, err := s.Database(b.Context())
		require.NoError(b, err)
		drop()
	}
}
