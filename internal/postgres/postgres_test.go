package postgres_test

import (
	"context"
	"errors"
	"net/url"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"assay/internal/postgres"
)

func TestStart(t *testing.T) {
	dsn, stop, err := postgres.Start()
	if errors.Is(err, postgres.ErrMissing) {
		t.Skip(err)
	}
	require.NoError(t, err)
	defer stop()

	ctx := context.Background()
	c, err := pgx.Connect(ctx, dsn)
	require.NoError(t, err)
	var who, super, listen string
	require.NoError(t, c.QueryRow(ctx,
		`SELECT current_user, current_setting('is_superuser'), current_setting('listen_addresses')`).Scan(&who, &super, &listen))
	require.Equal(t, []string{postgres.Role, "off", ""}, []string{who, super, listen})
	_, err = c.Exec(ctx, `COPY (SELECT 1) TO PROGRAM 'true'`)
	require.ErrorContains(t, err, "pg_execute_server_program")
	_, err = c.Exec(ctx, `CREATE DATABASE another`)
	require.NoError(t, err)
	require.NoError(t, c.Close(ctx))

	u, err := url.Parse(dsn)
	require.NoError(t, err)
	stop()
	stop()
	require.NoDirExists(t, u.Query().Get("host"))
	_, err = pgx.Connect(ctx, dsn)
	require.Error(t, err)
}
