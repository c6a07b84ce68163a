import { resolve } from 'node:path'
import { failure, usageError } from '../../core/errors.ts'
import { textSubject } from '../../receipt/subject.ts'
import { gatherAsk, hookOperation } from '../approve/ask.ts'
import type { Context } from '../context/context.ts'
import { movedConfig } from '../context/own-program.ts'
import type { Setting, Settings } from '../context/settings.ts'
import { deleteForeignConfig, writeForeignConfig } from '../context/foreign-config.ts'
import type { Action } from '../program/define-command.ts'
import { disabledBy, skillsFault } from './disabled.ts'
import { examineConnection, linePartsOf } from './connection.ts'
import { hookLine } from './hook-line.ts'
import { hosts, type Host, type HostName, type Level } from './host.ts'
import { onTimeout } from './on-timeout.ts'
import { installed, readInstallation, uninstalled } from './installed.ts'
import { defaultSeconds, hostSlack, type RunOptions } from './run.ts'
import { holds, hostPattern, readNames } from './tool-names.ts'

export type LevelOptions = { project?: boolean; managed?: boolean; dryRun?: boolean }
type Options = RunOptions &
  LevelOptions & { to?: string[]; reason?: string; factors?: unknown; requester?: string }

const notWritten = 'Nothing was written'

export const levelOf = ({ project, managed }: LevelOptions): Level => {
  if (project && managed) throw usageError('--project and --managed exclude each other', 'Choose one of them')
  if (project) return 'project'
  return managed ? 'managed' : 'user'
}

export const fileOf = (host: Host, level: Level, { io }: Context): string => {
  if (process.platform === 'win32')
    throw failure(
      'not_supported',
      'A hook requires a POSIX shell, which Windows does not have',
      'Use svc in the Windows Subsystem for Linux',
    )
  const file = host.files(io.env, io.cwd)[level]
  if (file === undefined)
    throw usageError(
      `${host.title} has no file for hooks of all users that svc can write`,
      'Add the hook to requirements.toml, as docs/hooks.md shows',
    )
  return file
}

const flag = (name: string, value: unknown): string[] =>
  value === undefined ? [] : [`--${name}`, Array.isArray(value) ? value.join(',') : String(value)]

/** The value of a setting that comes from a variable: a hook reads none, so it is written. */
const fromVariable = (setting: Setting | undefined): string | undefined =>
  setting?.source === 'environment' ? setting.value : undefined

/** A key in a variable cannot be written. */
const requireReadableKey = ({ keySources: { apiKey, askKey } }: Settings): void => {
  if ((askKey ?? apiKey)?.source !== 'environment') return
  throw usageError(
    `A hook does not read variables, and the key is ${(askKey ?? apiKey)!.where}`,
    'Put the key into a file: --key-file FILE, or into the profile: svc profile login --ask',
  )
}

/** The flags for `svc hook run`, as typed; the files as absolute paths. */
const runWords = async (
  options: Options,
  { names, to, level }: { names: readonly string[]; to: readonly string[] | undefined; level: Level },
  context: Context,
): Promise<string[]> => {
  const { globals, io } = context
  const { baseUrl, keyFile, cacert } = globals
  if (keyFile === '-')
    throw usageError('--key-file - cannot be used: a hook reads its input from there', '--key-file FILE')
  const settings = await context.settings()
  requireReadableKey(settings)
  // Other users have other profiles.
  const isOwn = level !== 'managed' && settings.profile.source !== 'default'
  const profile = globals.profile ?? (isOwn ? settings.profile.value : undefined)
  const file = (name: string, path: string | undefined): string[] => flag(name, path && resolve(io.cwd, path))
  return [
    ...flag('match', names),
    ...(to ?? []).flatMap((line) => flag('to', line)),
    ...flag('timeout', options.timeout ?? defaultSeconds),
    ...flag('reason', options.reason),
    ...flag('factors', options.factors),
    ...flag('default-factors', options.defaultFactors ?? fromVariable(settings.defaultFactors)),
    ...flag('requester', options.requester ?? fromVariable(settings.requestFrom)),
    ...flag('org', options.org ?? fromVariable(settings.org)),
    ...flag('profile', profile),
    ...flag('base-url', baseUrl ?? fromVariable(settings.baseUrl)),
    ...file('key-file', keyFile),
    ...file('cacert', cacert),
  ]
}

/** Checks the flags for the request now, because a hook could only block with them. Returns --to, if it must be written. */
const approverOf = async (
  options: Options,
  level: Level,
  context: Context,
): Promise<string[] | undefined> => {
  const { defaultMobile } = await context.settings()
  const typed = { args: [], options: { ...options, org: undefined } }
  const ask = await gatherAsk(hookOperation, typed, context, textSubject('A call'))
  // Other users have other profiles.
  const isSaved = level !== 'managed' && defaultMobile !== undefined && defaultMobile.source !== 'environment'
  return options.to === undefined && isSaved ? undefined : ask.approvers
}

/** The only variables that the hook gets. */
const variablesOf = (level: Level, io: Context['io']): Record<string, string> => ({
  ...(level !== 'managed' && io.env['HOME'] && { HOME: io.env['HOME'] }),
  ...movedConfig(io),
})

export const installHook: Action<Options, [HostName]> = async ({ args: [name], options }, context) => {
  const { io } = context
  const host = hosts[name]
  const level = levelOf(options)
  const file = fileOf(host, level, context)
  const names = options.match ? readNames(options.match) : [...host.shell]
  const to = await approverOf(options, level, context)
  const command = hookLine(
    name,
    await runWords(options, { names, to, level }, context),
    variablesOf(level, io),
  )
  const seconds = Number(options.timeout ?? defaultSeconds) + hostSlack
  const installation = readInstallation(host, file)
  const isShellHeld = holds(names, host.shell)
  const text = installed(
    host,
    installation,
    { command, pattern: hostPattern(names), seconds },
    isShellHeld ? host.skillSetting : undefined,
  )
  const data = { host: name, level, file, tools: names, command, timeout_s: seconds }
  const output = await context.output()
  if (options.dryRun) return output.reportDryRun(notWritten, data)
  if (text !== undefined) {
    writeForeignConfig(installation.config, text, level === 'user' ? 0o600 : 0o644)
    context.changed = true
  }
  await output.report(text === undefined ? 'Already installed' : 'Installed', data)
  const off = disabledBy(host, level, io)
  if (off)
    output.warn(`${host.title} ignores all hooks because of "${off.setting}" in ${off.file}: no call is held`)
  const skills = isShellHeld && skillsFault(host, level, io)
  if (skills) output.warn(skills)
  if (host.next !== undefined) output.warn(host.next)
  const [{ state, text: late }, faults] = await Promise.all([
    onTimeout(host, io),
    examineConnection(linePartsOf(command).connection, context),
  ])
  if (state === 'ok') output.note(late)
  else output.warn(`Not every call may be held: ${late}`)
  for (const { name: part, state: fault, detail } of faults) {
    if (fault === 'broken')
      output.warn(`Every held call is blocked, because the ${part} cannot be used: ${detail}`)
    if (fault === 'strict') output.warn(`Not every call can be approved: ${detail}`)
  }
}

export const uninstallHook: Action<LevelOptions, [HostName]> = async ({ args: [name], options }, context) => {
  const host = hosts[name]
  const level = levelOf(options)
  const file = fileOf(host, level, context)
  const installation = readInstallation(host, file)
  const output = await context.output()
  const data = { host: name, level, file }
  if (installation.command === undefined) {
    await output.report('Not installed', data)
    return output.note('There is no hook of svc in this file. Nothing was changed.')
  }
  if (options.dryRun) return output.reportDryRun(notWritten, data)
  const text = uninstalled(host, installation)
  if (text === '') deleteForeignConfig(installation.config)
  else writeForeignConfig(installation.config, text, 0o600)
  context.changed = true
  await output.report('Uninstalled', data)
  if (host.skillSetting !== undefined && installation.config.at([host.skillSetting]) === true)
    output.note(`"${host.skillSetting}" was removed, too: ${host.title} runs the commands in skills again`)
}
