import { spawn, type ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { hosts, type HostName } from '../../src/cli/hook/host.ts'
import { outcome, svc, type Ended } from './processes.ts'

/** Installs the hook of a host in a home folder, and returns the line that the host runs. */
export const installedLine = async (
  host: HostName,
  flags: string[],
  env: Record<string, string>,
): Promise<string> => {
  const { exit, stderr } = await svc(['hook', 'install', host, ...flags], env)
  if (exit !== 0) throw new Error(stderr)
  const { event, commandAt, file } = hosts[host]
  const config = JSON.parse(readFileSync(file('user', env, '')!, 'utf8'))
  return commandAt.reduce((value, name) => value[name], config.hooks[event].at(-1))
}

export type Held = { child: ChildProcess; ended: Promise<Ended> }

/** Runs the line as a host does: in a shell, with the call on standard input. */
export const callHook = (line: string, input: string, env: Record<string, string>): Held => {
  const child = spawn('/bin/sh', ['-c', line], { env: { PATH: process.env.PATH, ...env } })
  child.stdin.on('error', () => undefined).end(input)
  return { child, ended: outcome(child) }
}

/** The process that runs svc inside the shell of the line. */
export const processOf = async ({ child }: Held): Promise<number> => {
  for (;;) {
    const shells = [child.pid!]
    for (const pid of shells) {
      const below = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
        .trim()
        .split(' ')
        .filter(Boolean)
        .map(Number)
      for (const one of below) {
        if (readFileSync(`/proc/${one}/cmdline`, 'utf8').startsWith(process.execPath)) return one
        shells.push(one)
      }
    }
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
