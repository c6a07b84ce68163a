import { shellWord } from '../../core/shell-word.ts'
import type { Globals } from '../context.ts'
import type { TypedImport } from './import-options.ts'

/** What to type to go on with an import, with the flags that it was started with. */
export const resumeCommand = (words: string, file: string, typed: TypedImport, globals: Globals): string => {
  const flags: [string, string | undefined][] = [
    ['--org', typed.org],
    ['--format', typed.format],
    ['--on-conflict', typed.onConflict],
    ['--results', typed.results],
    ['--concurrency', typed.concurrency],
    ['--profile', globals.profile],
    ['--base-url', globals.baseUrl],
    ['--key-file', globals.keyFile],
    ['--cacert', globals.cacert],
  ]
  const given = flags.flatMap(([flag, value]) => (value === undefined ? [] : [`${flag} ${shellWord(value)}`]))
  return ['svc', words, shellWord(file), ...given, '--resume'].join(' ')
}
