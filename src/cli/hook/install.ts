import { resolve } from 'node:path'
import { SvcError, usageError } from '../../core/errors.ts'
import { safeLine } from '../../core/safe-text.ts'
import { textSubject } from '../../receipt/subject.ts'
import { gatherAsk, hookOperation } from '../approve/ask.ts'
import type { Context } from '../context/context.ts'
import { configDir } from '../context/private-file.ts'
import { deleteConfig, writeConfig } from '../context/config-file.ts'
import { hookLine } from './hook-line.ts'
import { hosts, type Host, type HostName, type Level } from './host.ts'
import { disabledIn, installed, readInstallation, uninstalled } from './installed.ts'
import { defaultSeconds, hostSlack, type RunOptions } from './run.ts'
import { hostPattern, readNames } from './tool-names.ts'

export type LevelOptions = { project?: boolean; managed?: boolean; dryRun?: boolean }
type Options = RunOptions &
  LevelOptions & { to?: string; reason?: string; factors?: unknown; requester?: string }

const notWritten = 'Nothing was written'

export const levelOf = ({ project, managed }: LevelOptions): Level => {
  if (project && managed) throw usageError('--project and --managed exclude each other', 'Choose one of them')
  if (project) return 'project'
  return managed ? 'managed' : 'user'
}

export const fileOf = (host: Host, level: Level, { io }: Context): string => {
  if (process.platform === 'win32')
    throw new SvcError(
      'failed',
      'not_supported',
      'A hook requires a POSIX shell, which Windows does not have',
      {
        hint: 'Use svc in the Windows Subsystem for Linux',
      },
    )
  const file = host.file(level, io.env, io.cwd)
  if (file === undefined)
    throw usageError(
      `${host.title} has no file for hooks of all users that svc can write`,
      'Add the hook to requirements.toml, as docs/hooks.md shows',
    )
  return file
}

const flag = (name: string, value: unknown): string[] =>
  value === undefined ? [] : [`--${name}`, Array.isArray(value) ? value.join(',') : String(value)]

/** The flags for `svc hook run`, as typed; the files as absolute paths. */
const runWords = (
  options: Options,
  names: readonly string[],
  to: string | undefined,
  context: Context,
): string[] => {
  const { globals, io } = context
  const { profile, baseUrl, keyFile, cacert } = globals
  if (keyFile === '-')
    throw usageError('--key-file - cannot be used: a hook reads its input from there', '--key-file FILE')
  const file = (name: string, path: string | undefined): string[] => flag(name, path && resolve(io.cwd, path))
  return [
    ...flag('match', names),
    ...flag('to', to),
    ...flag('timeout', options.timeout ?? defaultSeconds),
    ...flag('reason', options.reason),
    ...flag('factors', options.factors),
    ...flag('requester', options.requester),
    ...flag('org', options.org),
    ...flag('profile', profile),
    ...flag('base-url', baseUrl),
    ...file('key-file', keyFile),
    ...file('cacert', cacert),
  ]
}

/** Checks the flags for the request now, because a hook could only block with them. Returns --to, if it must be written. */
const approverOf = async (options: Options, level: Level, context: Context): Promise<string | undefined> => {
  const { defaultMobile } = await context.settings()
  if (level === 'managed' && options.to === undefined)
    throw usageError('--managed requires --to: other users have other profiles', '--to +12025550101')
  if (options.to !== undefined && !/^\+[1-9]\d{6,14}$/.test(options.to))
    throw usageError(`--to is not a mobile number in E.164: "${safeLine(options.to)}"`, '--to +12025550101')
  const typed = { args: [], options: { ...options, org: undefined } }
  const { ask } = await gatherAsk(hookOperation, typed, context, textSubject('A call'))
  return options.to === undefined && defaultMobile !== undefined ? undefined : ask.approver_mobile
}

/** `svc hook install` */
export const installHook = async (name: HostName, options: Options, context: Context): Promise<void> => {
  const { io } = context
  const host = hosts[name]
  const level = levelOf(options)
  const file = fileOf(host, level, context)
  const names = options.match ? readNames(options.match) : [...host.shell]
  const to = await approverOf(options, level, context)
  // A host started from a desktop does not have the variable of this shell.
  const moved = io.env['SVC_CONFIG_DIR'] ? configDir(io) : undefined
  const command = hookLine(name, runWords(options, names, to, context), moved)
  const seconds = Number(options.timeout ?? defaultSeconds) + hostSlack
  const installation = readInstallation(host, file)
  const text = installed(host, installation, { command, pattern: hostPattern(names), seconds })
  const data = { host: name, level, file, tools: names, command, timeout_s: seconds }
  const output = await context.output()
  if (options.dryRun) return output.reportDryRun(notWritten, data)
  if (text !== undefined) {
    writeConfig(installation.config, text, level === 'user' ? 0o600 : 0o644)
    context.changed = true
  }
  await output.report(text === undefined ? 'Already installed' : 'Installed', data)
  const setting = disabledIn(host, installation.config)
  if (setting !== undefined)
    output.warn(`${host.title} ignores all hooks because of "${setting}" in ${file}: no call is held`)
  if (host.next !== undefined) output.warn(host.next)
}

/** `svc hook uninstall` */
export const uninstallHook = async (
  name: HostName,
  options: LevelOptions,
  context: Context,
): Promise<void> => {
  const host = hosts[name]
  const level = levelOf(options)
  const file = fileOf(host, level, context)
  const installation = readInstallation(host, file)
  const output = await context.output()
  const data = { host: name, level, file }
  if (installation.command === undefined) return output.report('Not installed', data)
  if (options.dryRun) return output.reportDryRun(notWritten, data)
  const text = uninstalled(host, installation)
  if (text === '') deleteConfig(installation.config)
  else writeConfig(installation.config, text, 0o600)
  context.changed = true
  await output.report('Uninstalled', data)
}
