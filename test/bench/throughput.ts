import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { median, type Figure } from './figures.ts'
import { benchFile, cleanEnv, firstLine, stop, type ServiceChild } from './service-child.ts'

type Rate = { perSecond: number; requests: number; failed: number }

const rounds = 6

const script = (name: string, argv: string[], env: Record<string, string>) =>
  spawn(process.execPath, ['--import', 'tsx', benchFile(name), ...argv], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })

const rate = async (name: string, what: object, env: Record<string, string>): Promise<Rate> => {
  const child = script(name, [JSON.stringify(what)], env)
  const one = (await firstLine(child)) as Rate
  await stop(child)
  if (one.failed > 0 || one.requests === 0)
    throw new Error(`${one.failed} requests failed: ${JSON.stringify(what)}`)
  return one
}

/** Seconds of processor time that a process has used, its system calls included. Linux tells it in hundredths. */
const processorTime = (pid: number): number => {
  const [, rest] = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')
  const fields = rest!.split(' ')
  return (Number(fields[11]) + Number(fields[12])) / 100
}

/** Requests that a server answers in a second of one core; other work on the machine takes nothing from that. */
const perCoreSecond = async (pid: number, url: string, env: Record<string, string>): Promise<number> => {
  const before = processorTime(pid)
  const { requests } = await rate('load.mts', { url, clients: 32, seconds: 2 }, env)
  return requests / (processorTime(pid) - before)
}

/** The median of `ours / theirs`, each pair taken right after the other. The first pair warms both up. */
const pairedRatio = async (ours: () => Promise<number>, theirs: () => Promise<number>): Promise<number> => {
  const ratios: number[] = []
  for (let round = 0; round <= rounds; round++) {
    const yardstick = await theirs()
    const ratio = (await ours()) / yardstick
    if (round > 0) ratios.push(ratio)
  }
  return median(ratios)
}

/** One server process against a bare Hono; the load comes from a third. */
export const readFigure = async (service: ServiceChild): Promise<Figure> => {
  const echo = script('echo.ts', [], cleanEnv())
  try {
    const { port } = await firstLine(echo)
    return {
      what: 'authenticated read / bare Hono echo, per second of one core',
      figure: await pairedRatio(
        () => perCoreSecond(service.pid, `${service.baseUrl}/organization/1`, service.env),
        () => perCoreSecond(echo.pid!, `http://127.0.0.1:${port}/echo`, cleanEnv()),
      ),
      unit: '',
      must: 0.5,
      beyond: 0.7,
      more: true,
    }
  } finally {
    await stop(echo)
  }
}

export const writeFigure = async (service: ServiceChild): Promise<Figure> => {
  const url = `${service.baseUrl}/organization/create`
  const load = { url, clients: 64, seconds: 2, write: true }
  return {
    what: "durable writes, 64 clients / one-at-a-time fsync'd inserts",
    figure: await pairedRatio(
      async () => (await rate('load.mts', load, service.env)).perSecond,
      async () => (await rate('inserts.ts', {}, cleanEnv())).perSecond,
    ),
    unit: '',
    must: 1,
    beyond: 4,
    more: true,
  }
}
