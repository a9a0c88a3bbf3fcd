package auditor

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/internal/box"
)

// tried returns what a try of an agent in a root with these files says.
func tried(t *testing.T, command string, files map[string]string, rows string) string {
	t.Helper()
	root := t.TempDir()
	require.NoError(t, os.Chmod(root, 0o755))
	files["fixtures/auditors.md"] = "# Auditors\n\n## x\n\n| Field | Value |\n|---|---|\n" + rows +
		"\n"
	for name, text := range files {
		script(t, filepath.Join(root, name), text)
	}
	e := audit.AuditorEntry{Name: "x", Kind: "agent", Format: "auto", Timeout: 1 << 40,
		Command: command, Root: root,
		Files: []string{"agent/**"}, Pos: audit.Pos{File: "fixtures/auditors.md", Line: 3}}
	if strings.Contains(rows, "Hosts") {
		e.Network.Hosts = []string{"127.0.0.1:1"}
	}
	var lines []string
	for _, c := range (Registry{Auditors: []audit.AuditorEntry{e},
		Getenv: os.Getenv}).Try(t.Context(), "x") {
		state := "ok "
		if c.Missing {
			state = "MISSING "
		}
		lines = append(lines, state+c.What+": "+c.Text)
	}
	return strings.Join(lines, "\n")
}

// TestTry: an agent is run, and what it could not do is named with the line to change.
func TestTry(t *testing.T) {
	if missing := box.Missing(); missing != "" {
		t.Skip(missing)
	}
	const run = `sh "$ASSAY_FILES/agent/agent.sh"`
	said := tried(t, run, map[string]string{"agent/agent.sh": `echo '{"usd": 0.0011, "input_tokens": 90, "output_tokens": 10}' >> "$ASSAY_USAGE"
echo '{"findings": [{"file": "app.py", "line": 9, "cwe": "CWE-89", "severity": "HIGH", "title": "x"}]}'`}, "| Files | agent/** |")
	require.Contains(t, said, "ok run: ended with exit status 0")
	require.Contains(t, said, "ok report: read as json; findings: 1")
	require.Contains(t, said, "ok cost: it states $0.0011 and 100 tokens")

	said = tried(t, run,
		map[string]string{"agent/agent.sh": "echo '{\"findings\": []}'\necho '{\"dollars\": 1}' >> \"$ASSAY_USAGE\"\n"}, "| Files | agent/** |")
	require.Contains(t, said,
		`a part cannot be used: $ASSAY_USAGE:1: {"dollars": 1}: expected a line like`)
	require.Contains(t, said, "ok cost: it states none")

	said = tried(t, run, map[string]string{"agent/agent.sh": "#!/bin/sh\nsh agent/part.sh\n",
		"agent/part.sh": ""}, "| Files | agent/** |")
	require.Contains(t, said,
		`MISSING files: it could not open agent/part.sh: it runs in the audited project, not in `)
	require.Contains(t, said, `write "$ASSAY_FILES/agent/part.sh" (agent/agent.sh:2)`)
	require.Contains(t, said, "MISSING report: ")

	said = tried(t, run,
		map[string]string{"agent/agent.sh": `cat "$ASSAY_FILES/rules/all.txt" >&2; exit 3`,
			"rules/all.txt": ""}, "| Files | agent/** |\n| Timeout | 1m |")
	require.Contains(t, said,
		"add it to Files: fixtures/auditors.md:7: | Files | agent/**, rules/all.txt |")

	said = tried(t, run, map[string]string{
		"agent/agent.sh": `: "${MY_URL:?is not set}"`}, "| Files | agent/** |")
	require.Contains(t, said, "MISSING variables: it complains of MY_URL; a variable that it needs "+
		"is given to it by fixtures/auditors.md:7: | Environment | MY_URL |")

	l, err := net.Listen("tcp4", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	said = tried(t, `bash "$ASSAY_FILES/agent/agent.sh"`,
		map[string]string{"agent/agent.sh": "at=${HTTPS_PROXY#http://}; h=${at%:*} p=${at#*:}\nexec 3<>/dev/tcp/$h/$p; printf 'CONNECT " + l.Addr().String() + " HTTP/1.1\\r\\nHost: " + l.Addr().String() + "\\r\\n\\r\\n' >&3; head -1 <&3 >&2; exit 4\n"}, "| Network | yes |\n| Hosts | 127.0.0.1:1 |")
	require.Contains(t, said, "MISSING reach: it asked for "+l.Addr().String()+
		" and was not let through: fixtures/auditors.md:8: | Hosts | 127.0.0.1:1, "+
		l.Addr().String()+" |")
}

// TestReadsBelowTheRoot: a toolchain below the root is found below $ASSAY_FILES, and is no part
// of what is measured.
func TestReadsBelowTheRoot(t *testing.T) {
	if missing := box.Missing(); missing != "" {
		t.Skip(missing)
	}
	root, src := t.TempDir(), t.TempDir()
	script(t, filepath.Join(root, ".venv/bin/tool"), "#!/bin/sh\necho '{\"findings\": []}'\n")
	script(t, filepath.Join(root, "agent/a.sh"), "exec \"$ASSAY_FILES/.venv/bin/tool\"\n")
	script(t, filepath.Join(root, "agent/__pycache__/a.pyc"), "left behind")
	script(t, filepath.Join(src, "a.py"), "x = 1\n")
	e := audit.AuditorEntry{Name: "x", Kind: "agent", Format: "json", Timeout: 1 << 40,
		Command: `sh "$ASSAY_FILES/agent/a.sh"`, Root: root,
		Files: []string{"agent/**"}, Reads: []string{".venv"},
		Pos: audit.Pos{File: "auditors.md", Line: 3}}
	run, err := Command(e).Audit(t.Context(), audit.AuditTask{Dir: src})
	require.NoError(t, err)
	require.Empty(t, run.Invalid, string(run.Stderr))
	files, err := Files(e)
	require.NoError(t, err)
	require.Len(t, files, 1, "only the script")
}
