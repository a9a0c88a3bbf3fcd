package proof

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"assay/audit"
)

// A Writer is what one session of a pair runs.
type Writer struct {
	Fam  *audit.Family
	Case *audit.Case
	Set  audit.ParamSet
}

// Met is what became of a pair in one schedule: what each of the two broke, or
// how it failed, and the state that they left.
type Met struct {
	Schedule string
	Violated [2][]Violation
	Err      [2]string
	State    []string
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
			if _, err := s.exec(ctx, st, true); err != nil {
				return nil, nil
			}
		}
	}
	if _, err := p.noteChanges(ctx, s, &w.Set); err != nil {
		return nil, err
	}
	return names(ctx, s.conn, `SELECT DISTINCT f.value #>> '{}' FROM changes c, jsonb_each(coalesce(c.new, c.old)) f
		WHERE (f.key = 'id' OR f.key LIKE '%\_id') AND f.key NOT IN ('org_id', 'agency_id', 'network_id') AND f.value <> 'null'`)
}

// Meet runs two writers in every schedule: both serial orders first, then with the
// second running to its end, or to a lock, after each statement of the first.
func Meet(ctx context.Context, p *Postgres, ws [2]Writer) (serial, raced []Met, err error) {
	var steps [2][]step
	for i, w := range ws {
		if steps[i], err = raceSteps(w.Case.Code, w.Set.Values); err != nil {
			return nil, nil, err
		}
	}
	for _, first := range []int{0, 1} {
		m, err := p.meet(ctx, ws, steps, first, len(steps[first]))
		if err != nil {
			return nil, nil, err
		}
		serial = append(serial, m)
		for k := 1; k < len(steps[first]); k++ {
			if k > 1 && steps[first][k-1].txn != "" {
				continue
			}
			m, err := p.meet(ctx, ws, steps, first, k)
			if err != nil {
				return nil, nil, err
			}
			raced = append(raced, m)
		}
	}
	return serial, raced, nil
}

func (p *Postgres) meet(ctx context.Context, ws [2]Writer, steps [2][]step, first, k int) (m Met, err error) {
	m.Schedule = fmt.Sprintf("%s runs after statement %d of %s", ws[1-first].Case.ID(), k, ws[first].Case.ID())
	db := p.newName()
	if _, err := p.admin.Exec(ctx, "CREATE DATABASE "+db+" TEMPLATE "+p.template); err != nil {
		return m, err
	}
	defer func() {
		if _, derr := p.admin.Exec(ctx, "DROP DATABASE "+db+" WITH (FORCE)"); derr != nil && err == nil {
			err = derr
		}
	}()
	var ss [3]*side
	for i := range ss {
		ss[i] = &side{db: db, prepared: map[string]*preparedStatement{}}
		if ss[i].conn, err = p.connect(ctx, db); err != nil {
			return m, err
		}
		defer ss[i].conn.Close(ctx)
	}
	if _, err := ss[2].conn.Exec(ctx, stepLog, pgx.QueryExecModeSimpleProtocol); err != nil {
		return m, err
	}
	var pl [2]*player
	for i := range pl {
		pl[i] = newPlayer(ss[i], &ws[i].Set)
	}
	a, b := pl[first], pl[1-first]
	a.play(ctx, steps[first][:k])
	done := make(chan struct{})
	go func() { defer close(done); b.play(ctx, steps[1-first]) }()
	if err := p.settled(ctx, b.side.conn.PgConn().PID(), done); err != nil {
		return m, err
	}
	a.play(ctx, steps[first][k:])
	<-done
	judge := ss[2]
	if err := judge.open(ctx); err != nil {
		return m, err
	}
	for i := range pl {
		m.Err[i] = pl[i].err
		if pl[i].err != "" {
			continue
		}
		set := ws[i].Set
		set.Race = map[string]any{}
		if err := judge.begin(ctx, ws[i].Fam, &set); err != nil {
			return m, err
		}
		if _, err := judge.conn.Exec(ctx, "DELETE FROM race.steps WHERE pid <> $1", int32(pl[i].side.conn.PgConn().PID())); err != nil {
			return m, err
		}
		var e Effect
		if err := p.judge(ctx, judge, ws[i].Fam, &set, pl[i].last, &e); err != nil {
			return m, err
		}
		m.Violated[i] = e.Violated
		if _, err := judge.conn.Exec(ctx, "ROLLBACK"); err != nil {
			return m, err
		}
	}
	var q []string
	for t := range p.diffs {
		q = append(q, fmt.Sprintf(`SELECT '%[1]s ' || (to_jsonb(x) - 'id')::text AS l FROM (TABLE public.%[1]s EXCEPT ALL TABLE before.%[1]s) x`, t))
	}
	slices.Sort(q)
	m.State, err = names(ctx, judge.conn, strings.Join(q, " UNION ALL ")+" ORDER BY l")
	return m, err
}
