import { usageError } from '../../core/errors.ts'
import { safeLine } from '../../core/safe-text.ts'
import { quoted, shellQuote } from '../../core/shell-quote.ts'
import { ownProgram } from '../context/own-program.ts'
import type { HostName } from './host.ts'

// The line that a host runs. A host blocks on exit code 2 with a reason, and most of them let a call run if a hook ends in any
// other way. So a shell around svc turns every other end into that: a program that is missing, crashes, or is killed.

/**
 * Hosts pass on the variables of a project, such as NODE_OPTIONS, so svc starts without them; also without functions, which bash
 * takes from variables. The proxies stay: https proves the service behind any of them.
 */
const script =
  'unset -f echo; ' +
  '/usr/bin/env -i PATH=/usr/local/bin:/usr/bin:/bin' +
  ' https_proxy="${https_proxy-$HTTPS_PROXY}" no_proxy="${no_proxy-$NO_PROXY}" "$@"' +
  ' || { echo "Blocked: no approval was used." >&2; exit 2; }'
/** The name of the shell's script, by which svc knows its lines again. */
const mark = ' svc-hook '

/** The line for `svc hook run` with these words, and with these variables. */
export const hookLine = (
  host: HostName,
  words: readonly string[],
  variables: Readonly<Record<string, string>>,
): string => {
  const set = Object.entries(variables).map(([name, value]) => `${name}=${value}`)
  const all = [...set, ...ownProgram(), 'hook', 'run', host, ...words]
  const replaced = all.find((word) => word.includes('$'))
  if (replaced !== undefined)
    throw usageError(
      `"${safeLine(replaced)}" contains $, and some hosts replace variables in their settings`,
      'Choose a text or a path without $',
    )
  return `/bin/sh -c ${quoted(script)}${mark}${all.map(shellQuote).join(' ')}`
}

export const isOurCommand = (command: string, host: HostName): boolean =>
  command.includes(mark) && command.includes(` hook run ${host} `)

/** The words of a shell line that only has words as `shellQuote` writes them. */
const wordsIn = (line: string): string[] =>
  [...line.matchAll(/(?:'[^']*'|\\'|[^\s'\\])+/g)].map(([word]) =>
    word.replaceAll(
      /'([^']*)'|\\(')/g,
      (_, inside: string | undefined, quote: string | undefined) => inside ?? quote ?? '',
    ),
  )

/** The words that an installed line runs after the shell. */
export const wordsOfLine = (line: string): string[] => wordsIn(line.slice(line.indexOf(mark) + mark.length))
