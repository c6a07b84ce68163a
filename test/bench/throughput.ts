import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { median, type Figure } from './figures.ts'
import { processorTime } from './processor-time.ts'
import { benchFile, cleanEnv, firstLine, stop, type ServiceChild } from './service-child.ts'

type Rate = { perSecond: number; requests: number; failed: number }

const rounds = 9
const seconds = 1

export const script = (name: string, argv: string[], env: Record<string, string>) =>
  spawn(process.execPath, ['--import', 'tsx', benchFile(name), ...argv], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })

const rate = async (name: string, what: object, env: Record<string, string>): Promise<Rate> => {
  const child = script(name, [JSON.stringify({ seconds, ...what })], env)
  const one = (await firstLine(child)) as Rate
  await stop(child)
  if (one.failed > 0 || one.requests === 0)
    throw new Error(`${one.failed} requests failed: ${JSON.stringify(what)}`)
  return one
}

/** Runs `work` next to a server from a file of this folder. */
export const beside = async <T>(
  name: string,
  work: (server: { pid: number; origin: string }) => Promise<T>,
): Promise<T> => {
  const child = script(name, [], cleanEnv())
  try {
    const { port } = await firstLine(child)
    return await work({ pid: child.pid!, origin: `http://127.0.0.1:${port}` })
  } finally {
    await stop(child)
  }
}

/** Requests per second of processor time of the server, so that other programs hardly affect it. */
const perCoreSecond = async (pid: number, url: string, env: Record<string, string>): Promise<number> => {
  const before = processorTime(pid)
  const { requests } = await rate('load.mts', { url, clients: 32 }, env)
  return requests / (processorTime(pid) - before)
}

/**
 * The median of `ours / theirs` for each of `theirs`. The sides take turns in alternating order, so that a disk or a machine
 * whose speed changes affects both. The first round warms up.
 */
const ratiosTo = async (
  ours: () => Promise<number>,
  ...theirs: (() => Promise<number>)[]
): Promise<number[]> => {
  const sides = [ours, ...theirs]
  const taken: number[][] = []
  for (let round = 0; round <= rounds; round++) {
    const rates: number[] = []
    const order = [...sides.keys()]
    for (const side of round % 2 === 0 ? order : order.toReversed()) rates[side] = await sides[side]!()
    if (round > 0) taken.push(rates)
  }
  return theirs.map((_, at) => median(taken.map((rates) => rates[0]! / rates[at + 1]!)))
}

const more = { unit: '' as const, more: true }

/** One server process compared with a bare Hono. The load comes from a third process. */
export const readFigures = (service: ServiceChild): Promise<Figure[]> =>
  beside('echo.ts', async (echo) => {
    const [figure] = await ratiosTo(
      () => perCoreSecond(service.pid, `${service.baseUrl}/organization/1`, service.env),
      () => perCoreSecond(echo.pid, `${echo.origin}/echo`, cleanEnv()),
    )
    const what = 'authenticated read / bare Hono echo, per second of one core'
    return [{ ...more, what, figure: figure!, must: 0.55, beyond: 0.7 }]
  })

/** Seconds of processor time of the server for one durable write. */
const timeOfWrite = async (pid: number, url: string, env: Record<string, string>): Promise<number> => {
  const before = processorTime(pid)
  const { requests } = await rate('load.mts', { url, clients: 64, write: true }, env)
  return (processorTime(pid) - before) / requests
}

/** The calls with which the process has made data durable since this began. */
const countFlushes = async (pid: number): Promise<() => Promise<number>> => {
  const traced = spawn(
    'strace',
    ['-f', '--seccomp-bpf', '-qq', '-e', 'trace=fsync,fdatasync', '-p', `${pid}`],
    {
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  )
  let flushes = 0
  traced.stderr.on('data', (text: Buffer) => {
    flushes += text.toString('latin1').split(/\bf(?:data)?sync\(/).length - 1
  })
  await once(traced, 'spawn')
  return async () => {
    traced.kill('SIGINT')
    await once(traced, 'close')
    return flushes
  }
}

/** Durable writes, compared with inserts without HTTP and with a route without the service. */
export const writeFigures = (service: ServiceChild): Promise<Figure[]> =>
  beside('bare-insert.ts', async (bare) => {
    const url = `${service.baseUrl}/organization/create`
    const [toBare] = await ratiosTo(
      () => timeOfWrite(service.pid, url, service.env),
      () => timeOfWrite(bare.pid, `${bare.origin}/row`, cleanEnv()),
    )
    const counted = await countFlushes(service.pid)
    const { requests } = await rate('load.mts', { url, clients: 64, write: true }, service.env)
    const flushes = await counted()
    return [
      {
        what: 'processor time of a durable write / of a bare Hono route with one insert, 64 clients',
        figure: toBare!,
        unit: '',
        must: 2.5,
        beyond: 1.8,
        more: false,
      },
      {
        what: 'flushes for 1,000 acknowledged writes, 64 clients',
        figure: (flushes / requests) * 1000,
        unit: '',
        must: 40,
        beyond: 16,
        more: false,
      },
    ]
  })
