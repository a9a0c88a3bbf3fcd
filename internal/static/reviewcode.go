package static

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strings"

	"assay/audit"
	"assay/internal/static/hostreview"
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
	res, err := (&Analyser{opts: a.opts, fragment: true}).judge(ctx, set, []*source{src}, Result{})
	if err != nil {
		return audit.Review{}, err
	}
	var breaches []hostreview.Breach
	if src.code != nil {
		if breaches, err = hostreview.Breaches(task.Spec, src.code); err != nil {
			return audit.Review{}, err
		}
	}
	if src.code != nil && hostreview.FixedHoles(src.code) {
		res.Findings = slices.DeleteFunc(res.Findings, func(f audit.Finding) bool { return set.ByID[f.RuleID].Topic == "sql" })
	}
	return verdict(set, task, res, breaches)
}

var (
	pastedRE = regexp.MustCompile(`\$?\{([^{}]+)\}`)
	keyRE    = regexp.MustCompile(`^\w*[\[."']*\w*\bid["'\]]*$`)
)

// noPage: what is answered is of a type that no browser takes for a page.
var noPage = regexp.MustCompile(`(?i)content-type["']?\]?\s*[,:=]\s*["'](image/(jpe?g|png|webp|gif)|application/(pdf|octet-stream|json))|["']X-Content-Type-Options["']\s*[,:]\s*["']nosniff`)

var (
	// archiveRE: the code opens archives at all.
	archiveRE = regexp.MustCompile(`(?i)\bzip|unzip|\btar\b|archive|entr(y|ies)\b|extract`)
	// ownName: what a file is called is drawn by the code.
	ownName = regexp.MustCompile(`(?i)\bname\s*:?=[^\n]*(randomUUID|randomBytes|token_hex|uuid4|rand\.Text)`)
)

// onlyIDs: what a line pastes into its text are keys of rows and nothing else.
func onlyIDs(code string, line int) bool {
	lines := strings.Split(code, "\n")
	if line < 1 || line > len(lines) {
		return false
	}
	// The place that is reported may be where the path is used, and not where it is made.
	some := false
	for _, l := range lines[max(0, line-6):line] {
		for _, m := range pastedRE.FindAllStringSubmatch(l, -1) {
			if !strings.Contains(m[1], ":") && !keyRE.MatchString(m[1]) {
				return false
			}
			some = some || keyRE.MatchString(m[1])
		}
	}
	return some && !strings.Contains(lines[line-1], "request") && !strings.Contains(lines[line-1], "req.")
}

// verdict weighs what was found. Findings are surer than breaches, which are told
// by words; a small finding counts only where a requirement speaks of its matter.
func verdict(set *rules.Set, task audit.ReviewTask, res Result, breaches []hostreview.Breach) (audit.Review, error) {
	rev := audit.Review{Status: audit.Answered, Verdict: audit.Good, Confidence: 0.6}
	reqs := hostreview.ReadRequirements(task.Spec)
	var why []string
	violated, cwes := map[int]bool{}, map[audit.CWE]bool{}
	bad := func(conf float64, reason string, numbers []int, cs []audit.CWE) {
		rev.Verdict = audit.Bad
		if len(why) == 0 || conf > rev.Confidence {
			rev.Confidence = conf
		}
		why = append(why, reason)
		for _, n := range numbers {
			violated[n] = true
		}
		for _, c := range cs {
			if !cwes[c] {
				cwes[c] = true
				rev.CWEs = append(rev.CWEs, c)
			}
		}
	}
	for _, f := range res.Findings {
		if set.ByID[f.RuleID].Topic == "owner" && len(reqs) > 0 {
			continue // hostreview holds the statements and helpers to what the SPEC says of owners
		}
		if set.ByID[f.RuleID].Topic == "path" && onlyIDs(task.Code, f.Lines.Start) {
			continue
		}
		if strings.Contains(f.RuleID, "zip") && !archiveRE.MatchString(task.Code) || set.ByID[f.RuleID].Topic == "path" && ownName.MatchString(task.Code) {
			continue
		}
		if set.ByID[f.RuleID].Topic == "xss" && noPage.MatchString(task.Code) && !strings.Contains(task.Code, "text/html") {
			continue
		}
		numbers, err := hostreview.Violated(reqs, set.ByID[f.RuleID].Topic)
		if err != nil {
			return audit.Review{}, err
		}
		if f.Confidence < 0.5 || len(numbers) == 0 && f.Severity < audit.High {
			continue
		}
		bad(f.Confidence, fmt.Sprintf("line %s: %s", f.Lines, f.Title), numbers, f.CWEs)
	}
	for _, b := range breaches {
		bad(b.Confidence, b.Why, []int{b.Requirement}, b.CWEs)
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
	return rev, nil
}
