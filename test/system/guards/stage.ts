import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { decide, type Approver } from '../../service/approver.ts'
import { at, config, launcher, prepareHost, type Guarded, type Running } from './host.ts'

// What each test has: the host, an approver, and a file that exists if something ran.

export let host: Guarded
export let approver: Approver
export let mark: string
/** In a folder that only root can change. */
export let rootMark: string
let marks = 0

/** Installs the set-up hooks in the suite that calls it. `why`: the host lacks something. */
export const installHooks = (why: string | undefined): void => {
  beforeAll(async () => {
    if (why !== undefined) throw new Error(why)
    host = await prepareHost()
    mkdirSync(at('marks'))
    chmodSync(at('marks'), 0o777)
    mkdirSync(at('root-marks'))
  })
  afterAll(() => host?.close())
  beforeEach(async () => {
    approver = await host.approver()
    marks += 1
    mark = at(`marks/${marks}`)
    rootMark = at(`root-marks/${marks}`)
  })
}

export const hasRun = (): boolean => existsSync(mark) || existsSync(rootMark)
type More = { env?: Record<string, string>; cwd?: string }
export const sudo = (command: string[], more: More = {}): Running =>
  host.asAccount(['/usr/bin/sudo', '-n', launcher, 'exec', '--', ...command], more)
export const touch = (more: More = {}): Running => sudo(['touch', rootMark], more)
export const record = async (id: string) => (await host.api.call('GET', `/svc/v1/approvals/${id}`)).body.data

/** What the approver's phone does. Throws if the service does not accept it. */
export const answer = async (
  id: string,
  { key }: Approver,
  decision: 'approve' | 'deny' = 'approve',
): Promise<void> => {
  const { status, body } = await decide(host.api, id, key, { decision })
  if (status !== 200) throw new Error(JSON.stringify(body))
}

/** Replaces a part of the configuration, which must be there. */
export const change = (part: string | RegExp, by: string): void => {
  const text = readFileSync(config, 'utf8')
  if (text.replace(part, by) === text) throw new Error(`The configuration has no ${part}`)
  writeFileSync(config, text.replace(part, by))
}
