import { spawn, type ChildProcess } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { hosts, type HostName } from '../../src/cli/hook/host.ts'
import { outcome, svc, type Ended } from './processes.ts'
import { machine } from '../machine.ts'

/** The flags, with `others` in place of those of the same name: each flag is given once. */
export const withOthers = (flags: string[], others: readonly string[]): string[] => [
  ...flags.filter((word, i) => !others.includes(word.startsWith('--') ? word : flags[i - 1]!)),
  ...others,
]

/** Installs the hook of a host in a home folder, and returns the line that the host runs. */
export const installedLine = async (
  host: HostName,
  flags: string[],
  env: Record<string, string>,
): Promise<string> => {
  const { exit, stderr } = await svc(['hook', 'install', host, ...flags], env)
  if (exit !== 0) throw new Error(stderr)
  const { event, commandAt, files } = hosts[host]
  const config = JSON.parse(readFileSync(files(env, '').user!, 'utf8'))
  return commandAt.reduce((value, name) => value[name], config.hooks[event].at(-1))
}

export type Held = { child: ChildProcess; ended: Promise<Ended> }

/** Runs the line as a host does: in a shell, with the call on standard input. */
export const callHook = (line: string, input: string, env: Record<string, string>): Held => {
  const child = spawn('/bin/sh', ['-c', line], { env: { ...machine, ...env } })
  child.stdin.on('error', () => undefined).end(input)
  return { child, ended: outcome(child) }
}

const childrenOf = (pid: number): number[] => {
  const tasks = readdirSync(`/proc/${pid}/task`)
  return tasks.flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
  )
}

const hookBelow = (pid: number): number | undefined => {
  const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  if (line.startsWith(process.execPath) && line.includes('\0hook\0run\0')) return pid
  for (const child of childrenOf(pid)) {
    const found = hookBelow(child)
    if (found !== undefined) return found
  }
  return undefined
}

/** The process that runs `svc hook run`, somewhere below this one. */
export const hookProcess = (pid: number): number => {
  const found = hookBelow(pid)
  if (found === undefined) throw new Error('No hook is running')
  return found
}
