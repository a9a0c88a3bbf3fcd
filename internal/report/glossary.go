package report

import (
	"fmt"
	"html/template"
	"slices"
	"strings"
)

// A term is a word of the pages with its definition. Heads are the column heads that mean it.
type term struct {
	ID, Name, Means string
	Heads           []string
}

// glossary defines every column head, and the words that the definitions need.
var glossary = []term{
	{"accuracy", "Accuracy", "Right answers of all answers, good and bad cases together.", nil},
	{"arguable", "Arguable",
		"A finding beside the key that a reader ruled neither true nor false: false at the low end of precision, left out at the high end.", nil},
	{"application", "Application", "A folder of cases with one specification.", nil},
	{"auditor", "Auditor",
		"Whatever reads a project's source and reports findings: a language model, an agent or a tool.", nil},
	{"balanced-accuracy", "Balanced accuracy",
		"The mean of recall (bad cases called bad) and specificity (good cases called good). Guessing has 50 %, whatever the mix of cases.", nil},
	{"baseline", "Baseline",
		"Earlier trials that were accepted with assay baseline. Later runs are compared with them.",
		[]string{"since the baseline"}},
	{"case", "Case", "A piece of code that is good or bad under its application's specification.",
		nil},
	{"chance-level", "Chance level",
		"The recall that the same number of findings reaches at 200 random placements in the project.", []string{"chance level"}},
	{"classification", "Classification",
		"Of the vulnerabilities that were found, the share whose weakness (CWE) was named rightly.",
		nil},
	{"conclusive", "Conclusive",
		"The data decide at 95 %: chance alone would rarely show such a difference. Inconclusive: they do not decide, and more trials or projects may.", nil},
	{"corrected", "Recall corrected for chance",
		"(recall - chance level) / (1 - chance level): 0 for guessing, 100 % for finding everything.", []string{"recall corrected for chance"}},
	{"corroborated", "Corroborated entries",
		"Entries of the key that something beside it confirms: an advisory, a challenge, the project's own documents.", []string{"entries"}},
	{"cost", "Cost",
		"Dollars as the provider or the agent states them, or from the prices of fixtures/models.md; of one audit or answer, and of all.", []string{"cost", "USD", "dollars"}},
	{"coverage", "Coverage",
		"Of the dimensions that the key holds, those in which at least one vulnerability was found in full.", nil},
	{"cwe", "CWE", "The number of a weakness in MITRE's Common Weakness Enumeration.", nil},
	{"decoy", "Decoy", "Code that only looks vulnerable. A finding there is false.",
		[]string{"why it is none"}},
	{"dimension", "Dimension",
		"One of ten kinds of weakness: Injection, Auth, Crypto, Data Exposure, Deserialization, SSRF, File Ops, Business Logic, Configuration, Supply Chain. A cell has the credit, of the entries that the key holds.", nil},
	{"disposition", "Outcome of a finding",
		"What became of a finding when it was compared with the key: matched, half, duplicate, decoy hit, off-key, and so on.", []string{"outcome"}},
	{"errors", "Errors per hundred", "Wrong answers in a hundred: 100 x (1 - accuracy).",
		[]string{"errors/100"}},
	{"evidence", "Evidence", "Why an entry of the key is vulnerable, with identifiers of the code.",
		nil},
	{"f1", "F1", "The harmonic mean of precision and recall: 2pr / (p + r).", []string{"F1"}},
	{"family", "Family",
		"The variants of one query: two good, four bad. Answers within a family depend on each other, and intervals allow for that.", nil},
	{"figure", "Figure", "A metric of the record, trial by trial.", []string{"by trial"}},
	{"finding", "Finding", "What an auditor reports: place, weakness, severity and words.", nil},
	{"findings-per-found", "Findings for one found",
		"How many findings somebody reads for each vulnerability found, as the mean of the trials.",
		[]string{"findings for one found"}},
	{"found", "Found",
		"In how many of its trials an auditor matched the entry in full. Half: a right weakness in the right file, at another place.", nil},
	{"found-in-trials", "Found in trials",
		"In how many of the auditor's trials the vulnerability was found in full: 2/3 is two of three. Empty: the project was not audited.", nil},
	{"cost-per-found", "Cost of one found",
		"Dollars, and time, for each vulnerability found: those of an audit by what it found, as the mean of the trials.", []string{"cost of one found", "time of one found"}},
	{"hallucinated-paths", "Hallucinated paths",
		"Findings in files that the project does not have, of all findings.",
		[]string{"hallucinated paths"}},
	{"id", "ID", "The name of an entry of the key.", []string{"ID"}},
	{"interval", "Interval",
		"The figure's 95 % interval. It allows for the dependence within files or families. Two intervals may overlap although the difference is conclusive, since variants are compared on the same items.", []string{"95 % interval"}},
	{"label", "Label", "What the key says of a case: good or bad.", nil},
	{"minimum", "Minimum", "How many vulnerabilities of the dimension the project's goals ask for.",
		nil},
	{"n", "n", "How much the figure is made of: audits and projects, or answers and cases.", nil},
	{"outcome-of-trial", "Outcome of a trial",
		"correct, wrong, refused (the model declined), malformed (no verdict can be read), errored, or skipped (never begun). They add up to the planned trials.", []string{"outcomes"}},
	{"pairs", "Pairs",
		"Bad cases that were told apart from their nearest good case: both answered rightly in the same trial.", nil},
	{"place", "Place", "File and lines at the pinned commit.", nil},
	{"precision", "Precision",
		"Of the findings, the share that is true. From all findings that nobody reviewed being false, to as many of them true as the report has credit.", nil},
	{"project", "Project", "A code base with an answer key.", nil},
	{"rank", "Rank",
		"Variants of one rank cannot be told apart from the first of their group at 95 %. Each is compared with that one on the same cases, or on the projects that both audited.", nil},
	{"reason", "Reason",
		"Of the bad cases that were called bad, how well the named requirements agree with the violated ones (mean F1).", nil},
	{"recall", "Recall",
		"Of the vulnerabilities in the key (or of the bad cases), the share that was found. A half match counts 0.5. Several trials: their mean.", nil},
	{"record", "Record", "The dated test record of one auditor on one project, below records/.",
		[]string{"date"}},
	{"reviewer", "Reviewer", "A language model with a prompt, or a program, that judges cases.",
		nil},
	{"right-answers", "Right answers",
		"Right answers of those given by the reviewer: 2/3 is two of three. Trials without an answer are counted beside them.", nil},
	{"severity", "Severity",
		"How grave an entry or finding is: CRITICAL, HIGH, MEDIUM, LOW or INFO.", nil},
	{"severity-accuracy", "Severity accuracy",
		"Of the full matches where both sides state a severity, those that state the same.",
		[]string{"severity accuracy"}},
	{"smoke", "Suite", "Smoke, Regression or Bench.", []string{"suite"}},
	{"specificity", "Specificity", "Good cases that were called good: 100 % means no false alarm.",
		nil},
	{"time", "Time", "Wall time of one audit or answer, and of all.", []string{"time", "seconds"}},
	{"tokens", "Tokens", "Read (in) and written (out) by the model.",
		[]string{"tokens", "tokens in", "out"}},
	{"tool-use", "What the agent did", "One use of a tool, or what the model said, in the turn.",
		[]string{"did", "what", "words"}},
	{"turn", "Turn", "One answer of the model, with the tools that it used.", []string{"turn"}},
	{"trial", "Trial",
		"One repetition of an audit or review. An attempt is one request or start within it.",
		[]string{"trials", "run"}},
	{"unanswered", "Unanswered",
		"Refused, malformed or errored trials, of all that began. They are in no other share.",
		nil},
	{"union", "Union",
		"What at least one of several trials found. Found in all, found in some and found in none add up to the key.", nil},
	{"variant", "Variant", "An auditor or reviewer with its prompt, model and settings.",
		[]string{"auditor or reviewer"}},
	{"verdict", "Verdict",
		"PASS, WARN, FAIL or INVALID by the gate. Replays have none: as recorded, or changed.",
		nil},
	{"vulnerability", "Vulnerability", "An entry of the answer key that is really vulnerable.",
		nil},
	{"what-changed", "Change",
		"What was changed before the run, in the words of whoever changed it.", []string{"change"}},
	{"why", "Why", "Why the finding was scored as it was, or the gravest reason of a verdict.",
		[]string{"why", "look first at", "reason of the verdict"}},
	{"tp", "TP, FN, FP, TN",
		"By CWE: flaws found (TP) and missed (FN); flawless code called flawed (FP) and passed by (TN).", []string{"TP", "FN", "FP", "TN"}},
	{"tpr", "TPR, FPR",
		"TPR = TP / (TP + FN), FPR = FP / (FP + TN). TPR minus FPR is 0 for whoever calls everything flawed.", []string{"TPR", "FPR", "TPR - FPR", "TPR minus FPR"}},
}

// define returns the term that a column head means; nil where the glossary has none.
func define(head string) *term {
	folded := strings.ToLower(head)
	for i := range glossary {
		t := &glossary[i]
		if t.ID == head || strings.ToLower(t.Name) == folded || slices.Contains(t.Heads, head) {
			return t
		}
	}
	return nil
}

// termOf returns the attributes by which a column head has its definition as a tooltip, and
// from which the page's script makes the link to the glossary.
func termOf(head string) template.HTMLAttr {
	t := define(head)
	if t == nil {
		return ""
	}
	return template.HTMLAttr(fmt.Sprintf(`data-term="%s" title="%s"`, t.ID,
		template.HTMLEscapeString(t.Means)))
}
