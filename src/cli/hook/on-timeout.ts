import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Io } from '../terminal/io.ts'
import type { Host } from './host.ts'

/** What a host does with a call if its hook does not answer in time, as in a status: `open` lets the call run. */
type OnTimeout = { state: 'ok' | 'open' | 'unknown'; text: string }

const answersMs = 10_000

/** The version that the program in the PATH reports. It runs without a shell, away from the files of a project, and without secrets. */
const versionOf = async (program: string, { env }: Pick<Io, 'env'>): Promise<string | undefined> => {
  const { PATH, HOME } = env
  const options = { env: { PATH, HOME }, cwd: '/', timeout: answersMs, killSignal: 'SIGKILL' } as const
  try {
    const { stdout } = await promisify(execFile)(program, ['--version'], options)
    return /\d{1,9}\.\d{1,9}\.\d{1,9}/.exec(stdout)?.[0]
  } catch {
    return undefined
  }
}

const isBefore = (one: string, other: string): boolean => {
  const [ones, others] = [one, other].map((version) => version.split('.').map(Number))
  const at = ones!.findIndex((part, index) => part !== others![index])
  return at >= 0 && ones![at]! < others![at]!
}

/** Says what this version of a host does. A call counts as held only where that is known. */
export const onTimeout = async (
  { title, program, blocksFrom, runsUntil }: Host,
  io: Pick<Io, 'env'>,
): Promise<OnTimeout> => {
  const late = 'if the hook does not answer in time'
  const version = program === undefined ? undefined : await versionOf(program, io)
  if (version === undefined)
    return { state: 'unknown', text: `it is not known what the ${title} of this machine does ${late}` }
  if (blocksFrom !== undefined && !isBefore(version, blocksFrom))
    return { state: 'ok', text: `${title} ${version} blocks a call ${late}` }
  if (runsUntil !== undefined && isBefore(runsUntil, version))
    return { state: 'unknown', text: `it is not known what ${title} ${version} does ${late}` }
  const since = blocksFrom === undefined ? '' : `; ${blocksFrom} and newer block it`
  return { state: 'open', text: `${title} ${version} runs a call ${late}${since}` }
}
