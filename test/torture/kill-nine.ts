import { randomBytes } from 'node:crypto'
import { startService, svc } from '../e2e/processes.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { call, exampleInput, must } from './requests.ts'
import type { Result, Torture } from './torture.ts'

const rounds = 200
const clients = 8

type Seen = { acknowledged: string[]; sent: string[] }

/** Writes until the service is killed. */
const load = async (baseUrl: string, key: string, org: number, round: number, seen: Seen): Promise<void> => {
  await Promise.all(
    Array.from({ length: clients }, async (_, client) => {
      for (let i = 0; ; i++) {
        const name = `r${round} c${client} ${i}`
        seen.sent.push(name)
        const input = { ...exampleInput('createGeofence'), org_id: org, name }
        const reply = await call(baseUrl, 'createGeofence', key, input).catch(() => undefined)
        if (!reply) return
        if (reply.status === 200) seen.acknowledged.push(name)
      }
    }),
  )
}

export const torture: Torture = {
  name: 'kill -9 while writing, the embedded store',
  must: '0 acknowledged writes lost',
  run: async (): Promise<Result> => {
    const folder = temporaryFolder()
    const key = `svc_op_torture_${randomBytes(24).toString('hex')}`
    const seen: Seen = { acknowledged: [], sent: [] }
    const examples: string[] = []
    let org = 0
    try {
      for (let round = 0; round < rounds; round++) {
        const service = await startService(folder.path, key)
        org ||= (await must(call(service.baseUrl, 'createOrganization', key, { name: 'Acme' }))).id
        const working = load(service.baseUrl, key, org, round, seen)
        setTimeout(() => service.process.kill('SIGKILL'), 30 + ((round * 37) % 170))
        await working
        await service.stop('SIGKILL')
      }
      const service = await startService(folder.path, key)
      const { body } = await call(service.baseUrl, 'listGeofences', key, { org_id: org })
      const there = new Set((body.data as { name: string }[]).map(({ name }) => name))
      const chain = await svc(['audit', 'verify', '--org', String(org)], {
        SVC_BASE_URL: service.baseUrl,
        SVC_API_KEY: key,
        SVC_CONFIG_DIR: folder.path,
      })
      await service.stop()
      const lost = seen.acknowledged.filter((name) => !there.has(name))
      if (chain.exit !== 0) examples.push(`the audit chain: ${chain.stderr}`)
      for (const name of lost.slice(0, 5)) examples.push(`lost ${name}`)
      return {
        count: seen.acknowledged.length,
        failures: lost.length + (chain.exit === 0 ? 0 : 1),
        hits: {
          kills: rounds,
          acknowledged: seen.acknowledged.length,
          'cut off': seen.sent.length - seen.acknowledged.length,
        },
        // The broken variant counts a request as done when it was sent.
        control: seen.sent.filter((name) => !there.has(name)).length,
        examples,
      }
    } finally {
      folder.remove()
    }
  },
}
