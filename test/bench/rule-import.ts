import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startService, svc } from '../e2e/processes.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { approve, enrollApprover, request } from '../torture/enrolled-approver.ts'
import { median, type Figure } from './figures.ts'

// What one approval for many rows costs: an import under a rule, with the wait for its approver, who answers at once.

const rows = 10_000
const rounds = 3

const csvOf = (): string =>
  `mobile,email,first_name,last_name\n${Array.from(
    { length: rows },
    (_, i) => `+1202${3_000_000 + i},user${i}@acme.example,First ${i},Last ${i}\n`,
  ).join('')}`

const pause = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms))

/** Seconds of an import of all rows into a fresh organization. */
const imported = async (hasRule: boolean): Promise<number> => {
  const { path, remove } = temporaryFolder()
  const key = `bench-${'k'.repeat(40)}`
  const service = await startService(join(path, 'data'), key, ['--dev'])
  const { baseUrl } = service
  try {
    const { id: org } = await request(baseUrl, 'createOrganization', key, { name: 'Acme' })
    const people = [await enrollApprover(baseUrl, key, org), await enrollApprover(baseUrl, key, org)]
    const members = people.map(({ user }) => user)
    await request(baseUrl, 'createGroup', key, { org_id: org, name: 'admins', members })
    const rule = {
      name: 'people',
      match: { type: 'request', operation: [hasRule ? 'user create' : 'geofence'] },
      who: ['@admins'],
    }
    await request(baseUrl, 'createRule', key, { org_id: org, ...rule })
    const file = join(path, 'users.csv')
    writeFileSync(file, csvOf())
    const env = { SVC_API_KEY: key, SVC_BASE_URL: baseUrl, SVC_CONFIG_DIR: join(path, 'config') }
    const began = performance.now()
    const running = svc(['user', 'import', file, '--org', String(org), '-o', 'json'], env)
    for (let isAsked = !hasRule; !isAsked; await pause(20)) {
      const [pending] = await request(baseUrl, 'listApprovals', key, { status: 'pending' })
      if (!pending) continue
      await approve(baseUrl, key, pending.request_id, people[0]!)
      isAsked = true
    }
    const { stdout } = await running
    const { created } = JSON.parse(stdout) as { created: number }
    if (created !== rows) throw new Error(`The import created ${created} of ${rows} users`)
    return (performance.now() - began) / 1000
  } finally {
    await service.stop()
    remove()
  }
}

export const ruleImportFigure = async (): Promise<Figure> => {
  const ratios: number[] = []
  for (let round = 0; round < rounds; round++) ratios.push((await imported(true)) / (await imported(false)))
  return {
    what: 'import of 10,000 rows under a rule / without',
    figure: median(ratios),
    unit: '',
    must: 1.3,
    beyond: 1.1,
    more: false,
  }
}
