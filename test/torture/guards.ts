import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { decide, type Approver } from '../service/approver.ts'
import { at, config, home, launcher, prepareHost, whyNot, type Guarded } from '../system/guards/host.ts'
import type { Result, Torture } from './torture.ts'

type Scene = { host: Guarded; approver: Approver }

/** One failure: what differs from a command that a person approves. */
type Failure = {
  /** Before the command; returns what undoes it. */
  before?(scene: Scene): () => void
  /** While the request is pending. */
  meanwhile?(): void
  decision?: 'approve' | 'deny'
  /** The command that leaves the mark. */
  command?(mark: string): string[]
}

const nothing = (): void => undefined
const touch = (mark: string): string[] => ['touch', mark]

const rewrite = (part: string | RegExp, by: string) => (): (() => void) => {
  writeFileSync(config, readFileSync(config, 'utf8').replace(part, by))
  return nothing
}

const mode = (file: string, spoiled: number, right: number) => (): (() => void) => {
  chmodSync(file, spoiled)
  return () => chmodSync(file, right)
}

const link = at('link')
const leadTo = (program: string): void => {
  rmSync(link, { force: true })
  symlinkSync(program, link)
}

const own = (host: Guarded, path: string, text?: string): void => {
  if (text === undefined) mkdirSync(path, { recursive: true })
  else writeFileSync(path, text, { mode: 0o755 })
  chownSync(path, host.ids.uid, host.ids.gid)
}

const failures: Record<string, Failure> = {
  denied: { decision: 'deny' },
  'no decision': { before: rewrite('timeout: 30', 'timeout: 10') },
  'service down': { before: rewrite(/service: .*/, 'service: http://127.0.0.1:1/admin/public/api') },
  'configuration that a group can change': { before: mode(config, 0o664, 0o644) },
  'configuration gone': {
    before: () => {
      renameSync(config, `${config}.away`)
      return () => renameSync(`${config}.away`, config)
    },
  },
  'key that everybody can read': { before: mode('/etc/svc/guard.key', 0o644, 0o640) },
  'keys that others can change': { before: mode('/etc/svc/guard-keys.json', 0o666, 0o644) },
  'guard is off': { before: rewrite('exec: {}\n', '') },
  'program replaced after the request': {
    before: () => {
      leadTo('/usr/bin/touch')
      return nothing
    },
    command: (mark) => [link, mark],
    meanwhile: () => leadTo('/usr/bin/mkdir'),
    decision: 'approve',
  },
  'script of the caller': {
    before: ({ host }) => {
      own(host, join(home, 'own.sh'), 'touch "$1"\n')
      return nothing
    },
    command: (mark) => ['sh', join(home, 'own.sh'), mark],
  },
  'script of the caller behind a link': {
    before: ({ host }) => {
      own(host, join(home, 'real'))
      own(host, join(home, 'real/inner'))
      own(host, join(home, 'real/behind.sh'), 'touch "$1"\n')
      symlinkSync(join(home, 'real/inner'), join(home, 'to'))
      return nothing
    },
    command: (mark) => ['sh', 'to/../behind.sh', mark],
  },
}

let marks = 0
/** Runs a command as the caller does with sudo. Returns whether it ran. */
const attempt = async (
  host: Guarded,
  failure: Failure,
  words?: (mark: string) => string[],
): Promise<boolean> => {
  const { before = () => nothing, meanwhile = nothing, decision, command = touch } = failure
  const approver = await host.approver()
  // `guard exec` takes no path where the caller could put a file.
  const mark = at(`${words ? 'marks' : 'own-marks'}/${++marks}`)
  const undo = before({ host, approver })
  try {
    const running = host.asAccount(
      words ? words(mark) : ['/usr/bin/sudo', '-n', launcher, 'exec', '--', ...command(mark)],
    )
    if (decision) {
      const id = await running.asked()
      meanwhile()
      await decide(host.api, id, approver.key, { decision })
    }
    await running.ended
    return existsSync(mark)
  } finally {
    undo()
  }
}

/** The line that people write first: the guard is asked, and the command runs beside it. */
const naive = (mark: string): string[] => [
  '/bin/sh',
  '-c',
  `/usr/bin/sudo -n ${launcher} exec -- true; touch ${mark}`,
]

const run = async (host: Guarded): Promise<Result> => {
  const hits: Record<string, number> = { 'approved, and ran': 0 }
  const examples: string[] = []
  if (await attempt(host, { decision: 'approve' })) hits['approved, and ran']! += 1
  else examples.push('approved, and did not run')
  for (const [name, failure] of Object.entries(failures)) {
    hits[name] = 1
    if (await attempt(host, failure)) examples.push(`${name}, and ran`)
  }
  let control = 0
  for (const name of ['denied', 'service down']) if (await attempt(host, failures[name]!, naive)) control++
  return {
    count: Object.keys(failures).length,
    failures: examples.length,
    hits,
    control,
    examples: examples.slice(0, 5),
  }
}

export const torture: Torture = {
  name: `Guard of sudo: ${Object.keys(failures).length} failures`,
  must: '0 commands that ran',
  run: async () => {
    const why = whyNot()
    if (why !== undefined) throw new Error(`Guards cannot be tried here: ${why}`)
    const host = await prepareHost()
    try {
      mkdirSync(at('own-marks'))
      mkdirSync(at('marks'))
      chmodSync(at('marks'), 0o777)
      return await run(host)
    } finally {
      await host.close()
    }
  },
}
