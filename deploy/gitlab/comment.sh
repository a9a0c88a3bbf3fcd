#!/bin/bash
# Keeps one note on the merge request up to date: the text of a file, which begins
# with the mark by which it is found again. ASSAY_COMMENT_TOKEN is a project access
# token with the scope api. Needs curl and jq.
set -euo pipefail
notes="$CI_API_V4_URL/projects/$CI_PROJECT_ID/merge_requests/$CI_MERGE_REQUEST_IID/notes"
mark=$(head -n 1 "$1")
api() { curl --fail-with-body --silent --show-error --header "PRIVATE-TOKEN: $ASSAY_COMMENT_TOKEN" "$@"; }
id=$(api "$notes?per_page=100&order_by=created_at&sort=asc" | jq -r --arg mark "$mark" '[.[] | select(.body | startswith($mark)) | .id][0] // empty')
if [ -n "$id" ]; then
  api --request PUT --data-urlencode "body@$1" "$notes/$id" > /dev/null
elif ! grep -q '^Nothing changed\.$' "$1"; then
  api --request POST --data-urlencode "body@$1" "$notes" > /dev/null
fi
