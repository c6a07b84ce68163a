import { realpathSync } from 'node:fs'
import { quoted, shellQuote } from '../../core/shell-quote.ts'
import type { HostName } from './host.ts'

// The line that a host runs. A host blocks on exit code 2 with a reason, and most of them let a call run if a hook ends in any
// other way. So a shell around svc turns every other end into that: a program that is missing, crashes, or is killed.

const script = '"$@" || { echo "Blocked: no approval was used." >&2; exit 2; }'
/** The name of the shell's script, by which svc knows its lines again. */
const mark = ' svc-hook '

/** The program that runs svc, by absolute paths: a host may have another PATH. */
export const program = (): string[] => [process.execPath, realpathSync(process.argv[1]!)]

/** The line for `svc hook run` with these words. `configDir` is the folder of the profiles, if it is not the usual one. */
export const hookLine = (host: HostName, words: readonly string[], configDir: string | undefined): string => {
  const env = configDir === undefined ? [] : ['/usr/bin/env', `SVC_CONFIG_DIR=${configDir}`]
  return (
    `/bin/sh -c ${quoted(script)}${mark}` +
    [...env, ...program(), 'hook', 'run', host, ...words].map(shellQuote).join(' ')
  )
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
