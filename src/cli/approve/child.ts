import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { accessSync, constants as access, statSync } from 'node:fs'
import { delimiter, resolve } from 'node:path'
import { SvcError, usageError } from '../../core/errors.ts'
import type { Env } from '../../core/env.ts'
import { isUsualVariable } from '../../core/usual-variables.ts'
import type { Io } from '../terminal/io.ts'

const isExecutable = (path: string): boolean => {
  try {
    accessSync(path, access.X_OK)
    return true
  } catch {
    return false
  }
}

/** The extensions that Windows adds to a name. */
const endings = ({ env }: Pick<Io, 'env'>): string[] =>
  process.platform === 'win32' ? ['', ...(env['PATHEXT'] ?? '.EXE;.CMD;.BAT').split(';')] : ['']

/**
 * Finds the file of a command as a shell does. Throws with the exit codes of a shell: 127 not found, 126 not executable.
 */
export const findCommand = (name: string, io: Pick<Io, 'env' | 'cwd'>): string => {
  const folders = /[/\\]/.test(name) ? [''] : (io.env['PATH'] ?? '').split(delimiter)
  const files = folders
    .flatMap((folder) => endings(io).map((ending) => resolve(io.cwd, folder, name) + ending))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile())
  const executable = files.find(isExecutable)
  if (executable) return executable
  const [file] = files
  if (file)
    throw new SvcError('notExecutable', 'not_executable', `${file} cannot be executed`, {
      hint: `No request was sent. To fix: chmod +x ${file}`,
    })
  throw new SvcError('noCommand', 'no_command', `Command "${name}" not found`, {
    hint: `No request was sent.${/[/\\]/.test(name) ? '' : ' For a file in this folder: ./name'}`,
  })
}

/** Credentials of svc, which no command gets: with them it could request or decide approvals itself. */
const isOwn = (name: string): boolean => /^(?:SVC_|MCP_AUTH_TOKEN$)/i.test(name)

export type ChildEnvironment = {
  env: Record<string, string>
  /** Sorted names of the variables that are passed on unchanged. */
  passed: string[]
  /** The variables that --env sets. */
  set: Record<string, string>
}

/**
 * The environment of a command: an allow-list, and what --env adds by name or sets to a value. Fails with a usage error for
 * a credential of svc, and for a name that is not set.
 */
export const childEnvironment = (env: Env, added: readonly string[] = []): ChildEnvironment => {
  const names = new Set(
    Object.keys(env).filter((name) => env[name] !== undefined && isUsualVariable(name) && !isOwn(name)),
  )
  const set: Record<string, string> = {}
  for (const entry of added) {
    const [, name, value] = /^([^=]+)(?:=([^]*))?$/.exec(entry) ?? []
    if (name === undefined) throw usageError(`--env must be NAME or NAME=VALUE, not "${entry}"`)
    if (isOwn(name))
      throw usageError(`--env: ${name} is a credential or setting of svc, which the command cannot get`)
    if (value !== undefined) set[name] = value
    else if (env[name] === undefined)
      throw usageError(
        `--env: ${name} is not set`,
        `Set it before: export ${name}=…. The approver sees only its name; of --env NAME=VALUE they see the value too`,
      )
    else names.add(name)
  }
  const passed = [...names].filter((name) => !Object.hasOwn(set, name)).toSorted()
  return { env: { ...Object.fromEntries(passed.map((name) => [name, env[name]!])), ...set }, passed, set }
}

const passedOn = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const

/**
 * Runs a command on the streams of this process and returns its exit code, or 128 + n if signal n ended it, as a shell does.
 * Signals go to the child while it runs.
 */
export const runChild = async (
  file: string,
  args: readonly string[],
  { env, cwd, argv0 }: { env: Env; cwd: string; argv0?: string },
): Promise<number> => {
  const child = spawn(file, args, {
    env: env as NodeJS.ProcessEnv,
    cwd,
    argv0: argv0 ?? file,
    stdio: 'inherit',
  })
  const before = passedOn.map((name) => [name, process.rawListeners(name)] as const)
  const pass = (signal: NodeJS.Signals): void => {
    // On a terminal, Ctrl-C goes to the whole process group, so the child has already got it.
    if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal)
  }
  for (const name of passedOn) process.removeAllListeners(name).on(name, pass)
  try {
    return await new Promise<number>((done, fail) => {
      child.once('error', (error: NodeJS.ErrnoException) =>
        fail(
          new SvcError('notExecutable', 'not_executable', `${file} could not be started: ${error.code}`, {
            hint: 'Check that the program in its first line (#!) exists',
          }),
        ),
      )
      child.once('exit', (code, signal) => done(code ?? 128 + (signal ? constants.signals[signal] : 0)))
    })
  } finally {
    for (const [name, listeners] of before) {
      process.removeListener(name, pass)
      for (const listener of listeners) process.on(name, listener as NodeJS.SignalsListener)
    }
  }
}
