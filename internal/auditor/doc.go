// Package auditor holds who is measured: the auditors (the embedded analyser, a
// command, a language model with tools, a replay of a recording), the reviewers (the
// embedded analyser, a command, a language model behind a chat API, recorded
// readings), and controls for both.
//
// Those that are programs are untrusted: they get a sealed export, an allow-listed
// environment and a deadline, and never an answer key.
package auditor
