package proof

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"assay/audit"
)

// json gives the value as JSON with the nearest type.
func (c cell) json(typ string) any {
	switch {
	case c.null:
		return nil
	case typ == "bool":
		return c.text == "t"
	case typ == "int", typ == "numeric" && c.text != "NaN" && !strings.HasSuffix(c.text, "Infinity"):
		return json.Number(c.text)
	case typ == "json":
		return json.RawMessage(c.text)
	}
	return c.text
}

// oracles runs every oracle, as columns of one statement:
// each gives its first row, or NULL.
func (p *Postgres) oracles(ctx context.Context, s *side, e *Effect) error {
	all := p.app.Oracles
	t, err := s.exec(ctx, step{sql: oracleSQL(all)}, true)
	if err != nil {
		return oracleError(ctx, s, all, err)
	}
	for i, o := range all {
		if c := t.rows[0][i]; !c.null {
			e.Violated = append(e.Violated, Violation{o.Requirement, o.Name, clip(c.text, 300)})
		}
	}
	return nil
}

func oracleSQL(os []audit.Oracle) string {
	cols := make([]string, len(os))
	for i, o := range os {
		cols[i] = fmt.Sprintf("(SELECT to_jsonb(o%d)::text FROM (%s\n) o%d LIMIT 1)", i, inline(strings.TrimRight(strings.TrimSpace(o.SQL), ";")), i)
	}
	return "SELECT " + strings.Join(cols, ",\n")
}

// oracleError finds the oracle that does not run.
func oracleError(ctx context.Context, s *side, os []audit.Oracle, err error) error {
	if s.conn.PgConn().TxStatus() == 'E' {
		if _, rerr := s.conn.Exec(ctx, "ROLLBACK TO SAVEPOINT judged"); rerr != nil {
			return err
		}
	}
	for _, o := range os {
		if _, one := s.exec(ctx, step{sql: oracleSQL([]audit.Oracle{o})}, false); one != nil {
			return fmt.Errorf("%s: the oracle %q does not run: %w", o.Pos, o.Name, explain(one, ""))
		}
	}
	return fmt.Errorf("an oracle does not run on this effect: %w", explain(err, ""))
}
