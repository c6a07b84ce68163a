#!/usr/bin/env bash
# Everything about the code that needs no run of it. One line a check; what a failing check said comes below its line.
set -u
cd "$(dirname "$0")/.."
export PATH="$PWD/node_modules/.bin:$PATH"
failed=0

check() {
  local name=$1 said
  shift
  if said=$("$@" 2>&1 </dev/null); then
    printf 'ok      %s\n' "$name"
  else
    printf 'FAILED  %s\n%s\n' "$name" "$said"
    failed=$((failed + 1))
  fi
}

# A warning of the bundler does not fail the build.
quiet() {
  local said
  said=$(node scripts/build.mjs 2>&1) && test -z "$said" || { echo "$said"; return 1; }
}

# What the command tree makes is in the repository as it is made.
fresh() {
  npm run --silent generate && test -z "$(git status --porcelain -- completions docs/reference)" || {
    git --no-pager diff --stat -- completions docs/reference
    git status --porcelain -- completions docs/reference
    echo 'Stale: run npm run generate and commit what it changes'
    return 1
  }
}

# The packages that people install: the launcher, the bundle, the page and the completions; the library and its types.
released() {
  node scripts/release.mjs "$release" && find "$release"/*/ -type f -printf '%P\n' | node -e '
    const files = require("fs").readFileSync(0, "utf8").trim().split("\n")
    for (const must of ["bin/svc.js", "bin/load.js", "bin/guard.sh", "dist/main.cjs", "dist/compiled.bin", "dist/page/index.html", "completions/svc.bash", "svc.cjs", "svc.mjs", "svc.d.cts", "svc.d.mts"])
      if (!files.includes(must)) files.push(`missing: ${must}`)
    const meant = /^(?:package\.json|README\.md|THIRD_PARTY_NOTICES\.txt|svc\.(?:mjs|d\.cts|d\.mts)|[\w.-]+\.cjs|bin\/(?:(?:svc|load|not-built)\.js|guard\.sh)|dist\/(?:[\w.-]+\.cjs|compiled\.bin|help\.ndjson|svc\.sample\.yaml|page\/[\w.-]+)|completions\/svc\.(?:bash|zsh|fish))$/
    for (const file of files) if (!meant.test(file)) console.log(`not meant: ${file}`)
    process.exitCode = files.every((file) => meant.test(file)) ? 0 : 1
  '
}

release=$(mktemp -d)
trap 'rm -rf "$release"' EXIT

check 'types' tsc -p .
check 'types of the page' tsc -p src/page
check 'types of its worker' tsc -p src/page/worker
check 'lint' oxlint --deny-warnings
check 'format' oxfmt --check
check 'unused code' knip --no-progress
check 'layers' vitest run --project node test/layers.test.ts test/regular-expressions.test.ts
check 'build prints nothing' quiet
check 'generated files are fresh' fresh
check 'packages hold what is meant' released
check 'packages are valid' bash -c 'publint --strict "$0/svc" && publint --strict "$0/svc-library"' "$release"
check 'types of the library' bash -c 'attw --no-emoji "$0"/svc-library-*.tgz' "$release"

if [ "$failed" -gt 0 ]; then
  echo "$failed failed"
  exit 1
fi
