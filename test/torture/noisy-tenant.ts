import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { median } from '../bench/figures.ts'
import { bin } from '../e2e/processes.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { startNoise } from './noise.ts'
import { startLoopChild, type LoopChild } from './loop-child.ts'
import { call, must } from './requests.ts'
import type { Result, Torture } from './torture.ts'

const fences = 6_000
const connections = 4
const samples = 100
const rounds = 3
const betweenMs = 5

const compiling = fileURLToPath(new URL('compile-each-time.ts', import.meta.url))

type Tenant = { org: number; key: string }

const newTenant = async (baseUrl: string, operator: string, slug: string): Promise<Tenant> => {
  const { id } = await must(call(baseUrl, 'createOrganization', operator, { name: slug, slug }))
  const { key } = await must(
    call(baseUrl, 'createKey', operator, { name: slug, org_id: id, scopes: ['all'] }),
  )
  return { org: id, key }
}

/** Fences all over the world, some hundred at a time. */
const addFences = async (baseUrl: string, operator: string, { org }: Tenant): Promise<void> => {
  let next = 0
  const work = async (): Promise<void> => {
    for (let i = next++; i < fences; i = next++)
      await must(
        call(baseUrl, 'createGeofence', operator, {
          org_id: org,
          name: `fence ${i}`,
          latitude: (i % 170) - 85,
          longitude: (i % 359) - 179,
          radius: 100 + i,
          is_active: 1,
        }),
      )
  }
  await Promise.all(Array.from({ length: 32 }, work))
}

/** About a hundred reads in a second, one after another. Returns the median of their times, in ms. */
const p50 = async (baseUrl: string, { org, key }: Tenant): Promise<number> => {
  const times: number[] = []
  for (let i = 0; i < samples; i++) {
    const began = performance.now()
    const { status } = await call(baseUrl, 'listUsers', key, { org_id: org })
    if (status !== 200) throw new Error(`The quiet tenant got ${status}`)
    times.push(performance.now() - began)
    await pause(betweenMs)
  }
  return median(times)
}

const measure = async ({ ready }: LoopChild, operator: string, limited: boolean) => {
  const baseUrl = String(ready.base_url)
  const noisy = await newTenant(baseUrl, operator, 'noisy')
  const quiet = await newTenant(baseUrl, operator, 'quiet')
  if (!limited)
    await must(
      call(baseUrl, 'setLimits', operator, {
        org_id: noisy.org,
        key_requests_per_second: 1_000_000,
        requests_per_second: 1_000_000,
      }),
    )
  await addFences(baseUrl, operator, noisy)
  await p50(baseUrl, quiet)
  // Noise affects every round, but a busy machine does not.
  const least = async (): Promise<number> => {
    let shortest = Infinity
    for (let round = 0; round < rounds; round++) shortest = Math.min(shortest, await p50(baseUrl, quiet))
    return shortest
  }
  const alone = await least()
  const stop = await startNoise({ baseUrl, ...noisy, connections }, { limited })
  const beside = await least()
  return { alone, beside, hits: await stop() }
}

const measured = async (args: string[], limited: boolean) => {
  const folder = temporaryFolder()
  const operator = `svc_op_torture_${randomBytes(24).toString('hex')}`
  const env = { SVC_BOOTSTRAP_API_KEY: operator }
  const child = await startLoopChild(
    [...args, '--port', '0', '--data-dir', folder.path, '--no-profile', '-o', 'json'],
    env,
  )
  try {
    return await measure(child, operator, limited)
  } finally {
    await child.stop()
    folder.remove()
  }
}

const spoken = ({ alone, beside }: { alone: number; beside: number }): string =>
  `${alone.toFixed(2)} ms alone, ${beside.toFixed(2)} ms beside it`

export const torture: Torture = {
  name: `Noisy tenant: ${fences} fences, ${connections} connections that check places without a pause`,
  must: '0: the p50 of another tenant at most doubles',
  run: async (): Promise<Result> => {
    const real = await measured([bin, 'serve'], true)
    const broken = await measured(['--import', 'tsx', compiling, 'serve'], false)
    const isWorse = ({ alone, beside }: typeof real): boolean => beside > 2 * alone
    return {
      count: rounds * samples,
      failures: Number(isWorse(real)),
      hits: Object.fromEntries(
        Object.entries(real.hits).map(([status, count]) => [`noise ${status}`, count]),
      ),
      control: Number(isWorse(broken)),
      examples: [
        `another tenant's p50: ${spoken(real)}`,
        `without rates, and rules compiled at each check: ${spoken(broken)}`,
      ],
    }
  },
}
