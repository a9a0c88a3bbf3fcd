package proof

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"assay/audit"
)

// jsonOf returns a value of a column's type as the nearest JSON value.
func jsonOf(typ string, value []byte) any {
	text := string(value)
	switch {
	case value == nil:
		return nil
	case typ == "bool":
		return text == "t"
	case typ == "int", typ == "numeric" && text != "NaN" && !strings.HasSuffix(text, "Infinity"):
		return json.Number(text)
	case typ == "json":
		return json.RawMessage(text)
	}
	return text
}

// oracles runs all oracles as columns of one statement; each column holds the oracle's first
// row, or NULL.
func (p *Postgres) oracles(ctx context.Context, s *side, e *Effect) error {
	all := p.app.Oracles
	t, err := s.exec(ctx, step{sql: oracleSQL(all)})
	if err != nil {
		return oracleError(ctx, s, all, err)
	}
	for i, o := range all {
		if why := t.rows[0][i]; why != nil {
			e.Violated = append(e.Violated, Violation{o.Requirement, o.Name,
				clip(string(why), 300)})
		}
	}
	return nil
}

// oracleSQL returns the statement that runs the oracles.
func oracleSQL(os []audit.Oracle) string {
	cols := make([]string, len(os))
	for i, o := range os {
		cols[i] = fmt.Sprintf("(SELECT to_jsonb(o%d)::text FROM (%s\n) o%d LIMIT 1)", i,
			inline(strings.TrimRight(strings.TrimSpace(o.SQL), ";")), i)
	}
	return "SELECT " + strings.Join(cols, ",\n")
}

// oracleError returns an error that names the oracle that does not run.
func oracleError(ctx context.Context, s *side, os []audit.Oracle, err error) error {
	if s.conn.PgConn().TxStatus() == 'E' {
		if _, rerr := s.conn.Exec(ctx, "ROLLBACK TO SAVEPOINT judged"); rerr != nil {
			return err
		}
	}
	for _, o := range os {
		if _, one := s.exec(ctx, step{sql: oracleSQL([]audit.Oracle{o})}); one != nil {
			return fmt.Errorf("%s: the oracle %q does not run: %w", o.Pos, o.Name, explain(one, ""))
		}
	}
	return fmt.Errorf("an oracle does not run on this effect: %w", explain(err, ""))
}
