mkdir -p "$ASSAY_ROOT/records/ci"
state=$({ echo "$SUITE"; git ls-tree -r HEAD -- {{paths}}; if [ -n "$BASE" ]; then git ls-tree -r "$BASE" -- {{paths}}; else date +%Y-%m; fi; } | sha256sum | cut -c 1-16)
told="$ASSAY_ROOT/records/ci/$state.md"
tell() { printf '<!-- assay -->\n### Assay: %s\n\n%s\n' "$1" "$2" > "$REPORT"; }
if [ -e "$told" ] && ! grep -q '^### Assay: INVALID' "$told"; then
  echo "The same auditor was measured before: its verdict stands, and nothing is paid for again."
  cp "$told" "$REPORT"
elif {{no key}}; then #? keys
  tell 'not measured' 'The secret {{keys}} is not there, as in a pull request from a fork. To measure it, push its branch to this repository.' #? keys
  echo "{{warning}}Assay has not measured this change: the secret {{keys}} is not there" #? keys
elif left=$("$ASSAY" plan --left "$LIMIT") && [ "$left" = 0 ]; then
  tell INVALID "The runs of this pull request have used up their limit of $LIMIT USD: raise LIMIT in the workflow."
else
  compare=()
  if [ -z "$BASE" ]; then CHANGE='monthly run'
  elif ! git diff --quiet "$BASE...HEAD" -- '{{dir/}}fixtures/baselines'; then compare=(-reuse)
  elif git show "$BASE:{{from}}" 2> /dev/null | grep -qx '## {{section}}'; then compare=(-beside "git:$BASE"); fi
  failed=0
  measure() { (cd '{{suites' folder}}' && go test "$@" -budget "$left" -timeout 0 -change "$CHANGE") || failed=1; }
  measure -run Smoke{{auditor}}
  left=$("$ASSAY" plan --left "$LIMIT")
  if [ "$failed" = 0 ] && [ "$SUITE" = full ]; then measure -run '{{suites}}'{{auditor}}{{flags}} "${compare[@]}"; fi
  "$ASSAY" summary --link "$LINK" > "$REPORT" || tell INVALID 'The run wrote no record: its log says why.'
  if [ "$failed" = 1 ] && ! grep -qE '^### Assay: (FAIL|INVALID)' "$REPORT"; then tell INVALID 'The run ended early: its log says why.'; fi
  cp "$REPORT" "$told"
fi
