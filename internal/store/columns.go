package store

import (
	"database/sql"
	"fmt"
	"math"
	"path"
	"strconv"
	"strings"
	"time"

	"assay/audit"
)

// timeLayout is of fixed width and UTC: its order as text is that of time.
const timeLayout = "2006-01-02T15:04:05.000Z"

// evaluationColumns are the columns of evaluations except id, in the order of values and scan.
var evaluationColumns = []string{
	"timestamp", "test_file", "model_name", "expected_result", "actual_result", "explanation",
	"run_id", "trial_key", "trial_index", "app", "query", "family", "prompt", "twin", "outcome",
	"status",
	"violates", "cwes", "reason", "confidence", "detail", "served", "finish_reason", "tries",
	"tokens_in", "tokens_out", "usd", "priced", "latency_ms", "reply",
	"case_hash", "spec_hash", "prompt_hash", "settings_hash", "settings",
}

// formatTime returns a time as it is stored, "" for the zero time.
func formatTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(timeLayout)
}

// readTime reads what formatTime wrote, SQLite's CURRENT_TIMESTAMP, RFC 3339, Python's
// isoformat and Unix seconds. Anything else is the zero time: a row is worth more than its date.
func readTime(s string) time.Time {
	for _, layout := range []string{timeLayout, time.RFC3339Nano,
		"2006-01-02 15:04:05.999999999Z07:00",
		"2006-01-02 15:04:05.999999999", "2006-01-02T15:04:05.999999999", "2006-01-02"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC()
		}
	}
	if n, err := strconv.ParseFloat(s, 64); err == nil && n > 0 && n < 1e11 {
		return time.UnixMilli(int64(n * 1000)).UTC()
	}
	return time.Time{}
}

// number returns 1 for true and 0 for false.
func number(b bool) int {
	if b {
		return 1
	}
	return 0
}

// joined returns the values separated by commas.
func joined[T any](vs []T) string {
	var b strings.Builder
	for i, v := range vs {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprint(&b, v)
	}
	return b.String()
}

// clean drops what a text column of PostgreSQL cannot hold and SQLite's readers
// stumble over: NUL bytes and invalid UTF-8.
func clean(s string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", "\uFFFD"), "\uFFFD")
}

// values appends the values of an evaluation's row, in the order of evaluationColumns.
func values(args []any, e *Evaluation) []any {
	return append(args,
		formatTime(e.Time), clean(e.TestFile), clean(e.Model), string(e.Expected), clean(e.Actual),
		clean(e.Explanation),
		e.Run, e.Trial, e.Index, clean(e.App), clean(e.Query), clean(e.Family), clean(e.Prompt),
		clean(e.Twin),
		string(e.Outcome), string(e.Status), joined(e.Violates), joined(e.CWEs), int(e.Reason),
		e.Confidence,
		clean(e.Detail), clean(e.Served), clean(e.Finish), e.Tries,
		e.Usage.TokensIn, e.Usage.TokensOut, e.Usage.USD, number(e.Usage.Priced),
		e.Latency.Milliseconds(), clean(e.Reply),
		e.CaseHash, e.SpecHash, e.PromptHash, e.SettingsHash, clean(e.Settings))
}

// scan reads one row of id and evaluationColumns. Each but the ID may be NULL, as
// rows that others wrote hold the first seven alone, and a number may be any text:
// what is no number counts as 0.
func scan(rows *sql.Rows) (Evaluation, error) {
	row := make([]sql.NullString, 1+len(evaluationColumns))
	to := make([]any, len(row))
	for i := range row {
		to[i] = &row[i]
	}
	if err := rows.Scan(to...); err != nil {
		return Evaluation{}, err
	}
	id, err := readID(row[0].String)
	if err != nil {
		return Evaluation{}, err
	}
	at := 0
	next := func() string { at++; return row[at].String }
	text := func() string { return clean(next()) }
	whole := func() int64 { return readNumber(next()) }
	// In the order of the columns: Go calls functions from left to right.
	e := Evaluation{ID: id, Time: readTime(next()), TestFile: text(), Model: text(),
		Expected: audit.Label(fold(next())), Actual: fold(next()), Explanation: text(),
		Run: next(), Trial: next(), Index: int(whole()), App: text(), Query: text(), Family: text(),
		Prompt: text(), Twin: text(),
		Outcome: audit.Outcome(next()), Status: audit.Status(next()), Violates: readInts(next()),
		CWEs: readCWEs(next()), Reason: ReasonGrade(whole()),
		Confidence: readFloat(next()), Detail: text(), Served: text(), Finish: text(),
		Tries: int(whole()),
		Usage: audit.Usage{TokensIn: whole(), TokensOut: whole(), USD: readFloat(next()),
			Priced: whole() != 0},
		Latency: time.Duration(whole()) * time.Millisecond, Reply: text(),
		CaseHash: next(), SpecHash: next(), PromptHash: next(), SettingsHash: next(),
		Settings: next()}
	e.complete()
	return e, nil
}

// readID parses the id of a row. Answers are identified by it, so a row without one is an
// error.
func readID(s string) (int64, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0, fmt.Errorf(
			"a row has the id %q: expected whole numbers, as INTEGER PRIMARY KEY gives them", s)
	}
	return n, nil
}

// readNumber reads the whole part of a number; anything else is 0: a row is worth more
// than one of its columns.
func readNumber(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		if v := readFloat(s); math.Abs(v) < 1<<62 {
			return int64(v)
		}
		return 0
	}
	return n
}

// readFloat reads a finite number; anything else is 0.
func readFloat(s string) float64 {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return v
}

// fold returns a text in lower case without surrounding space.
func fold(s string) string { return clean(strings.ToLower(strings.TrimSpace(s))) }

// readInts parses whole numbers and skips other words.
func readInts(s string) []int {
	var out []int
	for _, f := range strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' }) {
		if n, err := strconv.Atoi(f); err == nil {
			out = append(out, n)
		}
	}
	return out
}

// readCWEs parses CWEs and skips other words.
func readCWEs(s string) []audit.CWE {
	var out []audit.CWE
	for f := range strings.SplitSeq(s, ",") {
		if c, err := audit.ParseCWE(f); err == nil {
			out = append(out, c)
		}
	}
	return out
}

// complete fills what the first seven columns imply in a row that others wrote.
func (e *Evaluation) complete() {
	if e.Status == "" {
		e.Status = audit.Malformed
		if e.Actual == string(audit.Good) || e.Actual == string(audit.Bad) {
			e.Status = audit.Answered
		}
	}
	if e.Outcome == "" {
		r := audit.Review{Status: e.Status, Verdict: audit.Label(e.Actual)}
		e.Outcome = r.Judge(e.Expected)
	}
	if e.App == "" {
		e.App, e.Query = place(e.TestFile)
		if e.Query != "" {
			e.Family = e.App + "/" + e.Query
		}
	}
}

// place reads application and query from ".../<app>/<query>-<NN>-<label>.md".
func place(file string) (app, query string) {
	file = strings.ReplaceAll(file, `\`, "/")
	name := strings.TrimSuffix(path.Base(file), ".md")
	parts := strings.Split(name, "-")
	if n := len(parts); n >= 3 {
		name = strings.Join(parts[:n-2], "-")
	}
	if dir := path.Base(path.Dir(file)); dir != "." && dir != "/" && dir != "tests" {
		app = dir
	}
	return app, name
}
