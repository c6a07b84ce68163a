import { spawn } from 'node:child_process'
import type { Figure } from './figures.ts'
import { benchFile, cleanEnv, firstLine, stop, type ServiceChild } from './service-child.ts'

type Rate = { perSecond: number; failed: number }

const script = (name: string, argv: string[], env: Record<string, string>) =>
  spawn(process.execPath, ['--import', 'tsx', benchFile(name), ...argv], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })

const rate = async (name: string, what: object, env: Record<string, string>): Promise<number> => {
  const child = script(name, [JSON.stringify(what)], env)
  const { perSecond, failed } = (await firstLine(child)) as Rate
  await stop(child)
  if (failed > 0 || perSecond === 0) throw new Error(`${failed} requests failed: ${JSON.stringify(what)}`)
  return perSecond
}

/** Requests per second of one server process; the load comes from another, and a bare Hono stands next to it. */
export const readFigure = async (service: ServiceChild): Promise<Figure> => {
  const echo = script('echo.ts', [], cleanEnv())
  try {
    const { port } = await firstLine(echo)
    const load = { clients: 32, seconds: 3 }
    const bare: number[] = []
    const ours: number[] = []
    for (let round = 0; round < 2; round++) {
      bare.push(await rate('load.mts', { ...load, url: `http://127.0.0.1:${port}/echo` }, cleanEnv()))
      ours.push(await rate('load.mts', { ...load, url: `${service.baseUrl}/organization/1` }, service.env))
    }
    return {
      what: 'authenticated read / bare Hono echo, per second',
      figure: Math.max(...ours) / Math.max(...bare),
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
  const alone = await rate('inserts.ts', {}, cleanEnv())
  const url = `${service.baseUrl}/organization/create`
  const together = await rate('load.mts', { url, clients: 64, seconds: 3, write: true }, service.env)
  return {
    what: "durable writes, 64 clients / one-at-a-time fsync'd inserts",
    figure: together / alone,
    unit: '',
    must: 1,
    beyond: 4,
    more: true,
  }
}
