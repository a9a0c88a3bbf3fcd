package proof

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"assay/audit"
)

// Joined, the tokens are the text again, whatever the text.
func TestLexLosesNothing(t *testing.T) {
	piece := rapid.OneOf(rapid.String(),
		rapid.SampledFrom([]string{"'", `"`, "$$", "$a$", "/*", "*/", "--", "\n", ":", "::", ":a",
			"E'", `\`, ";", "//", "`", "#", "/", "${", "}", "{", "<<<A\n", "<<~A\n", "A"}))
	rapid.Check(t, func(t *rapid.T) {
		s := ""
		for range rapid.IntRange(0, 12).Draw(t, "n") {
			s += piece.Draw(t, "piece")
		}
		require.Equal(t, s, join(lex(s)))
		for _, language := range []string{"go", "python", "php", "ruby", "js", "java"} {
			require.Equal(t, s, join(dialectOf(language).cut(s)))
		}
	})
}

func TestBind(t *testing.T) {
	sql, names := bind(lex("SELECT :a::int, ':b', $$:c$$, x[1:2], :a, CURRENT_DATE -- :d\n, :e"))
	require.Equal(t, "SELECT $1::int, ':b', $$:c$$, x[1:2], $1, (frozen.now()::date) -- :d\n, $2",
		sql)
	require.Equal(t, []string{"a", "e"}, names)
}

func TestStatements(t *testing.T) {
	require.Len(t, statements("SELECT 1; -- ; \n ; SELECT ';' ; /* ; */"), 2)
}

func TestMutantsNames(t *testing.T) {
	var got []string
	for _, m := range Mutants(
		"SELECT a.id, a.x FROM a JOIN b ON b.id = a.id AND b.on BETWEEN 1 AND 2\nWHERE a.p = 1 AND (a.q = 2 OR a.r = 3) AND EXISTS (SELECT 1 FROM c WHERE c.id = a.id LIMIT 1)\nORDER BY a.id LIMIT 5") {
		got = append(got, m.Name)
	}
	require.Equal(t, []string{
		"drop column a.id", "drop column a.x",
		"outer JOIN b", "drop JOIN b ON b.id = a.id AND b.on BETWEEN 1 AND 2",
		"drop b.id = a.id", "drop b.on BETWEEN 1 AND 2",
		"drop a.p = 1", "drop (a.q = 2 OR a.r = 3)",
		"drop EXISTS (SELECT 1 FROM c WHERE c.id = a.id LIMIT 1)",
		"drop a.q = 2", "drop a.r = 3",
		"drop c.id = a.id", "drop LIMIT 1", "drop LIMIT 5",
	}, got)
}

func TestCodeMutants(t *testing.T) {
	js := "function f(a) {\n  if (!a) return null;\n  if (a.x) {\n    throw new Error('}');\n  }\n  if (b) {\n    y();\n  }\n}\n"
	ms := codeMutants("node", js)
	require.Len(t, ms, 2)
	require.Equal(t, "drop if (a.x)", ms[1].Name)
	require.NotContains(t, ms[1].Code, "throw")
	py := "def f(a):\n    if not a:\n        return None\n    if a.x: raise E()\n    if b:\n        y()\n    return 1\n"
	ms = codeMutants("python3", py)
	require.Len(t, ms, 2)
	require.Equal(t, "def f(a):\n    if a.x: raise E()\n    if b:\n        y()\n    return 1\n",
		ms[0].Code)
}

// TestTwinsKeepWhatCodeDoes: octal numbers, bits and attributes stay as they are, and
// every kind of comment of a language goes.
func TestTwinsKeepWhatCodeDoes(t *testing.T) {
	require.Equal(t, "os.WriteFile(name, b, 0600, (40 + 20))",
		dialectOf("go").literals("os.WriteFile(name, b, 0600, 60)"))
	require.Equal(t, "SELECT B'101', x'1F', E'a'",
		dialectOf("sql").literals("SELECT B'101', x'1F', 'a'"))
	require.Equal(t, "<?php\n#[Pure]\nf('# 1');",
		dialectOf("php").strip("<?php\n#[Pure]\n# don't\nf('# 1'); // no"))
	require.Equal(t, "f(\"#{a}\")", dialectOf("ruby").strip("# it's\nf(\"#{a}\") # c"))
	require.Equal(t, "f()", dialectOf("python").strip("#[sic]\nf()"))
	require.Equal(t, "f(`a ${b ? `//${'}'}` : 1} // c`)",
		dialectOf("js").strip("f(`a ${b ? `//${'}'}` : 1} // c`) // d"))
	require.Equal(t, "const x1 = 1; f(`row ${x1} ${[x1]} // row`)",
		dialectOf("ts").rename("const row = 1; f(`row ${row} ${[row]} // row`)", ""))
	require.Equal(t, "<?php\n$a = <<<'SQL'\n  don't // \"\n  SQL;\nf();",
		dialectOf("php").strip("<?php\n$a = <<<'SQL'\n  don't // \"\n  SQL;\nf(); // c"))
	require.Equal(t, "a(<<~SQL)\n  it's # 1\nSQL\nb",
		dialectOf("rb").strip("a(<<~SQL)\n  it's # 1\nSQL\nb # c"))
	require.Equal(t, "f(`c:\\`)", dialectOf("go").strip("f(`c:\\`) // d"))
	require.Equal(t, "# c\nf", dialectOf("ruby").remark("f", []string{"c"}))
}

func TestTransactions(t *testing.T) {
	for sql, want := range map[string]string{"ROLLBACK": "rollback", "rollback work": "rollback",
		"ABORT": "rollback", "end": "commit", "START TRANSACTION": "begin",
		"ROLLBACK TO s": "", "ROLLBACK WORK TO SAVEPOINT s": "", "ROLLBACK TRANSACTION TO s": "",
		"SELECT 1": ""} {
		require.Equal(t, want, transaction(lex(sql)), sql)
	}
}

func TestTwins(t *testing.T) {
	fam := &audit.Family{Cases: []*audit.Case{
		{Label: audit.Good, Language: "sql",
			Code: "-- fine\nWITH mine AS (SELECT n.id FROM notes n WHERE n.size > 20 AND n.kind = 'a')\nSELECT id FROM mine LIMIT 50"},
		{Label: audit.Bad, Language: "sql", Code: "SELECT 1 -- every row is checked"},
	}}
	got := map[string]string{}
	for _, tw := range Twins(&audit.App{Schema: "CREATE TABLE notes (id int, size int, kind text)"},
		fam, fam.Cases[0]) {
		got[tw.Kind] = tw.Code
	}
	require.Equal(t, map[string]string{
		"stripped": "WITH mine AS (SELECT n.id FROM notes n WHERE n.size > 20 AND n.kind = 'a')\nSELECT id FROM mine LIMIT 50",
		"renamed":  "-- fine\nWITH x1 AS (SELECT x2.id FROM notes x2 WHERE x2.size > 20 AND x2.kind = 'a')\nSELECT id FROM x1 LIMIT 50",
		"misled":   "-- every row is checked\nWITH mine AS (SELECT n.id FROM notes n WHERE n.size > 20 AND n.kind = 'a')\nSELECT id FROM mine LIMIT 50",
		"literals": "-- fine\nWITH mine AS (SELECT n.id FROM notes n WHERE n.size > (14 + 6) AND n.kind = E'a')\nSELECT id FROM mine LIMIT (34 + 16)",
	}, got)
}
