#!/usr/bin/env bash
# Counts the functions that one live audit runs: a planted project, audited by cat.
# Prints them by package, and in all. Run it from the repository's root.
set -euo pipefail
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir -p "$root/fixtures/planted"
cp -r fixtures/planted/workshop "$root/fixtures/planted/"
cat > "$root/fixtures/auditors.md" <<'SECTION'
# Auditors

## cat

| Field | Value |
|---|---|
| Kind | tool |
| Timeout | 1m |
| Files | report.txt |

```sh
cat "$ASSAY_FILES/report.txt"
```
SECTION
cat > "$root/report.txt" <<'REPORT'
=== HEADER START ===
Project root: .
COVERAGE: 1/10
STATS: findings=1
=== HEADER END ===

| ID | Severity | CWE | File | Lines | Title |
|---|---|---|---|---|---|
| 1 | HIGH | CWE-89 | src/server.ts | 40 | t |

=== SENTINEL: AUDIT COMPLETE ===
REPORT
ASSAY_ROOT="$root" go test -count=1 -run 'Regression/workshop/cat' -coverpkg=./... \
  -coverprofile="$root/profile" . -auditor cat >"$root/out" 2>&1 || true
go tool cover -func="$root/profile" | awk '$NF != "0.0%" && $1 != "total:"' |
  sed -E 's|^assay/||; s|/[^/]*\.go:[0-9]+:.*||; s|^[^/]*\.go:.*|.|' | sort | uniq -c | sort -rn |
  awk '{ n += $1; print } END { print n, "in all" }'
