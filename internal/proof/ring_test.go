package proof

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"assay/audit"
)

// A Writer is what one session of a pair runs.
type Writer struct {
	Fam  *audit.Family
	Case *audit.Case
	Set  audit.ParamSet
}

// Met is what became of a pair in one schedule, and what each of the two broke.
type Met struct {
	Schedule string
	Violated [2][]Violation
}

// Footprint runs a writer alone and gives the ids that the rows hold which it changes.
func Footprint(ctx context.Context, p *Postgres, w Writer) (ids []string, err error) {
	steps, err := parse(w.Case.Code, w.Set.Values)
	if err != nil {
		return nil, err
	}
	s := p.sides[0]
	if err := s.begin(ctx, w.Fam, &w.Set); err != nil {
		return nil, err
	}
	defer func() { _, _ = s.conn.Exec(ctx, "ROLLBACK") }()
	for _, st := range steps {
		if st.txn == "" {
			if _, err := s.exec(ctx, st); err != nil {
				return nil, nil
			}
		}
	}
	if err := p.noteChanges(ctx, s, &w.Set); err != nil {
		return nil, err
	}
	return names(ctx, s.conn, `SELECT DISTINCT f.value #>> '{}' FROM changes c, jsonb_each(coalesce(c.new, c.old)) f
		WHERE (f.key = 'id' OR f.key LIKE '%\_id') AND f.key NOT IN ('org_id', 'agency_id', 'network_id') AND f.value <> 'null'`)
}

// A Ring is a database in which writers meet: two sessions, and one that judges. What
// they change is taken back after each schedule, which is much cheaper than a copy of
// the database for each.
type Ring struct {
	p     *Postgres
	sides [3]*side
	seen  map[string]bool // signatures of schedules that need no judge
}

// NewRing opens a ring on a copy of p's data, which the Close of p removes.
func NewRing(ctx context.Context, p *Postgres) (*Ring, error) {
	r := &Ring{p: p}
	db := p.newName()
	if err := p.create(ctx, db, p.template); err != nil {
		return nil, err
	}
	for i := range r.sides {
		var err error
		if r.sides[i], err = p.newSession(ctx, "", db); err != nil {
			return nil, err
		}
	}
	if _, err := r.sides[2].conn.Exec(ctx, stepLog, pgx.QueryExecModeSimpleProtocol); err != nil {
		return nil, err
	}
	return r, r.sides[2].open(ctx)
}

// undo takes back every step that was noted, the last one first.
const undo = `DO $$ DECLARE s record; cols text;
BEGIN
  FOR s IN SELECT * FROM race.steps ORDER BY ctid DESC LOOP
    IF s.old IS NULL THEN EXECUTE format('DELETE FROM public.%I WHERE id::text = %L', s.tab, s.new ->> 'id');
    ELSIF s.new IS NULL THEN EXECUTE format('INSERT INTO public.%1$I SELECT * FROM jsonb_populate_record(NULL::public.%1$I, %2$L)', s.tab, s.old);
    ELSE
      SELECT string_agg(format('%I', attname), ', ') INTO cols FROM pg_attribute
      WHERE attrelid = ('public.' || quote_ident(s.tab))::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = '';
      EXECUTE format('UPDATE public.%1$I SET (%2$s) = (SELECT %2$s FROM jsonb_populate_record(NULL::public.%1$I, %3$L)) WHERE id::text = %4$L',
        s.tab, cols, s.old, s.new ->> 'id');
    END IF;
  END LOOP;
END $$; TRUNCATE race.steps;`

// Meet runs two writers in every schedule: in both orders first, then with the second
// running to its end, or to a lock, after each statement of the first. Schedules in which
// each of the two does and gives what it does and gives in one of the orders are not
// judged. Orders are judged when a schedule breaks something.
func (r *Ring) Meet(ctx context.Context, ws [2]Writer) (serial, raced []Met, err error) {
	var steps [2][]step
	for i, w := range ws {
		if steps[i], err = raceSteps(w.Case.Code, w.Set.Values); err != nil {
			return nil, nil, err
		}
	}
	whole := func(first int) int { return len(steps[first]) }
	r.seen = map[string]bool{}
	for first := range 2 {
		if _, err := r.meet(ctx, ws, steps, first, whole(first), false); err != nil {
			return nil, nil, err
		}
	}
	broken := false
	for first := range 2 {
		for k := whole(first) - 1; k > 0; k-- {
			if steps[first][k-1].txn != "" {
				continue
			}
			m, err := r.meet(ctx, ws, steps, first, k, true)
			if err != nil {
				return nil, nil, err
			}
			raced = append(raced, m)
			broken = broken || len(m.Violated[0])+len(m.Violated[1]) > 0
		}
	}
	for first := 0; broken && first < 2; first++ {
		r.seen = map[string]bool{}
		m, err := r.meet(ctx, ws, steps, first, whole(first), true)
		if err != nil {
			return nil, nil, err
		}
		serial = append(serial, m)
	}
	return serial, raced, nil
}

// meet runs one schedule, and judges what was not seen before where that is asked for.
func (r *Ring) meet(ctx context.Context, ws [2]Writer, steps [2][]step, first,
	k int, judged bool) (m Met, err error) {
	m.Schedule = fmt.Sprintf("%s runs after statement %d of %s", ws[1-first].Case.ID(), k,
		ws[first].Case.ID())
	pl := [2]*player{{side: r.sides[0], set: &ws[0].Set}, {side: r.sides[1], set: &ws[1].Set}}
	a, b := pl[first], pl[1-first]
	a.play(ctx, steps[first][:k])
	done := make(chan struct{})
	go func() { defer close(done); b.play(ctx, steps[1-first]) }()
	if err := r.p.settled(ctx, b.side.conn.PgConn().PID(), done); err != nil {
		return m, err
	}
	a.play(ctx, steps[first][k:])
	<-done
	did, err := r.signature(ctx, pl)
	if err != nil {
		return m, err
	}
	for i := range pl {
		if judged && !r.seen[did] && pl[i].err == "" { // who failed has changed nothing
			if m.Violated[i], err = r.judge(ctx, ws[i], pl[i]); err != nil {
				return m, err
			}
		}
	}
	r.seen[did] = true
	judge := r.sides[2]
	_, err = judge.conn.Exec(ctx, undo+judge.resets, pgx.QueryExecModeSimpleProtocol)
	return m, err
}

// signature is what each of the two did, step by step, and gave.
func (r *Ring) signature(ctx context.Context, pl [2]*player) (string, error) {
	var all string
	for _, one := range pl {
		did, err := names(ctx, r.sides[2].conn,
			fmt.Sprintf(
				`SELECT concat_ws(' ', tab, old, new) FROM race.steps WHERE pid = %d ORDER BY ctid`,
				one.side.conn.PgConn().PID()))
		if err != nil {
			return "", err
		}
		all += fmt.Sprintln(did, one.err)
		if one.last != nil {
			all += fmt.Sprintln(one.last.columns, one.last.rows)
		}
	}
	return all, nil
}

// judge holds the oracles against the steps of one of the two.
func (r *Ring) judge(ctx context.Context, w Writer, pl *player) ([]Violation, error) {
	judge, set := r.sides[2], w.Set
	set.Race = map[string]any{}
	if err := judge.begin(ctx, w.Fam, &set); err != nil {
		return nil, err
	}
	if _, err := judge.conn.Exec(ctx, "DELETE FROM race.steps WHERE pid <> $1",
		int32(pl.side.conn.PgConn().PID())); err != nil {
		return nil, err
	}
	var e Effect
	if err := r.p.judge(ctx, judge, w.Fam, &set, &e, pl.last); err != nil {
		return nil, err
	}
	_, err := judge.conn.Exec(ctx, "ROLLBACK")
	return e.Violated, err
}
