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

# The package holds the launcher, the bundle, the page, the completions and its exact dependencies, and nothing else.
packed() {
  local files
  npm run --silent prepack
  files=$(npm pack --dry-run --json --ignore-scripts 2>/dev/null | node -e '
    const files = JSON.parse(require("fs").readFileSync(0, "utf8"))[0].files.map(({ path }) => path)
    for (const must of ["bin/svc.js", "bin/load.js", "bin/guard.sh", "dist/main.cjs", "dist/compiled.bin", "dist/page/index.html", "dist/library/svc.cjs", "dist/library/svc.d.mts", "completions/svc.bash", "npm-shrinkwrap.json"])
      if (!files.includes(must)) console.log(`missing: ${must}`)
    const meant = /^(?:package\.json|npm-shrinkwrap\.json|README\.md|bin\/(?:(?:svc|load|not-built)\.js|guard\.sh)|dist\/(?:(?:library\/)?[\w.-]+\.cjs|library\/svc\.(?:mjs|d\.cts|d\.mts)|compiled\.bin|help\.ndjson|nodes\.sh|svc\.sample\.yaml|page\/[\w.-]+)|completions\/svc\.(?:bash|zsh|fish|ps1))$/
    for (const file of files) if (!meant.test(file)) console.log(`not meant: ${file}`)
  ')
  local read=$?
  npm run --silent postpack
  test "$read" -eq 0 && test -z "$files" || { echo "$files"; return 1; }
}

# The types of the library resolve for every way to import it.
typed() {
  local folder
  folder=$(mktemp -d)
  npm pack --ignore-scripts --silent --pack-destination "$folder" >/dev/null && attw --no-emoji "$folder"/*.tgz
  local ended=$?
  rm -rf "$folder"
  return "$ended"
}

# npm ci would take it in place of the lockfile.
unwrapped() {
  test ! -e npm-shrinkwrap.json || { echo 'npm-shrinkwrap.json was left by a broken npm pack: remove it'; return 1; }
}

check 'types' tsc -p .
check 'types of the page' tsc -p src/page
check 'types of its worker' tsc -p src/page/worker
check 'lint' oxlint --deny-warnings
check 'format' oxfmt --check
check 'unused code' knip --no-progress
check 'layers' vitest run --project node test/layers.test.ts test/regular-expressions.test.ts
check 'build prints nothing' quiet
check 'generated files are fresh' fresh
check 'lockfile alone' unwrapped
check 'package is valid' publint --strict
check 'package holds what is meant' packed
check 'types of the library' typed

if [ "$failed" -gt 0 ]; then
  echo "$failed failed"
  exit 1
fi
