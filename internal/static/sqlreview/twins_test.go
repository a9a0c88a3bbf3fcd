package sqlreview

import (
	"testing"

	"assay/audit"

	"github.com/stretchr/testify/assert"
)

// orchard is a SPEC in the manner of those that rules of reading were written for:
// parameters in a table, helpers, definitions and a table of authority.
const orchard = `
| placeholder | set by | meaning |
|---|---|---|
| ` + "`:farm`" + ` | session | the farm whose desk this is |
| ` + "`:me`" + ` | session | the signed-in worker |
| every other | client | anything |

The server replaces ` + "`${sort}`" + ` with an entry of a fixed list in its own code.

Helpers:
* ` + "`works(p_worker bigint, p_field bigint, p_roles text[]) RETURNS boolean`" + `: true when the worker has a post there.

**Erased**: having ` + "`erased_at`" + ` not null.

` + "```sql" + `
CREATE TABLE farms (id bigint PRIMARY KEY, name text NOT NULL, tz text NOT NULL);
CREATE TABLE workers (id bigint PRIMARY KEY, farm_id bigint NOT NULL REFERENCES farms, full_name text NOT NULL, bank_ref text,
  role text NOT NULL CHECK (role IN ('picker','foreman','manager')));
CREATE TABLE leases (id bigint PRIMARY KEY, owner_farm_id bigint NOT NULL REFERENCES farms,
  user_farm_id bigint NOT NULL REFERENCES farms, valid tstzrange NOT NULL);
CREATE TABLE fields (id bigint PRIMARY KEY, farm_id bigint NOT NULL REFERENCES farms, name text NOT NULL, erased_at timestamptz);
CREATE TABLE permits (id bigint PRIMARY KEY, worker_id bigint NOT NULL REFERENCES workers, field_id bigint NOT NULL REFERENCES fields,
  valid tstzrange NOT NULL, revoked_at timestamptz);
CREATE TABLE harvests (id bigint PRIMARY KEY, field_id bigint NOT NULL REFERENCES fields, picked_on date NOT NULL, crates int NOT NULL,
  state text NOT NULL CHECK (state IN ('noted','accepted','refused')), noted_by bigint NOT NULL REFERENCES workers,
  decided_by bigint REFERENCES workers, decided_at timestamptz, created_at timestamptz NOT NULL);
` + "```" + `

| Act | Roles that suffice |
|---|---|
| decide a harvest | foreman, manager |

## Security Requirements

1. **Farms are apart.** Rows belong to the farm of ` + "`:farm`" + `; fields carry ` + "`farm_id`" + `, harvests belong to the farm of the field they point to.
2. **Erased rows.** An Erased row is neither returned, counted nor changed.
3. **Permits.** A permit counts only while it is valid and not revoked.
4. **Authority.** An act of the table above takes a worker of a role that it names.
5. **Kept inside.** The worker's bank reference is in no result.
6. **Pages.** Lists return at most 100 rows, in an order that is total.
7. **Harvests.** ` + "`noted`" + ` becomes ` + "`accepted`" + ` or ` + "`refused`" + `. The worker who noted a harvest never decides on it. ` + "`decided_by`" + ` is ` + "`:me`" + `.
8. **Two sessions at once.** A field has at most one harvest per day; what is looked at is looked at after the lock (` + "`FOR UPDATE`" + `) was obtained, in a later statement.
9. **Days.** Today is the day in the time zone of the farm.
10. **Text.** Client text is bound; in a search it is taken literally, with its wildcards escaped. No client text in ` + "`${}`" + `.
`

const (
	fieldsOf = `SELECT f.id, f.name FROM fields f WHERE f.farm_id = :farm AND f.erased_at IS NULL `
	decide   = `UPDATE harvests h SET state = 'accepted', decided_by = :me, decided_at = now() FROM fields f, workers w
 WHERE h.id = :id AND f.id = h.field_id AND f.farm_id = :farm AND f.erased_at IS NULL AND w.id = :me AND w.farm_id = :farm
 AND w.role IN ('foreman','manager') `
	permitted = fieldsOf + `AND EXISTS (SELECT 1 FROM permits p WHERE p.field_id = f.id AND p.worker_id = :me `
	page      = ` ORDER BY f.name, f.id LIMIT 100`
	noteOne   = `INSERT INTO harvests (id, field_id, picked_on, crates, state, noted_by, created_at)
 SELECT :id, f.id, :day, :crates, 'noted', :me, now() FROM fields f WHERE f.id = :field AND f.farm_id = :farm AND f.erased_at IS NULL
 AND NOT EXISTS (SELECT 1 FROM harvests h WHERE h.field_id = f.id AND h.picked_on = :day)`
)

// twins are pairs of code, the second of which breaks one requirement.
var twins = []struct {
	name      string
	good, bad string
	req       int
}{
	{"the session's table of parameters", fieldsOf + page, `SELECT f.id, f.name FROM fields f WHERE f.farm_id = :other AND f.erased_at IS NULL` + page, 1},
	{"a definition of what is gone", fieldsOf + page, `SELECT f.id, f.name FROM fields f WHERE f.farm_id = :farm` + page, 2},
	{"a right in force", permitted + `AND p.valid @> now() AND p.revoked_at IS NULL)` + page, permitted + `AND p.valid @> now())` + page, 3},
	{"both ends of a range", permitted + `AND lower(p.valid) <= now() AND upper(p.valid) > now() AND p.revoked_at IS NULL)` + page,
		permitted + `AND lower(p.valid) <= now() AND p.revoked_at IS NULL)` + page, 3},
	{"a table of authority", decide + `AND h.state = 'noted' AND h.noted_by <> :me`,
		`UPDATE harvests h SET state = 'accepted', decided_by = :me, decided_at = now() FROM fields f, workers w
 WHERE h.id = :id AND f.id = h.field_id AND f.farm_id = :farm AND f.erased_at IS NULL AND w.id = :me AND w.farm_id = :farm
 AND h.state = 'noted' AND h.noted_by <> :me`, 4},
	{"a helper's roles", `UPDATE harvests h SET state = 'accepted', decided_by = :me, decided_at = now() FROM fields f
 WHERE h.id = :id AND f.id = h.field_id AND f.farm_id = :farm AND f.erased_at IS NULL AND works(:me, f.id, '{foreman}') AND h.state = 'noted' AND h.noted_by <> :me`,
		`UPDATE harvests h SET state = 'accepted', decided_by = :me, decided_at = now() FROM fields f
 WHERE h.id = :id AND f.id = h.field_id AND f.farm_id = :farm AND f.erased_at IS NULL AND works(:me, f.id, '{picker,foreman}') AND h.state = 'noted' AND h.noted_by <> :me`, 4},
	{"a column told by its parts", `SELECT w.full_name FROM workers w WHERE w.id = :me`, `SELECT w.full_name, w.bank_ref FROM workers w WHERE w.id = :me`, 5},
	{"an order that is total", fieldsOf + page, fieldsOf + ` ORDER BY f.name LIMIT 100`, 6},
	{"the state before", decide + `AND h.state = 'noted' AND h.noted_by <> :me`, decide + `AND h.noted_by <> :me`, 7},
	{"one's own", decide + `AND h.state = 'noted' AND h.noted_by <> :me`, decide + `AND h.state = 'noted'`, 7},
	{"who decides", decide + `AND h.state = 'noted' AND h.noted_by <> :me`, `UPDATE harvests h SET state = 'accepted', decided_by = :who, decided_at = now() FROM fields f, workers w
 WHERE h.id = :id AND f.id = h.field_id AND f.farm_id = :farm AND f.erased_at IS NULL AND w.id = :me AND w.farm_id = :farm
 AND w.role IN ('foreman','manager') AND h.state = 'noted' AND h.noted_by <> :me`, 7},
	{"the lock before the check", `SELECT f.id FROM fields f WHERE f.id = :field AND f.farm_id = :farm FOR UPDATE; ` + noteOne,
		`WITH f AS (SELECT id FROM fields WHERE id = :field AND farm_id = :farm AND erased_at IS NULL FOR UPDATE)
 INSERT INTO harvests (id, field_id, picked_on, crates, state, noted_by, created_at) SELECT :id, f.id, :day, :crates, 'noted', :me, now() FROM f
 WHERE NOT EXISTS (SELECT 1 FROM harvests h WHERE h.field_id = f.id AND h.picked_on = :day)`, 8},
	{"no lock at all", `SELECT f.id FROM fields f WHERE f.id = :field AND f.farm_id = :farm FOR UPDATE; ` + noteOne, noteOne, 8},
	{"the day of the place", `SELECT count(*) FROM harvests h JOIN fields f ON f.id = h.field_id JOIN farms m ON m.id = f.farm_id
 WHERE f.farm_id = :farm AND f.erased_at IS NULL AND h.picked_on = (now() AT TIME ZONE m.tz)::date`,
		`SELECT count(*) FROM harvests h JOIN fields f ON f.id = h.field_id WHERE f.farm_id = :farm AND f.erased_at IS NULL AND h.picked_on = current_date`, 9},
	{"a typed pattern", fieldsOf + `AND f.name ILIKE '%' || like_escape(:q) || '%'` + page, fieldsOf + `AND f.name ILIKE '%' || :q || '%'` + page, 10},
	{"a row found by a CASE", `SELECT w.full_name FROM harvests h JOIN fields f ON f.id = h.field_id AND f.farm_id = :farm AND f.erased_at IS NULL
 JOIN workers w ON w.id = CASE WHEN h.decided_by IS NULL THEN h.noted_by ELSE h.decided_by END AND w.farm_id = :farm WHERE h.id = :id`,
		`SELECT w.full_name FROM workers w WHERE w.farm_id = :farm`, 6},
	{"an agreement between tenants",
		`SELECT f.id, f.name FROM fields f JOIN leases l ON l.owner_farm_id = f.farm_id WHERE l.user_farm_id = :farm AND l.valid @> now() AND f.erased_at IS NULL` + page,
		`SELECT f.id, f.name FROM fields f JOIN leases l ON l.owner_farm_id = f.farm_id WHERE l.valid @> now() AND f.erased_at IS NULL` + page, 1},
	{"a refusal inside of an IF", refuse("IF NOT works(p_me, v_field, '{manager}') THEN IF NOT works(p_me, v_field, '{foreman}') THEN RAISE EXCEPTION 'no'; END IF; END IF;"),
		refuse("IF NOT works(p_me, v_field, '{picker}') THEN RAISE EXCEPTION 'no'; END IF;"), 4},
	{"a lock is no reading", `SELECT f.id FROM fields f WHERE f.id = :field AND f.farm_id = :farm FOR UPDATE; ` + fieldsOf + page,
		`SELECT f.id, f.name FROM fields f WHERE f.id = :field AND f.farm_id = :farm ORDER BY f.id LIMIT 1; ` + fieldsOf + page, 2},
	{"a hole of the server", fieldsOf + ` ORDER BY ${sort}, f.id LIMIT 100`, fieldsOf + ` ORDER BY ${order}, f.id LIMIT 100`, 10},
}

func TestTwins(t *testing.T) {
	for _, w := range twins {
		t.Run(w.name, func(t *testing.T) {
			good := Review(orchard, w.good)
			assert.Equal(t, audit.Good, good.Verdict, good.Explanation)
			bad := Review(orchard, w.bad)
			assert.Equal(t, audit.Bad, bad.Verdict)
			assert.Contains(t, bad.Violates, w.req, bad.Explanation)
		})
	}
}

// refuse gives a function that decides on a harvest after a check.
func refuse(check string) string {
	return `CREATE FUNCTION decide(p_farm bigint, p_me bigint, p_id bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE v_field bigint; v_by bigint;
BEGIN
  SELECT h.field_id, h.noted_by INTO v_field, v_by FROM harvests h JOIN fields f ON f.id = h.field_id
  WHERE h.id = p_id AND f.farm_id = p_farm AND f.erased_at IS NULL AND h.state = 'noted' AND h.noted_by <> p_me FOR UPDATE OF h;
  IF NOT FOUND THEN RAISE EXCEPTION 'no'; END IF;
  ` + check + `
  UPDATE harvests SET state = 'accepted', decided_by = p_me, decided_at = now() WHERE id = p_id;
END $$`
}

func TestLifeOfSeveralEnds(t *testing.T) {
	values := []string{"a1", "b1", "c1", "d1"}
	for _, text := range []string{"`a1` to `b1` or to `c1`", "`a1` to `b1` or `a1` to `c1`"} {
		l := readLife(text, values)
		assert.Equal(t, map[string][]string{"b1": {"a1"}, "c1": {"a1"}}, l.prior, text)
	}
	l := readLife("`a1` → `b1` → `c1`", values)
	assert.Equal(t, map[string][]string{"b1": {"a1"}, "c1": {"b1"}}, l.prior)
}

func TestSessionOfASpec(t *testing.T) {
	s := specOf(orchard)
	assert.Equal(t, []string{"farm_id"}, s.tenants)
	assert.True(t, s.isActor("p:me") && s.isActor("p:p_me"))
	assert.False(t, s.isActor("p:farm") || s.isActor("p:other"))
	assert.True(t, s.isScope("p:farm") && s.isScope("p:p_farm"))
	assert.False(t, s.isScope("p:me"))
	assert.True(t, s.safeHoles["sort"])
	assert.Equal(t, "workers", s.actorOf["me"])
}
