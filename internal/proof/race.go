package proof

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"assay/audit"
)

// runRace runs the code against a second session, on a fresh copy of the database for each
// interleaving. The first session pauses after its k-th statement, the second runs until it
// ends or waits for a lock, then the first continues. The second session runs the same code
// with the values of Race, or the set's Rival. A rival also goes first; then the case begins
// before the rival commits. Code without a transaction runs in one.
func (p *Postgres) runRace(ctx context.Context, fam *audit.Family, code string,
	set *audit.ParamSet) ([]Effect, error) {
	first, err := raceSteps(code, set.Values)
	if err != nil {
		return nil, err
	}
	values := map[string]any{}
	maps.Copy(values, set.Values)
	maps.Copy(values, set.Race)
	if set.Rival != "" {
		code = set.Rival
	}
	second, err := raceSteps(code, values)
	if err != nil {
		return nil, err
	}
	var all []Effect
	for k := 1; k < len(first); k++ {
		if first[k-1].txn != "" {
			continue
		}
		e, err := p.interleave(ctx, fam, set, first, second, k, false)
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	if set.Rival != "" {
		e, err := p.interleave(ctx, fam, set, second, first, len(second)-1, true)
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return all, nil
}

// raceSteps returns the steps of code, within a transaction.
func raceSteps(code string, values map[string]any) ([]step, error) {
	steps, err := parse(code, values)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(steps, func(st step) bool { return st.txn == "begin" }) {
		return steps, nil
	}
	steps = append([]step{{sql: "BEGIN", txn: "begin"}}, steps...)
	return append(steps, step{sql: "COMMIT", txn: "commit"}), nil
}

// interleave runs the first k steps of first, then second, then the rest of first, and returns
// the effect on a new database.
func (p *Postgres) interleave(ctx context.Context, fam *audit.Family, set *audit.ParamSet, first,
	second []step, k int, rivalFirst bool) (e Effect, err error) {
	e.Variant = fmt.Sprintf("second session runs after statement %d", k)
	if rivalFirst {
		e.Variant = "the rival commits after the case has begun"
	}
	db := p.newName()
	if _, err := p.admin.Exec(ctx, "CREATE DATABASE "+db+" TEMPLATE "+p.template); err != nil {
		return e, err
	}
	defer func() {
		if _, derr := p.admin.Exec(ctx, "DROP DATABASE "+db+" WITH (FORCE)"); derr != nil &&
			err == nil {
			err = derr
		}
	}()
	var ss [3]*side // the two sessions, and the one that judges
	for i := range ss {
		if ss[i], err = p.newSession(ctx, e.Variant, db); err != nil {
			return e, err
		}
		defer ss[i].conn.Close(ctx)
	}
	if _, err := ss[2].conn.Exec(ctx, stepLog, pgx.QueryExecModeSimpleProtocol); err != nil {
		return e, err
	}
	a, b := &player{side: ss[0], set: set}, &player{side: ss[1], set: set}
	a.play(ctx, first[:k])
	pid := b.side.conn.PgConn().PID()
	done := make(chan struct{})
	go func() { defer close(done); b.play(ctx, second) }()
	err = p.settled(ctx, pid, done)
	a.play(ctx, first[k:])
	if <-done; err != nil {
		return e, err
	}
	last := union(a.last, b.last)
	if set.Rival != "" {
		rival := b
		last = a.last
		if rivalFirst {
			rival, last = a, b.last
		}
		if err := rival.clear(ctx, ss[2].conn, set, rivalFirst); err != nil {
			return e, err
		}
	}
	if err := ss[2].open(ctx); err != nil {
		return e, err
	}
	if err := ss[2].begin(ctx, fam, set); err != nil {
		return e, err
	}
	e.Err = cmp.Or(a.err, b.err)
	return e, p.judge(ctx, ss[2], fam, set, &e, last)
}

// stepLog notes every change of a row with the session that made it. The final state alone
// would hide that a case approved a row that the other session had rejected meanwhile.
const stepLog = `
CREATE SCHEMA race;
CREATE TABLE race.steps (pid int, tab text, old jsonb, new jsonb);
CREATE FUNCTION race.note() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
  INSERT INTO race.steps SELECT pg_backend_pid(), relname, CASE WHEN TG_OP <> 'INSERT' THEN to_jsonb(OLD) END, CASE WHEN TG_OP <> 'DELETE' THEN to_jsonb(NEW) END
    FROM pg_class WHERE oid = coalesce(pg_partition_root(TG_RELID), TG_RELID);
  RETURN NULL;
END $$;
DO $$ DECLARE t regclass;
BEGIN
  FOR t IN SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' LOOP
    EXECUTE format('CREATE TRIGGER race_note AFTER INSERT OR UPDATE OR DELETE ON %s FOR EACH ROW EXECUTE FUNCTION race.note()', t);
  END LOOP;
END $$`

// settled waits until the second session (pid) has ended or waits for a lock.
func (p *Postgres) settled(ctx context.Context, pid uint32, done <-chan struct{}) error {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
			var waits bool
			err := p.admin.QueryRow(ctx, `SELECT cardinality(pg_blocking_pids($1)) > 0`,
				int32(pid)).Scan(&waits)
			if err != nil || waits {
				return err
			}
		}
	}
}

// A player is one session of a race.
type player struct {
	side *side
	set  *audit.ParamSet
	last *table
	err  string
}

// play runs steps until one fails. Then it rolls back and skips the remaining steps, as an
// application does.
func (pl *player) play(ctx context.Context, steps []step) {
	for _, st := range steps {
		if pl.err != "" {
			return
		}
		sql := st.sql
		if st.txn == "begin" {
			sql += ";" + session(pl.set)
		}
		if st.txn != "" {
			_, err := pl.side.conn.Exec(ctx, sql, pgx.QueryExecModeSimpleProtocol)
			pl.note(ctx, err, st)
			continue
		}
		t, err := pl.side.exec(ctx, st)
		pl.note(ctx, err, st)
		if t != nil {
			pl.last = t
		}
	}
}

// note records a failure and rolls back.
func (pl *player) note(ctx context.Context, err error, st step) {
	if err == nil {
		return
	}
	pl.err, pl.last = explain(err, st.sql).Error(), nil
	_, _ = pl.side.conn.Exec(ctx, "ROLLBACK", pgx.QueryExecModeSimpleProtocol)
}

// clear deletes the rival's changes from the log, because only the case is judged. It is an
// error if the rival fails, or if it goes first and changes nothing.
func (pl *player) clear(ctx context.Context, judge *pgx.Conn,
	set *audit.ParamSet, first bool) error {
	if pl.err != "" {
		return fmt.Errorf("%s: the _rival fails: %s", set.Pos, pl.err)
	}
	tag, err := judge.Exec(ctx, "DELETE FROM race.steps WHERE pid = $1",
		int32(pl.side.conn.PgConn().PID()))
	if err == nil && first && tag.RowsAffected() == 0 {
		err = fmt.Errorf(
			"%s: the _rival changes no row: expected a step on a row that the case is about",
			set.Pos)
	}
	return err
}

// union returns the rows of both sessions under the columns of the first.
func union(a, b *table) *table {
	if a == nil {
		return b
	}
	if b != nil && len(a.columns) == len(b.columns) {
		a.rows = append(a.rows, b.rows...)
	}
	return a
}
