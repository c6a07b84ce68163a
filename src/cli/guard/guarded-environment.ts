import type { Env } from '../../core/env.ts'
import type { ChildEnvironment } from '../approve/child.ts'
import { ownAccount } from './trust.ts'

/** The folders of programs. The caller's PATH is not used. */
export const fixedPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** The type of the terminal: a name, never a path. */
const terminalOf = ({ TERM: name }: Env): Record<string, string> =>
  name !== undefined && /^[\w+-][\w.+-]{0,39}$/.test(name) ? { TERM: name } : {}

/**
 * The environment of a command: fixed, or from the user database. The approver reads the values in `shown`, and the names of
 * the others.
 */
export const fixedEnvironment = (caller: Env, shown: Record<string, string>): ChildEnvironment => {
  const { name, home, shell } = ownAccount()
  const fixed = {
    PATH: fixedPath,
    HOME: home,
    USER: name,
    LOGNAME: name,
    SHELL: shell,
    LANG: 'C.UTF-8',
    ...terminalOf(caller),
  }
  return { env: { ...fixed, ...shown }, passed: Object.keys(fixed).toSorted(), set: shown }
}
