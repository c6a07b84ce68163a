import { createHash } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  realpathSync,
  rmSync,
  statSync,
  type BigIntStats,
} from 'node:fs'
import { devNull } from 'node:os'
import { basename, isAbsolute, join, resolve, sep } from 'node:path'
import { SvcError, usageError } from '../../core/errors.ts'
import { sha256 } from '../../core/ids.ts'
import { subjectFor } from '../../asking/subject.ts'
import type { Subject } from '../../receipt/subject.ts'
import type { Io } from '../terminal/io.ts'
import type { ChildEnvironment } from './child.ts'

const chunk = 1024 * 1024

/** SHA-256 of a regular file of any size. A pipe could give this reader another content than the command. */
const hashOf = (path: string): string => {
  const hash = createHash('sha256')
  const bytes = Buffer.allocUnsafe(chunk)
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    if (!fstatSync(file).isFile()) throw new Error('not a regular file')
    for (let read = readSync(file, bytes); read > 0; read = readSync(file, bytes))
      hash.update(bytes.subarray(0, read))
  } finally {
    closeSync(file)
  }
  return hash.digest('hex')
}

const look = (path: string): BigIntStats | undefined => {
  try {
    return statSync(path, { bigint: true })
  } catch {
    // It does not exist, or the text is not a path.
    return undefined
  }
}

/** Identifies the file at a path, so that a replacement is noticed. Without times: a directory may be written to. */
const identityOf = (found: BigIntStats | undefined): string | undefined =>
  found && `${found.mode}:${found.dev}:${found.ino}`

/** The path that a program would open. `a/../b` stays unchanged: if `a` is a link, it is not `b`. */
export const pathOf = (name: string, { cwd }: Pick<Io, 'cwd'>): string => {
  const parts = name.split(sep)
  const named = parts.findIndex((part) => !['', '.', '..'].includes(part))
  if (named < 0 || !parts.includes('..', named)) return resolve(cwd, name)
  return isAbsolute(name) ? name : `${cwd}${sep}${name}`
}

/** A file whose content is approved. The command gets `copy` instead, if there is one. */
type BoundFile = { path: string; sha256: string; copy?: string }

/** An argument whose content is not approved. `why` is undefined if it has no content: text, or the name of a new file. */
type Unbound = { path: string; identity: string | undefined; why: string | undefined }

type Given = {
  argv: readonly string[]
  /** The program that `argv[0]` means. */
  file: string
  bind: readonly string[]
  environment: ChildEnvironment
  /** A private folder. */
  folder: string
}

const copyOf = (path: string, folder: string, at: number): string => {
  const place = join(folder, 'bound', String(at))
  mkdirSync(place, { recursive: true, mode: 0o700 })
  const copy = join(place, basename(path))
  copyFileSync(path, copy)
  // Read-only, so that not even a mistake changes it.
  chmodSync(copy, (statSync(path).mode & 0o111) === 0 ? 0o400 : 0o500)
  chmodSync(place, 0o500)
  return copy
}

/** Removes the folder of a bound command, although the copies in it are read-only. */
export const removeBound = (folder: string): void => {
  const bound = join(folder, 'bound')
  if (existsSync(bound)) for (const name of readdirSync(bound)) chmodSync(join(bound, name), 0o700)
  rmSync(folder, { recursive: true, force: true })
}

const bindFile = (name: string, at: number, io: Pick<Io, 'cwd'>, folder: string): BoundFile => {
  const path = pathOf(name, io)
  if (!look(path)?.isFile()) throw usageError(`--bind: ${name} is not a file`)
  try {
    // Hash the copy, because the copy is run; the original may change meanwhile.
    const copy = copyOf(path, folder, at)
    return { path, sha256: hashOf(copy), copy }
  } catch (error) {
    throw usageError(`--bind: cannot read ${name} (${(error as NodeJS.ErrnoException).code})`)
  }
}

type Change = { path: string; how: string; hint?: string }

const fileChanged = ({ path, how, hint = '' }: Change, isUsed: boolean): SvcError =>
  new SvcError('failed', 'file_changed', `${path} is not what was approved: nothing was run`, {
    detail: `${how}. The approval was ${isUsed ? 'used up' : 'not used'}.`,
    hint: `Request a new approval${hint}`,
  })

/** Throws if the name of the folder leads elsewhere by now: the approver reads the name. */
const checkSameFolder = ({ cwd, here }: Pick<Io, 'cwd' | 'here'>): void => {
  if (identityOf(look(cwd)) === identityOf(look(here))) return
  throw new SvcError('failed', 'file_changed', `${cwd} is not this folder any more: nothing was run`, {
    hint: 'Request a new approval',
  })
}

const whyUnbound = (path: string, found: BigIntStats | undefined): string | undefined => {
  if (!found || path === devNull) return undefined
  if (found.isDirectory()) return 'it is a folder. To bind a file in it: --bind FILE'
  return found.isFile() ? 'it cannot be read' : 'it is not a regular file'
}

const checked = (data: object): Subject =>
  subjectFor({ type: 'command', data }, (problem) =>
    usageError(
      `The command cannot be approved as it is: ${problem}`,
      'Put long values into a file and pass it with --bind FILE',
    ),
  )

/**
 * Binds a command: arguments, folder, environment, and the content of the program, of each argument that is a file and of each
 * file of --bind. Throws a usage error.
 */
export const bindCommand = (
  { argv, file, bind, environment, folder }: Given,
  io: Pick<Io, 'cwd' | 'here'>,
) => {
  checkSameFolder(io)
  const copies = bind.map((name, at) => bindFile(name, at, io, folder))
  const known = new Map(copies.map((one) => [one.path, one]))
  const unbound = new Map<string, Unbound>()
  const note = (path: string): BoundFile | undefined => {
    const before = known.get(path)
    if (before) return before
    const found = look(path)
    try {
      if (found?.isFile()) {
        const bound = { path, sha256: hashOf(path) }
        known.set(path, bound)
        return bound
      }
    } catch {
      // A warning below explains it.
    }
    unbound.set(path, { path, identity: identityOf(found), why: whyUnbound(path, found) })
    return undefined
  }
  const executable = note(file)
  if (!executable)
    throw usageError(`${file} cannot be read, so its content cannot be approved`, 'Run it through a script')
  // What people read and rules look at: a link can give any name to a program.
  const program = realpathSync.native(file)
  const args = argv.slice(1).map((arg) => (arg === '' ? arg : (note(pathOf(arg, io))?.copy ?? arg)))
  const started = new Set([executable.copy, ...args])
  return {
    subject: checked({
      argv,
      cwd: io.cwd,
      executable: { path: program, sha256: executable.sha256 },
      files: [...known.values()].flatMap(({ path, sha256 }) =>
        path === executable.path ? [] : [{ path, sha256 }],
      ),
      environment: { passed: environment.passed, set: environment.set },
    }),
    /** Explains for each argument with unbound content why it is not bound. */
    warnings: [...unbound.values()].flatMap(({ path, why }) =>
      why === undefined ? [] : [`The content of ${path} is not bound: ${why}`],
    ),
    /** What to start: private copies where --bind named the file. */
    file: executable.copy ?? file,
    args,
    /** Binds what svc itself has written into a new file, which can be an argument. */
    bindOwn: (path: string, text: string): void => {
      unbound.delete(path)
      known.set(path, { path, sha256: sha256(text) })
    },
    /**
     * Throws if a file is no longer what was approved, or an argument now refers to another file. To be called before the approval is
     * used, and once more just before the command starts: whoever sees the use could change a file in between.
     */
    recheck: (isUsed = false): void => {
      checkSameFolder(io)
      for (const one of known.values()) {
        let now: string | undefined
        try {
          // If the command does not get the copy, it opens the original.
          now = hashOf(one.copy !== undefined && started.has(one.copy) ? one.copy : one.path)
        } catch {
          // The file was removed.
        }
        if (now !== one.sha256)
          throw fileChanged(
            {
              path: one.path,
              how: 'Its content changed after the request',
              hint: ', or bind a private copy: --bind FILE',
            },
            isUsed,
          )
      }
      if (executable.copy === undefined && realpathSync.native(file) !== program)
        throw fileChanged({ path: file, how: 'It is now a link to another program' }, isUsed)
      for (const { path, identity } of unbound.values())
        if (identityOf(look(path)) !== identity)
          throw fileChanged(
            {
              path,
              how:
                identity === undefined
                  ? 'It did not exist at the time of the request'
                  : 'It was replaced or removed after the request',
            },
            isUsed,
          )
    },
  }
}

export type BoundCommand = ReturnType<typeof bindCommand>
