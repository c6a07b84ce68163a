import { shellWord } from '../../core/shell-word.ts'
import type { Globals } from '../terminal/run.ts'

/** The flags with which another command reaches the same service with the same key, to be put behind it. */
export const sameService = ({ profile, baseUrl, keyFile, cacert }: Globals): string =>
  Object.entries({ '--profile': profile, '--base-url': baseUrl, '--key-file': keyFile, '--cacert': cacert })
    .flatMap(([flag, value]) => (value === undefined ? [] : [` ${flag} ${shellWord(value)}`]))
    .join('')
