import { spawn } from 'node:child_process'
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
    return [{ ...more, what, figure: figure!, must: 0.5, beyond: 0.7 }]
  })

const writesTo = async (url: string, env: Record<string, string>): Promise<number> =>
  (await rate('load.mts', { url, clients: 64, write: true }, env)).perSecond

/** Durable writes, compared with inserts without HTTP and with a route without the service. */
export const writeFigures = (service: ServiceChild): Promise<Figure[]> =>
  beside('bare-insert.ts', async (bare) => {
    const [toInserts, toBare] = await ratiosTo(
      () => writesTo(`${service.baseUrl}/organization/create`, service.env),
      async () => (await rate('inserts.ts', {}, cleanEnv())).perSecond,
      () => writesTo(`${bare.origin}/row`, cleanEnv()),
    )
    const what = 'durable writes, 64 clients'
    return [
      {
        ...more,
        what: `${what} / one-at-a-time inserts with fsync`,
        figure: toInserts!,
        must: 1.2,
        beyond: 2,
      },
      {
        ...more,
        what: `${what} / a bare Hono route with one insert`,
        figure: toBare!,
        must: 0.4,
        beyond: 0.6,
      },
    ]
  })
