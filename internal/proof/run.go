package proof

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"assay/audit"
)

// Run runs code, a variant of fam, on each set: once for each order of the rows or, if the set
// has a second session, once for each interleaving. See [Runner].
func (p *Postgres) Run(ctx context.Context, fam *audit.Family, code string,
	sets []audit.ParamSet) ([][]Effect, error) {
	all := make([][]Effect, len(sets))
	for i := range sets {
		var err error
		if all[i], err = p.run(ctx, fam, code, &sets[i]); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// run runs code on one set.
func (p *Postgres) run(ctx context.Context, fam *audit.Family, code string,
	set *audit.ParamSet) ([]Effect, error) {
	if set.Race != nil {
		return p.runRace(ctx, fam, code, set)
	}
	steps, err := parse(code, set.Values)
	if err != nil {
		return nil, err
	}
	var all []Effect
	for _, s := range p.sides {
		e, err := p.runOn(ctx, s, fam, steps, set)
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return all, nil
}

// A step is one statement with its parameters.
type step struct {
	sql    string
	names  []string
	values map[string]any
	// "begin", "commit", "rollback", "set transaction": it governs the transaction; else empty
	txn string
}

// parse returns the statements of code with pasted and bound parameters. It is an error if a
// parameter is missing or there is no statement.
func parse(code string, values map[string]any) ([]step, error) {
	text, err := paste(code, values)
	if err != nil {
		return nil, err
	}
	var steps []step
	for _, ts := range statements(text) {
		st := step{values: values, txn: transaction(ts)}
		st.sql, st.names = bind(ts)
		for _, n := range st.names {
			if _, ok := values[n]; !ok {
				return nil, fmt.Errorf(":%s is in the code and not among the parameters", n)
			}
		}
		steps = append(steps, st)
	}
	if len(steps) == 0 {
		return nil, errors.New("no statement in the code")
	}
	return steps, nil
}

// transaction returns how a statement controls the transaction ("begin", "commit", "rollback",
// "set transaction"); "" if it does not.
func transaction(ts []token) string {
	var w []string
	for _, t := range ts {
		if t.code() {
			w = append(w, strings.ToLower(t.text))
		}
	}
	w = append(w, "", "")
	switch {
	case w[0] == "begin", w[0] == "start" && w[1] == "transaction":
		return "begin"
	case w[0] == "commit", w[0] == "end":
		return "commit"
	case w[0] == "rollback" && !slices.Contains(w[1:3], "to"), w[0] == "abort": // ROLLBACK WORK TO is about a savepoint
		return "rollback"
	case w[0] == "set" && (w[1] == "transaction" || w[1] == "session"):
		return "set transaction"
	}
	return ""
}

// runOn runs the steps in one transaction and rolls it back. It skips statements that control
// the transaction, since the surrounding one is used.
func (p *Postgres) runOn(ctx context.Context, s *side, fam *audit.Family, steps []step,
	set *audit.ParamSet) (e Effect, err error) {
	e.Variant = s.name
	if err := s.begin(ctx, fam, set); err != nil {
		return e, err
	}
	defer func() {
		if _, rerr := s.conn.Exec(ctx, "ROLLBACK"); rerr != nil && err == nil {
			err = rerr
		}
	}()
	var returned []*table
	for _, st := range steps {
		if st.txn == "rollback" {
			e.Err = "the code rolled back"
			break
		}
		if st.txn != "" {
			continue
		}
		t, xerr := s.exec(ctx, st)
		if xerr != nil {
			e.Err = explain(xerr, st.sql).Error()
			break
		}
		if t != nil {
			returned = append(returned, t)
		}
	}
	if s.conn.PgConn().TxStatus() == 'I' {
		return e, fmt.Errorf(
			"the code ended the transaction that it was run in, and its effects stay: what it pastes holds COMMIT")
	}
	if e.Err != "" {
		returned = nil
		if _, err := s.conn.Exec(ctx, "ROLLBACK TO SAVEPOINT code"); err != nil {
			return e, err
		}
	}
	return e, p.judge(ctx, s, fam, set, &e, returned...)
}

// begin opens the transaction of a run and stores its parameters.
func (s *side) begin(ctx context.Context, fam *audit.Family, set *audit.ParamSet) error {
	sql := "BEGIN;"
	if fam.Verify != "" {
		sql = s.resets + sql
	}
	sql += session(set) + "INSERT INTO params VALUES (" + literal(jsonText(set.Values)) +
		"); SAVEPOINT code"
	_, err := s.conn.Exec(ctx, sql, pgx.QueryExecModeSimpleProtocol)
	return err
}

// session returns the statements that set the time and time zone of a set.
func session(set *audit.ParamSet) string {
	var sql string
	if set.Now != "" {
		sql += "SET LOCAL assay.now = " + literal(set.Now) + ";"
	}
	if set.TimeZone != "" {
		sql += "SET LOCAL timezone = " + literal(set.TimeZone) + ";"
	}
	return sql
}

// literal returns s as an SQL string literal.
func literal(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// maxRows is the number of rows of a result that are compared. It bounds memory if a case lacks
// a join condition.
const maxRows = 2000

// exec runs one statement and returns its rows, nil for a statement that returns none.
func (s *side) exec(ctx context.Context, st step) (*table, error) {
	sd, err := s.prepare(ctx, st.sql)
	if err != nil {
		return nil, err
	}
	args := make([][]byte, len(st.names))
	for i, n := range st.names {
		args[i] = argument(st.values[n], sd.ParamOIDs[i])
	}
	res := s.conn.PgConn().ExecPrepared(ctx, sd.Name, args, nil, nil).Read()
	if res.Err != nil {
		return nil, res.Err
	}
	if len(sd.Fields) == 0 {
		return nil, nil
	}
	t := &table{rows: res.Rows[:min(len(res.Rows), maxRows)]}
	for _, f := range sd.Fields {
		t.columns = append(t.columns, column{unique(t.columns, f.Name), typeName(f.DataTypeOID)})
	}
	return t, nil
}

// prepare parses a statement once a session.
func (s *side) prepare(ctx context.Context, sql string) (*pgconn.StatementDescription, error) {
	if sd := s.prepared[sql]; sd != nil {
		return sd, nil
	}
	sd, err := s.conn.PgConn().Prepare(ctx, "kept"+strconv.Itoa(len(s.prepared)), sql, nil)
	if err == nil {
		s.prepared[sql] = sd
	}
	return sd, err
}

// unique returns the name, with a number if a column of that name exists.
func unique(cs []column, name string) string {
	try := name
	for n := 2; slices.ContainsFunc(cs, func(c column) bool { return c.name == try }); n++ {
		try = name + "#" + strconv.Itoa(n)
	}
	return try
}

// argument returns a value in PostgreSQL's text form; nil for NULL.
func argument(v any, oid uint32) []byte {
	switch v := v.(type) {
	case nil:
		return nil
	case []any:
		if oid == pgtype.JSONOID || oid == pgtype.JSONBOID {
			return []byte(jsonText(v))
		}
		return []byte(arrayText(v))
	case map[string]any:
		return []byte(jsonText(v))
	case string:
		if oid == pgtype.JSONOID || oid == pgtype.JSONBOID {
			return []byte(jsonText(v))
		}
	}
	return []byte(plain(v))
}

// arrayText returns an array in PostgreSQL's text form. Nested arrays become dimensions.
func arrayText(v []any) string {
	parts := make([]string, len(v))
	for i, e := range v {
		switch e := e.(type) {
		case nil:
			parts[i] = "NULL"
		case []any:
			parts[i] = arrayText(e)
		default:
			parts[i] = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(plain(e)) + `"`
		}
	}
	return "{" + strings.Join(parts, ",") + "}"
}

var typeNames = map[uint32]string{
	pgtype.Int2OID: "int", pgtype.Int4OID: "int", pgtype.Int8OID: "int",
	pgtype.TextOID: "text", pgtype.VarcharOID: "text", pgtype.BPCharOID: "text",
	pgtype.NameOID: "text", pgtype.UnknownOID: "text",
	pgtype.NumericOID: "numeric", pgtype.Float4OID: "float", pgtype.Float8OID: "float",
	pgtype.BoolOID: "bool",
	pgtype.JSONOID: "json", pgtype.JSONBOID: "json",
	pgtype.DateOID: "date", pgtype.TimestampOID: "timestamp", pgtype.TimestamptzOID: "timestamptz",
}

// typeName returns the folded name of a type.
func typeName(oid uint32) string { return cmp.Or(typeNames[oid], fmt.Sprint("oid ", oid)) }

// judge passes the rows that each statement returned, nil for none, to the oracles and
// completes the effect. The rows of the last statement are its result.
func (p *Postgres) judge(ctx context.Context, s *side, fam *audit.Family, set *audit.ParamSet,
	e *Effect, returned ...*table) error {
	docs := []any{}
	e.Result = (*table)(nil).canonical()
	for _, t := range returned {
		if t == nil {
			continue
		}
		docs = append(docs, t.docs())
		e.Rows, e.Result = len(t.rows), t.canonical()
	}
	if err := p.noteChanges(ctx, s, set); err != nil {
		return err
	}
	_, err := s.exec(ctx, step{sql: `INSERT INTO returned SELECT s, n, d, s = jsonb_array_length($1::jsonb)
		FROM jsonb_array_elements($1::jsonb) WITH ORDINALITY AS t (docs, s), jsonb_array_elements(docs) WITH ORDINALITY AS x (d, n)`,
		names: []string{"docs"}, values: map[string]any{"docs": docs}})
	if err != nil {
		return err
	}
	if _, err := s.conn.Exec(ctx, "SAVEPOINT judged"); err != nil {
		return err
	}
	if err := p.oracles(ctx, s, e); err != nil {
		return err
	}
	if fam.Verify == "" {
		return nil
	}
	steps, err := parse(fam.Verify, set.Values)
	if err != nil {
		return fmt.Errorf("%s: # Verify: %w", fam.Pos, err)
	}
	for _, st := range steps {
		v, err := s.exec(ctx, st)
		if err != nil {
			return fmt.Errorf("%s: # Verify: %w", fam.Pos, explain(err, st.sql))
		}
		e.Result += "state:\n" + v.canonical()
	}
	return nil
}

// noteChanges fills the table changes.
func (p *Postgres) noteChanges(ctx context.Context, s *side, set *audit.ParamSet) error {
	notes := []string{`INSERT INTO changes SELECT tab, old, new FROM race.steps WHERE old IS DISTINCT FROM new`}
	if set.Race == nil {
		var err error
		if notes, err = p.written(ctx, s); err != nil {
			return err
		}
	}
	for _, sql := range notes {
		if _, err := s.exec(ctx, step{sql: sql}); err != nil {
			return explain(err, "")
		}
	}
	return nil
}

// written returns the statements that note what this transaction changed. It finds the tables
// by PostgreSQL's statistics, which may include preceding changes of this connection. A change
// outside of the schema public is an error.
func (p *Postgres) written(ctx context.Context, s *side) ([]string, error) {
	t, err := s.exec(ctx, step{sql: `SELECT relname, schemaname FROM pg_stat_xact_user_tables
		WHERE schemaname !~ '^pg_temp|^before$|^race$' AND n_tup_ins + n_tup_upd + n_tup_del > 0`})
	if err != nil {
		return nil, err
	}
	notes := make([]string, len(t.rows))
	for i, r := range t.rows {
		if schema := string(r[1]); schema != "public" {
			return nil, fmt.Errorf(
				"the code changes %s.%s: expected changes in schema public alone, as oracles see no others", schema, r[0])
		}
		notes[i] = p.diffs[string(r[0])]
	}
	return notes, nil
}

// docs returns the rows as JSON objects.
func (t *table) docs() []any {
	docs := make([]any, len(t.rows))
	for i, r := range t.rows {
		doc := make(map[string]any, len(r))
		for j, c := range r {
			doc[t.columns[j].name] = jsonOf(t.columns[j].typ, c)
		}
		docs[i] = doc
	}
	return docs
}
