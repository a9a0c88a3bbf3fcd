#!/bin/bash
# Keeps one comment on the pull request $NUMBER up to date: the text of a file, which
# begins with the mark by which it is found again. Where nothing changed there is
# none, unless an earlier run wrote one.
set -euo pipefail
comments="repos/$GITHUB_REPOSITORY/issues"
mark=$(head -n 1 "$1")
id=$(gh api --paginate "$comments/$NUMBER/comments" --jq ".[] | select(.user.type == \"Bot\" and (.body | startswith(\"$mark\"))) | .id" | head -n 1)
if [ -n "$id" ]; then
  gh api -X PATCH "$comments/comments/$id" -F "body=@$1" > /dev/null
elif ! grep -q '^Nothing changed\.$' "$1"; then
  gh api -X POST "$comments/$NUMBER/comments" -F "body=@$1" > /dev/null ||
    echo "::notice::the comment was not written: a pull request from a fork has no token that may, and the step summary has the same"
fi
