#!/usr/bin/env bash
# The types of everything, with what the last run knew. `npm run check` checks them without. `npm ci` removes the files.
cd "$(dirname "$0")/.."
failed=0
for project in . src/page src/page/worker; do
  node_modules/.bin/tsc -p "$project" --incremental --tsBuildInfoFile "node_modules/.cache/types/${project//\//-}.tsbuildinfo" || failed=1
done
exit "$failed"
