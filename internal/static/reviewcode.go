package static

import (
	"context"
	"fmt"
	"sort"
	"strings"

	"assay/audit"
	"assay/internal/static/rules"
)

// fragmentFile gives the file name under which a fragment is analysed.
func fragmentFile(language, code string) string {
	switch strings.ToLower(strings.TrimSpace(language)) {
	case "go", "golang":
		return "fragment.go"
	case "js", "javascript", "jsx", "node":
		return "fragment.js"
	case "ts", "typescript":
		return "fragment.ts"
	case "tsx":
		return "fragment.tsx"
	case "py", "python", "python3":
		return "fragment.py"
	case "java":
		return "Fragment.java"
	case "php":
		return "fragment.php"
	}
	switch {
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

// ReviewCode judges a fragment of Go, JavaScript, TypeScript, Python, Java or PHP
// against the SPEC: bad when a rule finds a flaw in it, or when it does not do
// what a numbered requirement demands and this can be told from the code.
func (a *Analyser) ReviewCode(ctx context.Context, task audit.ReviewTask) (audit.Review, error) {
	file := fragmentFile(task.Language, task.Code)
	if file == "" {
		return audit.Review{Status: audit.Malformed, Detail: fmt.Sprintf("%q is no language that static reads: expected sql, go, js, ts, python, java or php", task.Language)}, nil
	}
	set, err := rules.Load()
	if err != nil {
		return audit.Review{}, err
	}
	src := &source{path: file}
	src.take(set, []byte(wrap(file, task.Code)), true)
	res, err := a.judge(ctx, set, []*source{src}, Result{})
	if err != nil {
		return audit.Review{}, err
	}
	return a.verdict(task, file, res), nil
}

func (a *Analyser) verdict(task audit.ReviewTask, file string, res Result) audit.Review {
	rev := audit.Review{Status: audit.Answered, Verdict: audit.Good, Confidence: 0.6}
	var why []string
	violated := map[int]bool{}
	for _, f := range res.Findings {
		if f.Confidence < 0.5 {
			continue
		}
		rev.Verdict = audit.Bad
		rev.Confidence = max(rev.Confidence, f.Confidence)
		rev.CWEs = append(rev.CWEs, f.CWEs...)
		why = append(why, fmt.Sprintf("line %s: %s", f.Lines, f.Title))
	}
	for n := range violated {
		rev.Violates = append(rev.Violates, n)
	}
	sort.Ints(rev.Violates)
	if rev.Verdict == audit.Good {
		why = append(why, "nothing was found that violates a requirement")
	}
	rev.Explanation = strings.Join(why, "; ")
	rev.Raw = rev.Explanation
	return rev
}
