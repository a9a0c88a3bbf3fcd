package proof

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"assay/audit"
)

// Now is the time that cases see unless a parameter set states another.
const Now = "2025-06-16T09:30:00Z"

// databases counts the databases that this process created.
var databases atomic.Int64 // that this process made

// A Postgres runs the cases of one application. It holds the application's data twice, in two
// orders of insertion, and rolls each run back. It is not safe for concurrent use.
type Postgres struct {
	dsn      *pgx.ConnConfig
	admin    *pgx.Conn
	app      *audit.App
	template string            // a database that nobody is connected to, for races to copy
	diffs    map[string]string // by table: the statement that notes its changed rows
	made     []string
	sides    []*side
}

// A side is one database with one session.
type side struct {
	name string // of the variant
	conn *pgx.Conn
	// sets every sequence to where the data left it
	resets string
	// by text: oracles and the like run again and again
	prepared map[string]*pgconn.StatementDescription
}

// NewPostgres loads the application's schema and data into new databases on the server at dsn,
// whose role must be allowed to create databases. Close drops them.
func NewPostgres(ctx context.Context, dsn string, app *audit.App) (_ *Postgres, err error) {
	cfg, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, err
	}
	p := &Postgres{dsn: cfg, app: app}
	if p.admin, err = pgx.ConnectConfig(ctx, cfg); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			p.Close()
		}
	}()
	p.template = p.newName()
	if err = p.create(ctx, p.template, ""); err != nil {
		return nil, err
	}
	if err = p.load(ctx); err != nil {
		return nil, fmt.Errorf("%s: the schema or data.sql: %w", app.Dir, explain(err, ""))
	}
	for _, name := range []string{"rows as in data.sql", "rows in reverse order"} {
		s, err := p.newSide(ctx, name, len(p.sides) > 0)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", app.Dir, name, explain(err, ""))
		}
		p.sides = append(p.sides, s)
	}
	return p, nil
}

// Close ends the sessions and drops the databases.
func (p *Postgres) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	for _, s := range p.sides {
		_ = s.conn.Close(ctx)
	}
	for _, db := range p.made {
		_, _ = p.admin.Exec(ctx, "DROP DATABASE IF EXISTS "+db+" WITH (FORCE)")
	}
	_ = p.admin.Close(ctx)
}

// Prepare does nothing, since SQL is not compiled. See [Runner].
func (p *Postgres) Prepare(context.Context, []string) error { return nil }

// Runtime returns PostgreSQL's name with its major version. See [Runner].
func (p *Postgres) Runtime(ctx context.Context) (string, error) {
	var version string
	if err := p.admin.QueryRow(ctx, "SHOW server_version").Scan(&version); err != nil {
		return "", err
	}
	return "postgresql " + release(version), nil
}

// newName returns the name of a new database.
func (p *Postgres) newName() string {
	return fmt.Sprintf("assay_proof_%d_%d", time.Now().UnixNano(), databases.Add(1))
}

// create creates a database from a template, "" for the default one.
func (p *Postgres) create(ctx context.Context, db, template string) error {
	sql := "CREATE DATABASE " + db
	if template != "" {
		sql += " TEMPLATE " + template
	}
	if _, err := p.admin.Exec(ctx, sql); err != nil {
		return err
	}
	p.made = append(p.made, db)
	return nil
}

// connect opens a session with the frozen clock and the time limits of a proof.
func (p *Postgres) connect(ctx context.Context, db string) (*pgx.Conn, error) {
	cfg := p.dsn.Copy()
	cfg.Database = db
	// What is created goes to public; frozen stands before pg_catalog, so that its now() is
	// found first.
	cfg.RuntimeParams["search_path"] = "public, frozen, pg_catalog"
	cfg.RuntimeParams["timezone"] = "UTC"
	cfg.RuntimeParams["statement_timeout"] = "5000"
	cfg.RuntimeParams["jit"] = "off" // compiling would take longer than running
	cfg.RuntimeParams["assay.now"] = Now
	return pgx.ConnectConfig(ctx, cfg)
}

// clockSchema defines functions that hide PostgreSQL's own functions for the current time.
const clockSchema = `
CREATE SCHEMA frozen;
CREATE FUNCTION frozen.now() RETURNS timestamptz STABLE LANGUAGE sql
  AS $$ SELECT pg_catalog.current_setting('assay.now')::pg_catalog.timestamptz $$;
CREATE FUNCTION frozen.clock_timestamp() RETURNS timestamptz STABLE LANGUAGE sql AS $$ SELECT frozen.now() $$;
CREATE FUNCTION frozen.statement_timestamp() RETURNS timestamptz STABLE LANGUAGE sql AS $$ SELECT frozen.now() $$;
CREATE FUNCTION frozen.transaction_timestamp() RETURNS timestamptz STABLE LANGUAGE sql AS $$ SELECT frozen.now() $$;
`

// load fills the template database with the frozen clock, the SPEC's schema, data.sql, and a
// schema "before" with a copy of every table.
func (p *Postgres) load(ctx context.Context) error {
	c, err := p.connect(ctx, p.template)
	if err != nil {
		return err
	}
	defer c.Close(ctx)
	for _, sql := range []string{"SET statement_timeout = 0;" + clockSchema, freeze(p.app.Schema),
		freeze(p.app.Data)} {
		if _, err := c.Exec(ctx, sql, pgx.QueryExecModeSimpleProtocol); err != nil {
			return explain(err, sql)
		}
	}
	tables, err := names(ctx, c, `SELECT relname FROM pg_class
		WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' ORDER BY relname`)
	if err != nil {
		return err
	}
	if len(tables) == 0 {
		return errors.New(
			"no table in schema public: expected CREATE TABLE in the SPEC's ## Schema or in data.sql")
	}
	sql := "CREATE SCHEMA before;"
	p.diffs = map[string]string{}
	for _, t := range tables {
		if t == "result" || t == "returned" || t == "params" || t == "changes" {
			return fmt.Errorf(
				"a table is named %s: oracles read the proof's own table of this name", t)
		}
		q := pgx.Identifier{t}.Sanitize()
		key, err := names(ctx, c, `SELECT format('o.%1$I = n.%1$I', attname) FROM pg_index, pg_attribute
			WHERE indisprimary AND indrelid = `+literal("public."+q)+`::regclass AND attrelid = indrelid AND attnum = ANY (indkey)`)
		if err != nil {
			return err
		}
		p.diffs[t] = diffSQL(q, key)
		sql += fmt.Sprintf(
			"CREATE TABLE before.%[1]s (LIKE public.%[1]s INCLUDING INDEXES); INSERT INTO before.%[1]s TABLE public.%[1]s;", q)
	}
	_, err = c.Exec(ctx, sql+"ANALYZE;", pgx.QueryExecModeSimpleProtocol)
	return err
}

// diffSQL returns the statement that notes the rows of a table that a run changed: old is null
// for an inserted row, new for a deleted one. Without a primary key an updated row is noted as
// deleted and inserted. Changes in a partition are noted for its table.
func diffSQL(quoted string, key []string) string {
	public := literal("public."+quoted) + "::regclass"
	table := "(SELECT relname FROM pg_class WHERE oid = coalesce(pg_partition_root(" + public +
		"), " + public + "))"
	if len(key) == 0 {
		return fmt.Sprintf(`INSERT INTO changes SELECT %[1]s, to_jsonb(x), NULL FROM (TABLE before.%[2]s EXCEPT ALL TABLE public.%[2]s) x
			UNION ALL SELECT %[1]s, NULL, to_jsonb(x) FROM (TABLE public.%[2]s EXCEPT ALL TABLE before.%[2]s) x`, table, quoted)
	}
	return fmt.Sprintf(`INSERT INTO changes SELECT %[1]s, to_jsonb(o), to_jsonb(n)
		FROM before.%[2]s o FULL JOIN public.%[2]s n ON %[3]s WHERE o IS DISTINCT FROM n`, table, quoted, strings.Join(key, " AND "))
}

// freeze returns SQL with the frozen time in place of the current time.
func freeze(sql string) string {
	ts := lex(sql)
	for i := range ts {
		ts[i].text = frozen(ts[i])
	}
	return join(ts)
}

// newSide creates a database from the template, with its rows reversed on request, and opens a
// session.
func (p *Postgres) newSide(ctx context.Context, name string, reverse bool) (*side, error) {
	db := p.newName()
	if err := p.create(ctx, db, p.template); err != nil {
		return nil, err
	}
	s, err := p.newSession(ctx, name, db)
	if err != nil {
		return nil, err
	}
	if reverse {
		if err := reverseRows(ctx, s.conn); err != nil {
			return nil, err
		}
	}
	return s, s.open(ctx)
}

// newSession opens a session on a database.
func (p *Postgres) newSession(ctx context.Context, name, db string) (*side, error) {
	conn, err := p.connect(ctx, db)
	return &side{name: name, conn: conn, prepared: map[string]*pgconn.StatementDescription{}}, err
}

// open creates the session's temporary tables and notes the values of the sequences.
func (s *side) open(ctx context.Context) error {
	_, err := s.conn.Exec(ctx, `CREATE TEMP TABLE returned (statement int, row_no int, doc jsonb, last boolean);
		CREATE TEMP VIEW result AS SELECT row_no, doc FROM returned WHERE last; CREATE TEMP TABLE params (p jsonb); CREATE TEMP TABLE changes (tab text, old jsonb, new jsonb)`, pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		return err
	}
	set, err := names(ctx, s.conn, `SELECT format('SELECT setval(%L, %s, %L);',
			format('%I.%I', schemaname, sequencename), coalesce(last_value, start_value), last_value IS NOT NULL)
		FROM pg_sequences WHERE schemaname = 'public' ORDER BY sequencename`)
	s.resets = strings.Join(set, "")
	return err
}

// reverseRows rewrites every table with its rows in the opposite order. It drops foreign keys
// first and restores them afterwards.
func reverseRows(ctx context.Context, c *pgx.Conn) error {
	const fks = ` FROM pg_constraint WHERE contype = 'f' AND connamespace = 'public'::regnamespace AND conparentid = 0`
	drop, err := names(ctx, c,
		`SELECT format('ALTER TABLE %s DROP CONSTRAINT %I;', conrelid::regclass, conname)`+fks)
	if err != nil {
		return err
	}
	add, err := names(ctx, c, `SELECT format('ALTER TABLE %s ADD CONSTRAINT %I %s;', conrelid::regclass, conname,
		pg_get_constraintdef(oid))`+fks)
	if err != nil {
		return err
	}
	rewrite, err := names(ctx, c, `SELECT format('ALTER TABLE %1$s DISABLE TRIGGER USER;
		CREATE TEMP TABLE reversed AS SELECT * FROM ONLY %1$s ORDER BY ctid DESC; TRUNCATE ONLY %1$s;
		INSERT INTO %1$s (%2$s) OVERRIDING SYSTEM VALUE SELECT %2$s FROM reversed; DROP TABLE reversed;
		ALTER TABLE %1$s ENABLE TRIGGER USER;', t.oid::regclass,
		(SELECT string_agg(format('%I', attname), ', ' ORDER BY attnum) FROM pg_attribute
		 WHERE attrelid = t.oid AND attnum > 0 AND NOT attisdropped AND attgenerated = ''))
		FROM pg_class t WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'`)
	if err != nil {
		return err
	}
	all := strings.Join(drop, "") + strings.Join(rewrite, "") + strings.Join(add, "") + "ANALYZE;"
	_, err = c.Exec(ctx, all, pgx.QueryExecModeSimpleProtocol)
	return err
}

// names runs a query and returns its only column.
func names(ctx context.Context, c *pgx.Conn, sql string) ([]string, error) {
	rows, err := c.Query(ctx, sql)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// explain returns a PostgreSQL error with its detail, its code and the line of sql where it
// occurred, if that is known.
func explain(err error, sql string) error {
	var pe *pgconn.PgError
	if !errors.As(err, &pe) {
		return err
	}
	text := pe.Message
	if pe.Detail != "" {
		text += ": " + pe.Detail
	}
	if pe.Position > 0 && int(pe.Position) <= len(sql) {
		text += fmt.Sprintf(" (line %d)", 1+strings.Count(sql[:pe.Position-1], "\n"))
	}
	return fmt.Errorf("%s [%s]", text, pe.Code)
}

// jsonText returns a value that was read from JSON as JSON.
func jsonText(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return "null" // values come from encoding/json, which can write what it read
	}
	return string(b)
}
