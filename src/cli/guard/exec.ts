import { existsSync, lstatSync, mkdtempSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { attempted } from '../../core/attempted.ts'
import { failure, usageError } from '../../core/errors.ts'
import { safeLine } from '../../core/safe-text.ts'
import { bindCommand, pathOf, removeBound } from '../approve/bound-command.ts'
import { findCommand, runChild } from '../approve/child.ts'
import type { Io } from '../terminal/io.ts'
import { fixedEnvironment, fixedPath } from './guarded-environment.ts'
import type { GuardConfig } from './config.ts'
import { guardSubject, hold, hostOf, newRun } from './hold.ts'
import { changeableBy } from './root-file.ts'
import { ownAccount } from './trust.ts'

const nothing = 'nothing was run'

/** Who ran sudo. sudo sets the variable itself; without sudo, the account of this process. */
const callerOf = ({ env }: Pick<Io, 'env'>): string => env['SUDO_USER'] || ownAccount().name

/** A pipe has what somebody writes into it after the approval. */
const contentOf = (path: string): 'file' | 'pipe' | undefined => {
  // A word can be too long for a path.
  const found = attempted(() => statSync(path))
  if (found?.isFIFO() || found?.isSocket()) return 'pipe'
  return found?.isFile() ? 'file' : undefined
}

/** The program and the arguments whose content somebody else than root could change until they are opened. */
const changeableFiles = (argv: readonly string[], file: string, cwd: string): string[] =>
  [file, ...argv.slice(1)].filter((name) => {
    const path = pathOf(name, { cwd })
    return name !== '' && contentOf(path) !== undefined && changeableBy(path) !== undefined
  })

/** A path where somebody else than root could put a file after the last check: to nothing, or to a folder. */
const creatable = (argv: readonly string[], cwd: string): string | undefined =>
  argv.slice(1).find((name) => {
    if (name === '') return false
    let path = pathOf(name, { cwd })
    if (contentOf(path) !== undefined) return false
    // Behind what does not exist, `..` leads back out of what somebody puts there.
    if (path.split('/').includes('..') && !attempted(() => lstatSync(path))) return true
    while (!attempted(() => lstatSync(path))) path = dirname(path)
    return changeableBy(path) !== undefined
  })

type Place = { argv: readonly string[]; cwd: string; here: string }

/**
 * Where the command starts: in the folder of the caller only if nobody but root can create a file there, which any word could
 * name. Otherwise in `/`, with the paths of what exists in their folder.
 */
const placed = (argv: readonly string[], { cwd, here }: Pick<Io, 'cwd' | 'here'>): Place => {
  if (changeableBy(cwd) === undefined) return { argv, cwd, here }
  const isOfCaller = (word: string, at: number): boolean =>
    word !== '' && (at > 0 || word.includes('/')) && existsSync(pathOf(word, { cwd }))
  const words = argv.map((word, at) => (isOfCaller(word, at) ? pathOf(word, { cwd }) : word))
  return { argv: words, cwd: '/', here: '/' }
}

/** Runs a command after a person has approved exactly it, and returns its exit code. */
export const guardExec = async (typed: readonly string[], config: GuardConfig, io: Io): Promise<number> => {
  const [name] = typed
  if (name === undefined)
    throw usageError('Missing command after --', 'svc guard exec -- systemctl restart nginx')
  const file = findCommand(name, { env: { PATH: fixedPath }, cwd: io.cwd })
  const { argv, cwd, here } = placed(typed, io)
  if (cwd !== io.cwd)
    io.stderr.write(
      `guard: the command starts in /, because others than root can change ${safeLine(io.cwd)}\n`,
    )
  const account = callerOf(io)
  const run = newRun()
  const files = changeableFiles(argv, file, cwd)
  const pipe = files.find((one) => contentOf(pathOf(one, { cwd })) === 'pipe')
  if (pipe !== undefined)
    throw failure(
      'guard_changeable',
      `${safeLine(pipe)} is a pipe, so nobody could approve what comes out of it: ${nothing}`,
      'Name a regular file',
    )
  const missing = creatable(argv, cwd)
  if (missing !== undefined)
    throw failure(
      'guard_changeable',
      `${safeLine(missing)} is no file, and others than root could put one there after the approval: ${nothing}`,
      'Name a path that only root can change',
    )
  if (files.length > 0 && config.exec?.files !== 'copy')
    throw failure(
      'guard_changeable',
      `${changeableBy(pathOf(files[0]!, { cwd }))!.message}: it could change after the approval, so ${nothing}`,
      'Install it so that only root can change it, or set exec: {files: copy} in /etc/svc/guard.yaml',
    )
  // Others cannot replace a folder of this account in /tmp, because of its sticky bit.
  const folder = mkdtempSync('/tmp/svc-guard-')
  try {
    const shown = { SVC_GUARD_CALLER: account, SVC_GUARD_HOST: hostOf(config), SVC_GUARD_RUN: run }
    const environment = fixedEnvironment(io.env, shown)
    const command = bindCommand({ argv, file, bind: files, environment, folder }, { cwd, here })
    for (const text of command.warnings)
      io.stderr.write(`guard: ${safeLine(text.replace('. To bind a file in it: --bind FILE', ''))}\n`)
    const recheck = (isUsed: boolean): void => {
      const now = changeableFiles(argv, file, cwd)
      const added = now.find((one) => !files.includes(one)) ?? creatable(argv, cwd)
      if (added !== undefined)
        throw failure(
          'file_changed',
          `${pathOf(added, { cwd })} is not what was approved: ${nothing}`,
          'Request a new approval',
        )
      command.recheck(isUsed)
    }
    const approval = await hold(
      config,
      {
        subject: guardSubject('command', command.subject.data),
        account,
        nothing,
        recheck: () => recheck(false),
      },
      io,
    )
    const env = { ...environment.env, SVC_APPROVAL_ID: approval.id }
    recheck(true)
    return await runChild(command.file, command.args, { env, cwd: here })
  } finally {
    removeBound(folder)
  }
}
