// Package report shows what records and results hold: as HTML pages, as text, as
// CSV, JSON, Markdown, benchmark format and SARIF. Figures, intervals and
// verdicts come from audit/score and internal/stat; nothing is reckoned here but
// counts of what is shown.
//
// Everything that others wrote (models, auditors, keys) is text: html/template
// escapes it in pages, audit.OneLine and Markdown's escapes do elsewhere.
package report
