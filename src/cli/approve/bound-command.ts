import { createHash } from 'node:crypto'
import { chmodSync, closeSync, copyFileSync, mkdirSync, openSync, readSync, statSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { SvcError, usageError } from '../../core/errors.ts'
import { readSubject, SubjectError, type Subject } from '../../receipt/subject.ts'
import type { Io } from '../io.ts'
import type { ChildEnvironment } from './child-environment.ts'

const chunk = 1024 * 1024

/** SHA-256 of a file of any size. */
const hashOf = (path: string): string => {
  const hash = createHash('sha256')
  const bytes = Buffer.allocUnsafe(chunk)
  const file = openSync(path, 'r')
  try {
    for (let read = readSync(file, bytes); read > 0; read = readSync(file, bytes))
      hash.update(bytes.subarray(0, read))
  } finally {
    closeSync(file)
  }
  return hash.digest('hex')
}

const isFile = (path: string): boolean => {
  try {
    return statSync(path).isFile()
  } catch {
    // It is not there, or is no name of a file.
    return false
  }
}

/** A file whose content is approved. `copy` is what is run and given to the command in its place. */
type BoundFile = { path: string; sha256: string; copy?: string }

type Given = {
  argv: readonly string[]
  /** The program that `argv[0]` means. */
  file: string
  bind: readonly string[]
  environment: ChildEnvironment
  /** A folder that is nobody else's. */
  folder: string
}

export type BoundCommand = {
  subject: Subject
  /** Arguments whose content is not bound, because it cannot be read. */
  unreadable: string[]
  /** What to start: private copies where --bind named the file. */
  file: string
  args: string[]
  /** Fails when the content of a file is no longer what was approved. */
  recheck(): void
}

const copyOf = (path: string, folder: string, at: number): string => {
  const place = join(folder, 'bound', String(at))
  mkdirSync(place, { recursive: true, mode: 0o700 })
  const copy = join(place, basename(path))
  copyFileSync(path, copy)
  // Neither it nor its folder is written again, not even by mistake.
  chmodSync(copy, (statSync(path).mode & 0o111) === 0 ? 0o400 : 0o500)
  chmodSync(place, 0o500)
  return copy
}

const bindFile = (name: string, at: number, { cwd }: Pick<Io, 'cwd'>, folder: string): BoundFile => {
  const path = resolve(cwd, name)
  if (!isFile(path)) throw usageError(`--bind: ${name} is not a file`)
  try {
    // Of the copy: what is hashed is what is run, whatever becomes of the original.
    const copy = copyOf(path, folder, at)
    return { path, sha256: hashOf(copy), copy }
  } catch (error) {
    throw usageError(`--bind: cannot read ${name} (${(error as NodeJS.ErrnoException).code})`)
  }
}

const changed = ({ path }: BoundFile): SvcError =>
  new SvcError('failed', 'file_changed', `${path} is not what was approved: nothing was run`, {
    detail: 'Its content changed after svc had asked. The approval was not used.',
    hint: 'Ask again for what is there now, or let svc keep a copy: --bind FILE',
  })

const pure = ({ path, sha256 }: BoundFile) => ({ path, sha256 })

const checked = (data: object): Subject => {
  try {
    return readSubject({ type: 'command', data })
  } catch (error) {
    if (!(error instanceof SubjectError)) throw error
    throw usageError(
      `The command cannot be approved as it is: ${error.path} ${error.message}`,
      'Put what is long into a file, and name the file: --bind FILE',
    )
  }
}

/**
 * What exactly is run: arguments, folder, environment, and the content of the program, of each argument that is a file and of
 * each file of --bind. Fails with a usage error.
 */
export const bindCommand = (
  { argv, file, bind, environment, folder }: Given,
  io: Pick<Io, 'cwd'>,
): BoundCommand => {
  const copies = bind.map((name, at) => bindFile(name, at, io, folder))
  const known = new Map(copies.map((one) => [one.path, one]))
  const unreadable: string[] = []
  const note = (path: string): BoundFile | undefined => {
    const before = known.get(path)
    if (before || !isFile(path)) return before
    try {
      const bound = { path, sha256: hashOf(path) }
      known.set(path, bound)
      return bound
    } catch {
      unreadable.push(path)
      return undefined
    }
  }
  const executable = note(file)
  if (!executable)
    throw usageError(
      `${file} cannot be read, so that nobody could approve what it does`,
      'Run it through a script',
    )
  const args = argv.slice(1).map((arg) => note(resolve(io.cwd, arg))?.copy ?? arg)
  return {
    subject: checked({
      argv,
      cwd: io.cwd,
      executable: pure(executable),
      files: [...known.values()].filter((one) => one !== executable).map(pure),
      environment: { passed: environment.passed, set: environment.set },
    }),
    unreadable,
    file: executable.copy ?? file,
    args,
    recheck: () => {
      for (const one of known.values()) {
        let now: string | undefined
        try {
          now = hashOf(one.copy ?? one.path)
        } catch {
          // It has gone.
        }
        if (now !== one.sha256) throw changed(one)
      }
    },
  }
}
