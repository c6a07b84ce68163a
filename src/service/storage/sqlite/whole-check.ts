import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { constants, setPriority } from 'node:os'
import { useFile } from './connection.ts'
import { damage } from './errors.ts'

const statement = 'PRAGMA quick_check(1)'

/** Throws if a page of the store is damaged. Reads all of it: 700 MB in 2 s. */
export const requireWhole = (file: string): void => {
  const [found] = useFile(file, (database) => database.prepare(statement).all([])) as {
    quick_check: string
  }[]
  if (found?.quick_check !== 'ok') throw damage(String(found?.quick_check))
}

/** `damage` resolves if damage is found. `stop` ends the check. */
export type WholeCheck = { damage: Promise<Error>; stop(): void }

const program = `
const [libsql, file] = process.argv.slice(1)
try {
  const [found] = new (require(libsql))(file).prepare('${statement}').all([])
  process.stdout.write(found.quick_check)
} catch (error) {
  const damaged = /^SQLITE_(CORRUPT|NOTADB)/.test(error.code)
  process[damaged ? 'stdout' : 'stderr'].write(error.message)
}`

/**
 * Checks a store that is in use. In another process, because the engine would hold up every request meanwhile, and because
 * only a process can be stopped in the middle.
 */
export const checkWhole = (file: string, report: (line: string, level: 'warn') => void): WholeCheck => {
  const libsql = createRequire(import.meta.url).resolve('libsql')
  let stopped = false
  let found!: (damage: Error) => void
  const damaged = new Promise<Error>((resolve) => (found = resolve))
  const child = execFile(process.execPath, ['-e', program, libsql, file], (error, said, failure) => {
    if (stopped || said === 'ok') return
    if (said) return found(damage(said))
    const reason = failure || (error?.signal ?? error?.code)
    report(`The store could not be checked for damage: ${reason}`, 'warn')
  })
  if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW)
  return {
    damage: damaged,
    stop: () => {
      stopped = true
      child.kill('SIGKILL')
    },
  }
}
