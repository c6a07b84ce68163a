import { usageError } from '../../core/errors.ts'
import { safeLine } from '../../core/safe-text.ts'
import { matches } from '../../core/wildcard.ts'

// Which tools a hook holds: names, in which * stands for any text. The host gets them as a regular expression; svc checks the
// name again without one.

const mostNames = 50

/** Reads `--match`: names, repeated or separated by commas. */
export const readNames = (typed: readonly string[]): string[] => {
  const names = typed.flatMap((text) => text.split(',').map((name) => name.trim()))
  if (names.length > mostNames) throw usageError(`--match names more than ${mostNames} tools`, "--match '*'")
  for (const name of names)
    if (!/^[\w*:.@/-]{1,200}$/.test(name))
      throw usageError(
        `--match: "${safeLine(name)}" is not the name of a tool`,
        "--match Bash, or --match 'mcp__github__*'",
      )
  return names
}

/** The names as the regular expression that every host understands. */
export const hostPattern = (names: readonly string[]): string =>
  `^(?:${names.map((name) => name.replaceAll('.', String.raw`\.`).replaceAll('*', '.*')).join('|')})$`

/** Whether the hook holds a tool that the host knows under these names. */
export const holds = (names: readonly string[], tools: readonly string[]): boolean =>
  names.some((name) => tools.some((tool) => matches(name, tool)))
