package static

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"assay/audit"
)

// reviewConfidence is how sure a finding must be to make a fragment bad.
const reviewConfidence = 0.5

// Review judges one fragment of Go, JavaScript, TypeScript, Python, Java, PHP or
// SQL by what the engine finds in it: bad when there is a finding of severity
// HIGH or above, good otherwise. It reads no requirements, so it names none. A
// language that it does not know is answered with status Malformed. Of a module it
// names all findings.
func (a *Analyser) Review(ctx context.Context, task audit.ReviewTask) (audit.Review, error) {
	if len(task.Files) > 0 {
		return a.reviewModule(ctx, task.Files)
	}
	file := fragmentFile(task.Language, task.Code)
	if file == "" {
		return audit.Review{Status: audit.Malformed, Detail: fmt.Sprintf("%q is no language that static reads: expected sql, go, js, ts, python, java or php", task.Language)}, nil
	}
	var err error
	blocks := audit.SplitBlocks(task.Language, task.Code)
	if blocks == nil {
		blocks = []audit.Block{{Path: file, Code: wrap(file, task.Code)}}
	} else if blocks, err = audit.PatchBlocks(blocks); err != nil {
		return audit.Review{Status: audit.Malformed, Detail: err.Error()}, nil
	}
	res, err := a.judge(ctx, take(blocks), Result{}, true)
	if err != nil {
		return audit.Review{}, err
	}
	if res.unread() {
		return malformed(res.Warnings), nil
	}
	return verdict(res.Findings), nil
}

func (a *Analyser) reviewModule(ctx context.Context, files []audit.Block) (audit.Review, error) {
	res, err := a.judge(ctx, take(files), Result{}, false)
	if err != nil {
		return audit.Review{}, err
	}
	if res.unread() {
		return malformed(res.Warnings), nil
	}
	r := audit.Review{Status: audit.Answered, Verdict: audit.Good, Explanation: "the engine's findings"}
	for _, f := range res.Open() {
		r.Verdict = audit.Bad
		r.Violations = append(r.Violations, audit.Violation{File: f.File, Function: f.Function, Lines: f.Lines, CWEs: f.CWEs, Why: f.Title})
	}
	r.Raw = audit.FormatViolations(r.Violations)
	return r, nil
}

// unread: all code was left out, and why.
func (r Result) unread() bool { return r.Parsed == 0 && len(r.Warnings) > 0 }

func malformed(warnings []string) audit.Review {
	return audit.Review{Status: audit.Malformed, Detail: "nothing could be analysed: " + strings.Join(warnings, "; ")}
}

func take(files []audit.Block) []*source {
	var sources []*source
	for _, f := range files {
		s := &source{path: f.Path}
		s.take([]byte(f.Code))
		sources = append(sources, s)
	}
	return sources
}

func verdict(found []audit.Finding) audit.Review {
	rev := audit.Review{Status: audit.Answered, Verdict: audit.Good, Confidence: 0.6}
	var why []string
	for _, f := range found {
		if f.Confidence < reviewConfidence || f.Severity < audit.High {
			continue
		}
		if rev.Verdict == audit.Good || f.Confidence > rev.Confidence {
			rev.Confidence = f.Confidence
		}
		rev.Verdict = audit.Bad
		why = append(why, fmt.Sprintf("line %s: %s", f.Lines, f.Title))
		for _, c := range f.CWEs {
			if !slices.Contains(rev.CWEs, c) {
				rev.CWEs = append(rev.CWEs, c)
			}
		}
	}
	if rev.Verdict == audit.Good {
		why = append(why, "the analyser found nothing")
	}
	rev.Explanation = strings.Join(why, "; ")
	rev.Raw = rev.Explanation
	return rev
}

// fragmentFile gives the file name under which a fragment is analysed, by its
// language or, where none is stated, by its look; "" for a language of another
// kind.
func fragmentFile(language, code string) string {
	if l := strings.ToLower(strings.TrimSpace(language)); l != "" {
		return fragmentFiles[l]
	}
	switch {
	case looksSQL(code):
		return "fragment.sql"
	case strings.Contains(code, "<?php") || strings.Contains(code, "$this->"):
		return "fragment.php"
	case strings.Contains(code, "func ") && strings.Contains(code, ":="):
		return "fragment.go"
	case strings.Contains(code, "def ") && strings.Contains(code, ":\n"):
		return "fragment.py"
	case strings.Contains(code, "public ") && strings.Contains(code, ";"):
		return "Fragment.java"
	case strings.Contains(code, "=>") || strings.Contains(code, "const ") || strings.Contains(code, "function "):
		return "fragment.ts"
	}
	return ""
}

var fragmentFiles = map[string]string{
	"go": "fragment.go", "golang": "fragment.go",
	"js": "fragment.js", "javascript": "fragment.js", "jsx": "fragment.js", "node": "fragment.js",
	"ts": "fragment.ts", "typescript": "fragment.ts", "tsx": "fragment.tsx",
	"py": "fragment.py", "python": "fragment.py", "python3": "fragment.py",
	"java": "Fragment.java", "php": "fragment.php",
	"sql": "fragment.sql", "pgsql": "fragment.sql", "postgresql": "fragment.sql", "plpgsql": "fragment.sql",
}

func looksSQL(code string) bool {
	f := strings.Fields(strings.ToLower(code))
	return len(f) > 0 && slices.Contains([]string{"select", "insert", "update", "delete", "with", "merge", "create", "--"}, f[0])
}

// wrap makes a file of a fragment that stands outside of one.
func wrap(file, code string) string {
	switch {
	case file == "fragment.php" && !strings.Contains(code, "<?"):
		return "<?php " + code
	case file == "fragment.go" && !strings.HasPrefix(strings.TrimSpace(code), "package ") && !strings.Contains(code, "\npackage "):
		if strings.Contains(code, "func ") && !strings.HasPrefix(strings.TrimSpace(code), "func(") {
			return "package fragment; " + code
		}
		return "package fragment; func fragment() { " + code + "\n}"
	case file == "Fragment.java" && !strings.Contains(code, "class ") && !strings.Contains(code, "interface ") && !strings.Contains(code, "record "):
		return "class Fragment { " + code + "\n}"
	}
	return code
}
