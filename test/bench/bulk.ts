import { execFile, spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { median, type Figure } from './figures.ts'
import { benchFile, cleanEnv, firstLine, startService, type ServiceChild } from './service-child.ts'
import { svc } from '../e2e/processes.ts'
import { temporaryFolder } from '../temporary-folder.ts'

const rounds = 3
const rows = 10_000
const clients = 16
const curls = 300

const run = promisify(execFile)

const bodyOf = (i: number) => ({
  email: `user${i}@acme.example`,
  country_code: '+1',
  mobile: `202${String(2_000_000 + i)}`,
  first_name: `First ${i}`,
  last_name: `Last ${i}`,
})

/** Runs `work` on a new service with one empty organization. */
const withFresh = async (work: (service: ServiceChild) => Promise<number>): Promise<number> => {
  const service = await startService()
  try {
    await svc('org create --name Acme', service.env)
    return await work(service)
  } finally {
    await service.end()
  }
}

/** Rows per second, including the start of the process and the check of every row. */
const imported = (file: string): Promise<number> =>
  withFresh(async ({ env }) => {
    const began = performance.now()
    const argv = ['user', 'import', file, '--org', '1', '-o', 'json']
    const { stdout } = await svc(argv, env)
    const seconds = (performance.now() - began) / 1000
    const { created } = JSON.parse(stdout) as { created: number }
    if (created !== rows) throw new Error(`The import created ${created} of ${rows} users`)
    return rows / seconds
  })

/** POSTs per second, from the first request. */
const posted = (file: string): Promise<number> =>
  withFresh(async ({ env, baseUrl }) => {
    const what = { url: `${baseUrl}/organization/1/create/user`, clients, file }
    const argv = ['--import', 'tsx', benchFile('bulk-load.mts'), JSON.stringify(what)]
    const child = spawn(process.execPath, argv, { env, stdio: ['ignore', 'pipe', 'inherit'] })
    const { perSecond, failed } = (await firstLine(child)) as { perSecond: number; failed: number }
    if (failed > 0) throw new Error(`${failed} POSTs failed`)
    return perSecond
  })

/** POSTs per second by parallel curl processes, as many as there are connections. */
const curled = (bodies: string): Promise<number> =>
  withFresh(async ({ baseUrl, apiKey }) => {
    const url = `${baseUrl}/organization/1/create/user`
    const post = `curl -sf -o /dev/null -H "x-api-key: $KEY" -H 'content-type: application/json' --data-raw "$1" ${url}`
    const began = performance.now()
    await run(
      'sh',
      [
        '-c',
        `head -${curls} "${bodies}" | tr '\\n' '\\0' | xargs -0 -n 1 -P ${clients} sh -c '${post.replaceAll("'", "'\\''")}' curl`,
      ],
      {
        env: cleanEnv({ KEY: apiKey }),
      },
    )
    return curls / ((performance.now() - began) / 1000)
  })

/** An import of 10,000 users, compared with the same POSTs on an equal new service, and with curl in a loop. */
export const bulkFigures = async (): Promise<Figure[]> => {
  const { path: dir, remove } = temporaryFolder()
  const [csv, bodies] = [join(dir, 'users.csv'), join(dir, 'bodies.ndjson')]
  const all = Array.from({ length: rows }, (_, i) => bodyOf(i))
  writeFileSync(bodies, all.map((body) => `${JSON.stringify(body)}\n`).join(''))
  const lines = all.map((body) => Object.values(body).join(','))
  writeFileSync(csv, `${[Object.keys(all[0]!).join(','), ...lines].join('\n')}\n`)
  try {
    const ratios: number[] = []
    const rates: number[] = []
    for (let round = 0; round < rounds; round++) {
      const yardstick = await posted(bodies)
      const rate = await imported(csv)
      ratios.push(rate / yardstick)
      rates.push(rate)
    }
    const loop = await curled(bodies)
    const compared = { unit: '' as const, more: true }
    return [
      {
        ...compared,
        what: `bulk import of 10,000 users, including start and check / the same POSTs, ${clients} connections each`,
        figure: median(ratios),
        must: 0.8,
        beyond: 0.9,
      },
      {
        ...compared,
        what: `bulk import of 10,000 users / ${curls} of them by xargs -P ${clients} curl, per second`,
        figure: median(rates) / loop,
        must: 1,
        beyond: 4,
      },
    ]
  } finally {
    remove()
  }
}
