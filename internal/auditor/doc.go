// Package auditor holds who is measured: the auditors (the embedded analyser, a
// command, a replay of a recording) and the reviewers (the embedded analyser, a
// command, a language model behind a chat API), one file each.
//
// Auditors are untrusted programs. They get a sealed export, an allow-listed
// environment and a deadline, and never a key.
package auditor
