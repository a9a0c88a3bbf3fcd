package hostreview

import (
	"slices"
	"strings"
	"testing"

	"assay/internal/static/lang"

	"github.com/stretchr/testify/require"
)

// longSpec has requirements of several sentences, each of which is about something else.
const longSpec = "# Kennel\n\nHandlers on PostgreSQL. Boarding houses share the installation.\n\n" +
	"- `me()` is who is signed in: `id`, `house_id`, `role`.\n" +
	"- `pageOf(req)` gives `{ limit, offset }`; `limit` is clamped to 1..50.\n" +
	"- `safeGet(url)` fetches from public hosts only and follows no redirects.\n" +
	"- `tx(fn)` runs a function in a transaction.\n" +
	"- `journal(conn, what, id)` writes a line to the journal.\n" +
	"- `mustBe(role, ...)` throws 403 unless the user has one of the roles.\n\n" +
	"A role is `groom`, `vet` or `head`.\n\n## Schema\n\n```sql\n" +
	"CREATE TYPE stay_state AS ENUM ('asked','booked','begun','over');\n" +
	"CREATE TABLE houses (id bigint PRIMARY KEY, name text, time_zone text);\n" +
	"CREATE TABLE people (id bigint PRIMARY KEY, house_id bigint REFERENCES houses, email text, pin_hash text, role text);\n" +
	"CREATE TABLE dogs (id bigint PRIMARY KEY, house_id bigint REFERENCES houses, name text, breed text, chip text, version int, deleted_at timestamptz);\n" +
	"CREATE TABLE stays (id bigint PRIMARY KEY, house_id bigint REFERENCES houses, dog_id bigint REFERENCES dogs, state stay_state, asked_by bigint REFERENCES people, booked_by bigint REFERENCES people, created_at timestamptz);\n" +
	"CREATE TABLE shifts (id bigint PRIMARY KEY, house_id bigint REFERENCES houses, person_id bigint REFERENCES people, from_at timestamptz, until_at timestamptz, withdrawn_at timestamptz);\n" +
	"CREATE TABLE gate_codes (id bigint PRIMARY KEY, house_id bigint REFERENCES houses, stay_id bigint REFERENCES stays, code_hash text, expires_at timestamptz);\n" +
	"```\n\n*Present*: said of a dog whose `deleted_at` is null.\n\n## Security Requirements\n\n" +
	"1. **Houses.** Whatever is read or changed belongs to the house of the user (`house_id`). An id of another house is answered like one that does not exist. It comes from the session.\n" +
	"2. **Deleted dogs.** A deleted dog (`deleted_at`) is treated as absent. It is not shown. It is not counted.\n" +
	"3. **Lists.** A list has at most 50 rows. Its order is total. A size from outside is brought into range.\n" +
	"4. **Stays.** Only asked to booked, booked to begun, begun to over. Vets treat dogs. Rooms are cleaned daily.\n" +
	"5. **Booking.** Only a head books stays. Who asked for a stay does not book it. The same holds at night.\n" +
	"6. **Shifts.** A dog is handed over only by a person who has a shift, begun and not ended and not withdrawn. Keys stay in the office. Doors are shut.\n" +
	"7. **Codes.** A gate code has at least 128 bits from a cryptographic source. It is stored as a hash only. A gate code ends no later than 48 hours after it was made. It is compared in constant time.\n" +
	"8. **Files.** A picture is served from the folder of the house. Links are resolved before: the real path counts. A report goes to one of the hosts that the house names.\n" +
	"9. **Fields.** Of a dog the body may change `name` and `breed`. Other fields are refused. An edit states the version that was read, and two at the same time do not overwrite each other.\n" +
	"10. **Traces.** Booking is written to the journal in the same transaction. Logs hold ids; never names, codes or addresses. Errors are answered with a fixed text and never with that of an exception.\n" +
	"11. **Columns.** `people.email` and `people.pin_hash` are in no response. Text reaches HTML escaped. Days are those of the house in its own time zone.\n" +
	"12. **Calls.** An address from outside is called through `safeGet` only. A call follows no redirect. It has a time limit.\n" +
	"13. **At once.** A house has at most 20 stays a day, also when requests arrive at the same time. Doors again. And again.\n"

// TestLong pairs code that meets a sentence with the same code without what meets it.
func TestLong(t *testing.T) {
	tests := []struct {
		name, file, good, from, to string
		want                       int
	}{
		{"tenant, through a row that a cursor gave", "f.py", "def show(dog_id):\n    cur.execute('SELECT id FROM dogs WHERE id = %s AND house_id = %s AND deleted_at IS NULL', (dog_id, me().house_id))\n    dog = cur.fetchone()\n    cur.execute('SELECT state FROM stays WHERE dog_id = %s ORDER BY id LIMIT 50', (dog['id'],))\n    return jsonify(cur.fetchall())\n", "(dog['id'],)", "(request.args['dog'],)", 1},
		{"deleted", "f.py", "def show(dog_id):\n    cur.execute('SELECT name FROM dogs WHERE id = %s AND house_id = %s AND deleted_at IS NULL', (dog_id, me().house_id))\n    return jsonify(cur.fetchone())\n", " AND deleted_at IS NULL", "", 2},
		{"the size comes from a helper that clamps", "f.js", "router.get('/stays', async (req, res) => {\n  const { limit } = pageOf(req);\n  const { rows } = await db.query('SELECT id, state FROM stays WHERE house_id = $1 ORDER BY id LIMIT $2', [req.user.houseId, limit]);\n  res.json(rows);\n});\n", "const { limit } = pageOf(req)", "const limit = Number(req.query.limit)", 3},
		{"bits", "f.py", "def code(stay_id):\n    code = secrets.token_hex(16)\n    cur.execute(\"INSERT INTO gate_codes (house_id, code_hash, expires_at) VALUES (%s, %s, now() + interval '48 hours')\", (me().house_id, sha256(code)))\n", "token_hex(16)", "token_hex(6)", 7},
		{"source", "f.py", "def code(stay_id):\n    code = secrets.token_hex(16)\n    cur.execute(\"INSERT INTO gate_codes (house_id, code_hash, expires_at) VALUES (%s, %s, now() + interval '48 hours')\", (me().house_id, sha256(code)))\n", "secrets.token_hex(16)", "str(random.randint(0, 9**40))", 7},
		{"constant time", "f.js", "function check(given, row) {\n  const made = sha256(given);\n  return crypto.timingSafeEqual(made, row.stored);\n}\n", "crypto.timingSafeEqual(made, row.stored)", "made === row.stored", 7},
		{"a folder with its separator", "f.js", "async function picture(req, res) {\n  const base = await fsp.realpath(path.join(ROOT, req.user.houseId));\n  const real = await fsp.realpath(path.join(base, req.query.name));\n  if (!real.startsWith(base + path.sep)) throw new HttpError(404);\n  res.sendFile(real);\n}\n", "base + path.sep", "base", 8},
		{"links", "f.js", "async function picture(req, res) {\n  const base = path.resolve(ROOT, req.user.houseId);\n  const real = await fsp.realpath(path.join(base, req.query.name));\n  if (!real.startsWith(base + path.sep)) throw new HttpError(404);\n  res.sendFile(real);\n}\n", "await fsp.realpath(path.join(base, req.query.name))", "path.join(base, req.query.name)", 8},
		{"a whole host", "f.py", "def report(url, hosts):\n    host = urlsplit(url).hostname\n    if not any(host == h for h in hosts):\n        abort(400)\n", "host == h", "host.endswith(h)", 8},
		{"the journal in the same transaction", "f.js", "async function bookStay(req, res) {\n  mustBe('head');\n  await tx(async (c) => {\n    await c.query(\"UPDATE stays SET state = 'booked' WHERE id = $1 AND house_id = $2 AND state = 'asked' AND asked_by <> $3\", [req.params.id, req.user.houseId, req.user.id]);\n    await journal(c, 'booked', req.params.id);\n  });\n}\n", "journal(c,", "journal(db,", 10},
		{"on the connection of the transaction", "f.js", "async function bookStay(req, res) {\n  mustBe('head');\n  await tx(async (c) => {\n    await c.query(\"UPDATE stays SET state = 'booked' WHERE id = $1 AND house_id = $2 AND state = 'asked' AND asked_by <> $3\", [req.params.id, req.user.houseId, req.user.id]);\n    await journal(c, 'booked', req.params.id);\n  });\n}\n", "await c.query", "await db.query", 10},
		{"exceptions", "f.py", "def show(dog_id):\n    try:\n        return jsonify(load_dog(dog_id))\n    except Exception as e:\n        return jsonify({'error': 'failed'})\n", "'failed'", "str(e)", 10},
		{"columns that stay inside", "f.py", "def colleagues():\n    cur.execute('SELECT id, role FROM people WHERE house_id = %s ORDER BY id LIMIT 50', (me().house_id,))\n    rows = cur.fetchall()\n    return jsonify(rows)\n", "SELECT id, role", "SELECT *", 11},
		{"markup", "f.py", "def card(dog_id):\n    title = escape(request.args['title'])\n    return Markup(f'<h1>{title}</h1>')\n", "escape(request.args['title'])", "request.args['title']", 11},
		{"the day of the house", "f.py", "def today_list():\n    cur.execute(\"SELECT id FROM stays WHERE house_id = %s AND created_at::date = (now() AT TIME ZONE 'Europe/Rome')::date ORDER BY id LIMIT 50\", (me().house_id,))\n    return jsonify(cur.fetchall())\n", "(now() AT TIME ZONE 'Europe/Rome')::date", "CURRENT_DATE", 11},
		{"through the helper", "f.js", "async function call(req) {\n  return safeGet(req.body.url);\n}\n", "safeGet(req.body.url)", "fetch(req.body.url, { redirect: 'error', signal })", 12},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Contains(t, tt.good, tt.from)
			require.NotContains(t, brokenIn(t, tt.file, tt.good), tt.want)
			require.Contains(t, brokenIn(t, tt.file, strings.Replace(tt.good, tt.from, tt.to, 1)), tt.want)
		})
	}
}

// brokenIn gives the requirements of longSpec that the code is told to break.
func brokenIn(t *testing.T, file, code string) []int {
	t.Helper()
	f, err := lang.Parse(file, []byte(code))
	require.NoError(t, err)
	got, err := Breaches(longSpec, f)
	require.NoError(t, err)
	var out []int
	for _, b := range got {
		require.NotEmpty(t, b.Kind)
		out = append(out, b.Requirement)
	}
	slices.Sort(out)
	return out
}

func TestOutbound(t *testing.T) {
	spec := "# X\n\n## Security Requirements\n\n1. An outbound call follows no redirect and has a time limit of ten seconds. It goes by https. It is logged.\n"
	for code, want := range map[string]bool{
		"def call(url):\n    return requests.get(url, timeout=5, allow_redirects=False)\n": false,
		"def call(url):\n    return requests.get(url, timeout=5)\n":                        true,
		"def call(url):\n    return requests.get(url, allow_redirects=False)\n":            true,
	} {
		f, err := lang.Parse("f.py", []byte(code))
		require.NoError(t, err)
		got, err := Breaches(spec, f)
		require.NoError(t, err)
		require.Equal(t, want, len(got) > 0, "%s %v", code, got)
	}
}

func TestFixedHoles(t *testing.T) {
	for code, want := range map[string]bool{
		"S = {'a': 'x.a DESC', 'b': 'x.b'}\ndef f(q):\n    order = S.get(q)\n    run(f'SELECT 1 FROM t ORDER BY {order}')\n": true,
		"def f(q):\n    order = 'a' if q else 'b'\n    run(f'SELECT 1 FROM t ORDER BY {order}')\n":                           true,
		"def f(q):\n    run(f'SELECT 1 FROM t ORDER BY {q}')\n":                                                              false,
		"S = {'a': 'x.a'}\ndef f(q):\n    order = S.get(q, q)\n    run(f'SELECT 1 FROM t ORDER BY {order}')\n":               false,
	} {
		f, err := lang.Parse("f.py", []byte(code))
		require.NoError(t, err)
		require.Equal(t, want, FixedHoles(f), code)
	}
}

// TestOddNames: names that are no words become no part of an expression.
func TestOddNames(t *testing.T) {
	spec := "# X\n\n```sql\nCREATE TABLE \"a(b\" (id int, \"c[d\" int, club_id int);\nCREATE TABLE e (id int, \"f)g\" int, club_id int);\n```\n\n## Security Requirements\n\n1. Rows are of the caller's club (`club_id`).\n2. `f)g` is never returned.\n"
	f, err := lang.Parse("f.py", []byte("def f():\n    cur.execute('SELECT * FROM e WHERE id = %s', (1,))\n    return jsonify(cur.fetchall())\n"))
	require.NoError(t, err)
	_, err = Breaches(spec, f)
	require.NoError(t, err)
}
