import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { promisify } from 'node:util'
import { SvcError } from '../../core/errors.ts'
import type { Context } from '../context/context.ts'
import {
  examineConnection,
  isSameConnection,
  linePartsOf,
  typedConnection,
  type Connection,
  type HookCheck,
} from './connection.ts'
import { hostNames, hosts, levels, type Host, type Level } from './host.ts'
import { disabledBy, skillsFault } from './disabled.ts'
import { readInstallation } from './installed.ts'
import { onTimeout } from './on-timeout.ts'
import { holds, hostPattern, readNames } from './tool-names.ts'

type Installed = { name: string; connection: Connection }
type Found = { row: HookCheck; connection?: Connection }

const runsMs = 10_000

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
const rowOf = async (host: Host, level: Level, { io }: Context): Promise<Found | undefined> => {
  const files = host.files(io.env, io.cwd)
  const file = files[level]
  if (file === undefined) return undefined
  // In the home folder, the file of the project is your own.
  if (level === 'project' && file === files.user) return undefined
  const name = level === 'user' ? host.name : `${host.name} (${level})`
  try {
    const { command, entry } = readInstallation(host, file)
    if (command === undefined)
      return level === 'user' ? { row: { name, state: 'missing', detail: `no hook in ${file}` } } : undefined
    const { program, match, connection } = linePartsOf(command)
    const off = disabledBy(host, level, io)
    const names = match === '' ? host.shell : readNames([match])
    const calledFor = `${host.title} calls the hook for other tools than ${match}: install it again`
    // The file names the tools twice.
    const isCalled = (entry as { matcher?: unknown }).matcher === hostPattern(names)
    const runs = isCalled ? holds(names, host.shell) && skillsFault(host, level, io) : calledFor
    if (!off && runs) return { row: { name, state: 'open', detail: `${runs}; hook in ${file}` }, connection }
    const fault = off
      ? `${host.title} ignores all hooks: "${off.setting}" in ${off.file}`
      : await programFault(program)
    if (fault !== undefined) return { row: { name, state: 'broken', detail: `${fault}; hook in ${file}` } }
    const profile = connection.profile === undefined ? '' : `, with profile ${connection.profile}`
    const { state, text } = await onTimeout(host, io)
    return { row: { name, state, detail: `${text}; holds ${match}${profile}; hook in ${file}` }, connection }
  } catch (error) {
    if (!(error instanceof SvcError)) throw error
    return { row: { name, state: 'broken', detail: error.message } }
  }
}

/** The rows about each connection that a hook uses, and about the typed one. */
const connectionRows = async (installed: readonly Installed[], context: Context): Promise<HookCheck[]> => {
  const typed = typedConnection(context)
  const isTyped = Object.values(typed).some((value) => value !== undefined)
  const used = [...(isTyped || installed.length === 0 ? [{ name: '', connection: typed }] : []), ...installed]
  const different = used.filter(
    ({ connection }, at) => used.findIndex((other) => isSameConnection(other.connection, connection)) === at,
  )
  const found = await Promise.all(
    different.map(async ({ name, connection }) => {
      const rows = await examineConnection(connection, context)
      return different.length === 1 || name === ''
        ? rows
        : rows.map((row) => Object.assign(row, { name: `${row.name} (${name})` }))
    }),
  )
  return found.flat()
}

const verdictOf = (states: ReadonlySet<HookCheck['state']>): string => {
  if (states.has('broken')) return 'Some hooks would block every call'
  if (states.has('open') || states.has('unknown')) return 'Some hosts may run a call that nobody approved'
  return states.has('strict') ? 'Calls that no rule holds are blocked' : 'No problem found'
}

export const showHooks = async (context: Context): Promise<void> => {
  const places = hostNames.flatMap((name) => levels.map((level) => [hosts[name], level] as const))
  const seen = (await Promise.all(places.map(([host, level]) => rowOf(host, level, context)))).filter(
    (one) => one !== undefined,
  )
  const installed = seen.flatMap(({ row: { name }, connection }) =>
    connection ? [{ name, connection }] : [],
  )
  const rows = [...seen.map(({ row }) => row), ...(await connectionRows(installed, context))]
  const output = await context.output()
  const isBroken = rows.some(({ state }) => state === 'broken')
  const doubtful = rows.filter(({ state }) => state !== 'ok' && state !== 'missing')
  await output.report(verdictOf(new Set(doubtful.map(({ state }) => state))), rows)
  if (isBroken) context.exitCode = 1
  // A table cuts what is long.
  if (output.format === 'table') for (const { name, detail } of doubtful) output.note(`${name}: ${detail}`)
  if (installed.some(({ name }) => name.startsWith('codex')))
    output.note('svc cannot see whether Codex trusts the hook: /hooks in Codex shows it')
}
