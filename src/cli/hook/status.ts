import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { promisify } from 'node:util'
import { influential } from '../../contract/scopes.ts'
import { SvcError } from '../../core/errors.ts'
import type { Context } from '../context/context.ts'
import { ignoreSurroundings } from '../context/own-settings.ts'
import { wordsOfLine } from './hook-line.ts'
import { hostNames, hosts, levels, type Host, type Level } from './host.ts'
import { disabledBy } from './disabled.ts'
import { readInstallation } from './installed.ts'

type Row = { name: string; state: 'ok' | 'missing' | 'broken'; detail: string }

const runsMs = 10_000

/** What an installed line runs: the program of svc, and the flags for it. */
const linePartsOf = (line: string): { program: string[]; flag(name: string): string | undefined } => {
  const words = wordsOfLine(line)
  const start = words.findIndex((word) => word !== '/usr/bin/env' && !/^[A-Z_]+=/.test(word))
  const program = words.slice(start, words.indexOf('hook', start))
  return { program, flag: (name) => words[words.indexOf(`--${name}`, start) + 1] }
}

/** Why the installed program would not run; undefined if it does. */
const programFault = async ([node = '', ...script]: readonly string[]): Promise<string | undefined> => {
  const lost = [node, ...script].find((path) => !existsSync(path))
  if (lost !== undefined) return `${lost} does not exist`
  try {
    const { stdout } = await promisify(execFile)(node, [...script, '--version'], { timeout: runsMs })
    return stdout.startsWith('svc ') ? undefined : `${script[0]} is not svc`
  } catch {
    return `${script[0]} does not run`
  }
}

/** The state of one file; undefined if there is nothing to say about it. */
const rowOf = async (host: Host, level: Level, { io }: Context): Promise<Row | undefined> => {
  const file = host.file(level, io.env, io.cwd)
  if (file === undefined) return undefined
  // In the home folder, the file of the project is your own.
  if (level === 'project' && file === host.file('user', io.env, io.cwd)) return undefined
  const name = level === 'user' ? host.name : `${host.name} (${level})`
  try {
    const { command } = readInstallation(host, file)
    if (command === undefined)
      return level === 'user' ? { name, state: 'missing', detail: `no hook in ${file}` } : undefined
    const { program, flag } = linePartsOf(command)
    const off = disabledBy(host, level, io)
    const fault = off
      ? `${host.title} ignores all hooks: "${off.setting}" in ${off.file}`
      : await programFault(program)
    if (fault !== undefined) return { name, state: 'broken', detail: `${fault}; hook in ${file}` }
    const profile = command.includes(' --profile ') ? `, with profile ${flag('profile')}` : ''
    return { name, state: 'ok', detail: `holds ${flag('match')}${profile}; hook in ${file}` }
  } catch (error) {
    if (!(error instanceof SvcError)) throw error
    return { name, state: 'broken', detail: error.message }
  }
}

/** Whether the service answers, and whether the key can only request approvals. */
const serviceRows = async (context: Context): Promise<Row[]> => {
  const { baseUrl } = await context.settings()
  const { requestingKey } = await import('../approve/separation.ts')
  try {
    const scopes = (await requestingKey(context))?.scopes
    const service: Row = { name: 'service', state: 'ok', detail: `${baseUrl.value} answers` }
    if (!scopes)
      return [service, { name: 'key', state: 'ok', detail: 'the service does not report its scopes' }]
    const too = influential.filter((scope) => scopes.includes(scope))
    const key: Row =
      too.length > 0
        ? {
            name: 'key',
            state: 'broken',
            detail: `can influence who approves (${too.join(', ')}); a hook refuses it`,
          }
        : { name: 'key', state: 'ok', detail: 'can only request approvals' }
    return [service, key]
  } catch (error) {
    if (!(error instanceof SvcError)) throw error
    return [{ name: 'service', state: 'broken', detail: `${baseUrl.value}: ${error.message}` }]
  }
}

/** `svc hook status` */
export const showHooks = async (context: Context): Promise<void> => {
  ignoreSurroundings(context)
  const places = hostNames.flatMap((name) => levels.map((level) => [hosts[name], level] as const))
  const found = await Promise.all([
    ...places.map(async ([host, level]) => [await rowOf(host, level, context)]),
    serviceRows(context),
  ])
  const rows = found.flat().filter((row) => row !== undefined)
  const output = await context.output()
  const broken = rows.filter(({ state }) => state === 'broken').length
  await output.report(broken === 0 ? 'No problem found' : 'Some hooks would block every call', rows)
  if (broken > 0) context.exitCode = 1
  if (rows.some(({ name, state }) => state === 'ok' && name.startsWith('codex')))
    output.note('svc cannot see whether Codex trusts the hook: /hooks in Codex shows it')
}
