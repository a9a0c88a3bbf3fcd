package sqlreview

import (
	"slices"
	"strings"
	"testing"

	"assay/audit"

	"github.com/stretchr/testify/assert"
)

// kennel is a SPEC whose session is asked by functions.
const kennel = `
| helper | gives |
|---|---|
| ` + "`my_kennel()`, `my_self()`" + ` | the kennel and the keeper of the session |
| ` + "`my_rank(run)`" + ` | the rank of the keeper in that run, NULL when there is none |
| ` + "`barred(dog)`" + ` | true when the dog is under quarantine |

` + "```sql" + `
CREATE TABLE kennel (id bigint PRIMARY KEY, name text NOT NULL);
CREATE TABLE keeper (id bigint PRIMARY KEY, kennel_id bigint NOT NULL REFERENCES kennel, name text NOT NULL, password_hash text NOT NULL);
CREATE TABLE run (id bigint PRIMARY KEY, kennel_id bigint NOT NULL REFERENCES kennel, name text NOT NULL, deleted_at timestamptz);
CREATE TABLE duty (id bigint PRIMARY KEY, run_id bigint NOT NULL REFERENCES run, keeper_id bigint NOT NULL REFERENCES keeper, rank text NOT NULL,
  since timestamptz NOT NULL, until timestamptz);
CREATE TABLE dog (id bigint PRIMARY KEY, kennel_id bigint NOT NULL REFERENCES kennel, run_id bigint NOT NULL REFERENCES run, name text NOT NULL,
  state text NOT NULL CHECK (state IN ('new','kept','gone')), stay daterange NOT NULL, shown_from timestamptz, fed_by bigint REFERENCES keeper,
  walks int NOT NULL, max_walks int NOT NULL, deleted_at timestamptz);
CREATE TABLE quarantine (id bigint PRIMARY KEY, dog_id bigint NOT NULL REFERENCES dog, until timestamptz NOT NULL, lifted_at timestamptz);
CREATE FUNCTION my_kennel() RETURNS bigint LANGUAGE sql STABLE AS $$ SELECT current_setting('app.kennel')::bigint $$;
CREATE FUNCTION my_self() RETURNS bigint LANGUAGE sql STABLE AS $$ SELECT current_setting('app.keeper')::bigint $$;
` + "```" + `

## Security Requirements

1. **Kennels are apart.** Every row that has a ` + "`kennel_id`" + ` belongs to that kennel; keepers see and change only rows of their own kennel, never those of another tenant.
2. **Ranks.** Releasing a dog takes a keeper with a rank in its run.
3. **Quarantine.** A dog under quarantine is in no list.
4. **Two at once.** Two sessions get no more than two in turn; a state is looked at under a lock.
`

const (
	dogs   = `SELECT d.id, d.name FROM dog d WHERE d.kennel_id = my_kennel() AND d.deleted_at IS NULL `
	sorted = ` ORDER BY d.id LIMIT 20`
)

// slips are pairs of code, the second of which shows a slip by itself.
var slips = []struct{ name, good, bad, says string }{
	{"one end of two", dogs + `AND EXISTS (SELECT 1 FROM duty u WHERE u.run_id = d.run_id AND u.keeper_id = my_self() AND u.since <= now() AND (u.until IS NULL OR u.until > now()))` + sorted,
		dogs + `AND EXISTS (SELECT 1 FROM duty u WHERE u.run_id = d.run_id AND u.keeper_id = my_self() AND u.since <= now())` + sorted, "not whether it has ended"},
	{"one end of a range", dogs + `AND d.stay @> current_date` + sorted, dogs + `AND lower(d.stay) <= current_date` + sorted, "only one end"},
	{"a moment that is set", dogs + `AND d.shown_from <= now()` + sorted, dogs + `AND d.shown_from IS NOT NULL` + sorted, "whether it has come"},
	{"a branch without the mark", `SELECT d.id FROM dog d WHERE d.kennel_id = my_kennel() AND (d.state = 'new' OR d.state = 'kept') AND d.deleted_at IS NULL` + sorted,
		`SELECT d.id FROM dog d WHERE d.kennel_id = my_kennel() AND (d.state = 'new' OR d.state = 'kept' AND d.deleted_at IS NULL)` + sorted, "only one branch"},
	{"missing or harmless", dogs + `AND NOT EXISTS (SELECT 1 FROM quarantine q WHERE q.dog_id = d.id AND q.lifted_at IS NULL AND q.until > now())` + sorted,
		`SELECT d.id FROM dog d LEFT JOIN quarantine q ON q.dog_id = d.id WHERE d.kennel_id = my_kennel() AND d.deleted_at IS NULL AND (q.id IS NULL OR q.lifted_at IS NOT NULL)` + sorted, "harmless"},
	{"picked, then asked", dogs + sorted, `SELECT d.id FROM dog d LEFT JOIN LATERAL (SELECT q.lifted_at FROM quarantine q WHERE q.dog_id = d.id ORDER BY q.id DESC LIMIT 1) l ON true
 WHERE d.kennel_id = my_kennel() AND d.deleted_at IS NULL AND l.lifted_at IS NOT NULL` + sorted, "is picked"},
	{"a refusal over NULL", letGo(`my_rank(v_run) IS DISTINCT FROM 'chief'`), letGo(`my_rank(v_run) <> 'chief'`), "may be NULL"},
	{"nobody's own", letGo(`my_rank(v_run) IS NULL OR v_by = my_self()`), letGo(`my_rank(v_run) IS NULL OR v_by <> my_self()`), "may be NULL"},
	{"a refusal that the client switches", letGo(`my_rank(v_run) IS NULL OR barred(p_dog)`), letGo(`my_rank(v_run) IS NULL OR (p_strict AND barred(p_dog))`), "the client sends"},
	{"in place of who acts", `UPDATE dog d SET fed_by = my_self() WHERE d.id = :id AND d.kennel_id = my_kennel() AND d.deleted_at IS NULL`,
		`UPDATE dog d SET fed_by = COALESCE(:who, my_self()) WHERE d.id = :id AND d.kennel_id = my_kennel() AND d.deleted_at IS NULL`, "in place of who acts"},
	{"the row but for some columns", dogs + sorted, `SELECT to_jsonb(d) - 'walks' FROM dog d WHERE d.kennel_id = my_kennel() AND d.deleted_at IS NULL` + sorted, "the whole row"},
	{"the right for another row", dogs + `AND d.run_id = :run AND my_rank(:run) = 'chief'` + sorted, dogs + `AND my_rank(:run) = 'chief'` + sorted, "need not be"},
	{"any row will do", `WITH mine AS (SELECT u.run_id FROM duty u WHERE u.keeper_id = my_self() AND u.since <= now() AND u.until > now()) ` + dogs + `AND d.run_id IN (SELECT run_id FROM mine)` + sorted,
		`WITH mine AS (SELECT u.run_id FROM duty u WHERE u.keeper_id = my_self() AND u.since <= now() AND u.until > now()) ` + dogs + `AND EXISTS (SELECT 1 FROM mine)` + sorted, "will do"},
	{"asked after the window", `SELECT x.id FROM (SELECT d.id, rank() OVER (ORDER BY d.walks) AS place FROM dog d WHERE d.kennel_id = my_kennel() AND NOT barred(d.id)) x ORDER BY x.id LIMIT 20`,
		`SELECT x.id FROM (SELECT d.id, rank() OVER (ORDER BY d.walks) AS place FROM dog d WHERE d.kennel_id = my_kennel()) x WHERE NOT barred(x.id) ORDER BY x.id LIMIT 20`, "after a window"},
	{"looked at elsewhere", `WITH t AS (SELECT id FROM dog WHERE id = :id AND kennel_id = my_kennel()) UPDATE dog d SET state = 'gone' FROM t WHERE d.id = t.id AND d.state = 'kept'`,
		`WITH t AS (SELECT id FROM dog WHERE id = :id AND kennel_id = my_kennel() AND state = 'kept') UPDATE dog d SET state = 'gone' FROM t WHERE d.id = t.id`, "another part of the statement"},
	{"a counter without a lock", walk(" FOR UPDATE"), walk(""), "without a lock"},
}

func letGo(refused string) string {
	return `CREATE FUNCTION let_go(p_dog bigint, p_strict boolean) RETURNS void LANGUAGE plpgsql AS $$
DECLARE v_run bigint; v_by bigint;
BEGIN
  SELECT d.run_id, d.fed_by INTO v_run, v_by FROM dog d WHERE d.id = p_dog AND d.kennel_id = my_kennel() AND d.deleted_at IS NULL FOR UPDATE;
  IF NOT FOUND OR ` + refused + ` THEN RAISE EXCEPTION 'no'; END IF;
  UPDATE dog SET name = 'x' WHERE id = p_dog;
END $$`
}

func walk(lock string) string {
	return `CREATE FUNCTION walk(p_dog bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE v dog%ROWTYPE;
BEGIN
  SELECT * INTO v FROM dog WHERE id = p_dog AND kennel_id = my_kennel() AND deleted_at IS NULL` + lock + `;
  IF NOT FOUND OR v.walks >= v.max_walks THEN RAISE EXCEPTION 'no'; END IF;
  UPDATE dog SET walks = walks + 1 WHERE id = v.id;
END $$`
}

func TestSlips(t *testing.T) {
	for _, w := range slips {
		t.Run(w.name, func(t *testing.T) {
			says := func(code string) bool {
				r, broken := inspect(specOf(kennel), code)
				assert.Zero(t, broken)
				return slices.ContainsFunc(r.found, func(v violation) bool { return v.conf >= 0.5 && strings.Contains(v.why, w.says) })
			}
			assert.False(t, says(w.good), "good")
			assert.True(t, says(w.bad), "bad")
		})
	}
}

func TestSessionFunctions(t *testing.T) {
	s := specOf(kennel)
	assert.True(t, s.isScope("p:my_kennel()"))
	assert.True(t, s.isActor("p:my_self()"))
	assert.False(t, s.isActor("p:my_kennel()"))
}

// TestWeightOfReadings: what alone the wording of long requirements says is a note; what
// the code itself bears out is not.
func TestWeightOfReadings(t *testing.T) {
	long := strings.ReplaceAll(orchard, "\n## Security", " \n## Security")
	for _, end := range []string{"wildcards escaped.", "after the lock (`FOR UPDATE`) was obtained, in a later statement.", "Lists return at most 100 rows"} {
		long = strings.Replace(long, end, end+strings.Repeat(" This has been so since the first of the orchards was planted and the first of the ladders was put up.", 6), 1)
	}
	assert.False(t, specOf(orchard).dense())
	assert.True(t, specOf(long).dense())
	decided := `UPDATE harvests h SET state = 'accepted', decided_by = :me, decided_at = now() FROM fields f, workers w
 WHERE h.id = :id AND f.id = h.field_id AND f.farm_id = :farm AND f.erased_at IS NULL AND w.id = :me AND w.farm_id = :farm
 AND h.state = 'noted' AND h.noted_by <> :me`
	assert.Equal(t, audit.Bad, Review(orchard, decided).Verdict, "a permission that nothing asks for")
	assert.Equal(t, audit.Good, Review(long, decided).Verdict)
	other := `SELECT f.id, (SELECT count(*) FROM fields g WHERE g.farm_id = :farm AND g.name = f.name) AS named FROM fields f WHERE f.farm_id = :farm AND f.erased_at IS NULL` + page
	assert.Equal(t, audit.Bad, Review(long, other).Verdict, "one of two rows is held to the mark")
	assert.Equal(t, audit.Good, Review(long, `SELECT f.id, f.name FROM fields f WHERE f.farm_id = :farm`+page).Verdict, "no row is held to the mark")
}
