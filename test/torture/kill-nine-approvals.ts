import { randomBytes } from 'node:crypto'
import { assert } from '../../src/client/software-authenticator.ts'
import type { ApprovalRecord } from '../../src/contract/approval.ts'
import { challengeOf } from '../../src/receipt/context.ts'
import { startService, svc } from '../e2e/processes.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { enrollApprover, request, type EnrolledApprover } from './enrolled-approver.ts'
import type { Result, Torture } from './torture.ts'

const rounds = 40
const clients = 4

type Reach = { baseUrl: string; key: string; org: number }
/** The responses by request. `sent` holds the requests without a response. */
type Seen = { requested: string[]; decided: Map<string, ApprovalRecord>; sent: Set<string> }

/** Requests and decides until the service is killed. */
const work = async (reach: Reach, { mobile, authenticator }: EnrolledApprover, seen: Seen): Promise<void> => {
  for (let i = 0; ; i++) {
    const asking = { action: `deploy ${i}`, approvers: [mobile], org_id: reach.org }
    const { request_id } = await request(reach.baseUrl, 'createApproval', reach.key, asking)
    seen.requested.push(request_id)
    const {
      contexts,
      origin,
      rp_id: rpId,
    } = await request(reach.baseUrl, 'getCeremony', reach.key, { request_id })
    const context = new Uint8Array(Buffer.from(contexts.approve, 'base64url'))
    const response = assert(authenticator, { challenge: challengeOf(context), origin, rpId })
    seen.sent.add(request_id)
    const decided = await request(reach.baseUrl, 'decideApproval', reach.key, {
      request_id,
      decision: 'approve',
      response,
    })
    seen.sent.delete(request_id)
    seen.decided.set(request_id, decided)
  }
}

const check = async (reach: Reach, seen: Seen) => {
  const examples: string[] = []
  const records = await request(reach.baseUrl, 'listApprovals', reach.key, { org_id: reach.org })
  const byId = new Map(records.map((record) => [record.request_id, record]))
  for (const id of seen.requested) if (!byId.has(id)) examples.push(`${id} was acknowledged and is missing`)
  for (const [id, decided] of seen.decided)
    if (JSON.stringify(byId.get(id)?.attestation) !== JSON.stringify(decided.attestation))
      examples.push(`${id} was approved and is ${byId.get(id)?.status}`)
  // Half a decision: approved without a receipt, or the reverse.
  for (const { request_id, status, attestation } of records)
    if ((status === 'approved') !== (attestation !== null))
      examples.push(`${request_id} is ${status} without a matching receipt`)
  const cut = [...seen.sent].filter((id) => byId.get(id)?.status === 'approved').length
  return { examples, cut, unmade: seen.sent.size - cut }
}

export const torture: Torture = {
  name: 'kill -9 while approvals are requested and decided, the embedded store',
  must: '0 acknowledged writes lost, no decision without its receipt',
  run: async (): Promise<Result> => {
    const folder = temporaryFolder()
    const key = `svc_op_torture_${randomBytes(24).toString('hex')}`
    const seen: Seen = { requested: [], decided: new Map(), sent: new Set() }
    const start = () => startService(folder.path, key, ['--dev'])
    let org = 0
    try {
      for (let round = 0; round < rounds; round++) {
        const service = await start()
        const reach = { baseUrl: service.baseUrl, key, org }
        if (org === 0)
          org = reach.org = (
            await request(reach.baseUrl, 'createOrganization', reach.key, { name: 'Acme' })
          ).id
        const approvers = await Promise.all(
          Array.from({ length: clients }, () => enrollApprover(reach.baseUrl, reach.key, reach.org)),
        )
        const working = approvers.map((approver) => work(reach, approver, seen).catch(() => undefined))
        setTimeout(() => service.process.kill('SIGKILL'), 100 + ((round * 37) % 400))
        await Promise.all(working)
        await service.stop('SIGKILL')
      }
      const service = await start()
      const { examples, cut, unmade } = await check({ baseUrl: service.baseUrl, key, org }, seen)
      const chain = await svc(['audit', 'verify', '--org', String(org)], {
        SVC_BASE_URL: service.baseUrl,
        SVC_API_KEY: key,
        SVC_CONFIG_DIR: folder.path,
      })
      await service.stop()
      if (chain.exit !== 0) examples.push(`the audit chain: ${chain.stderr}`)
      return {
        count: seen.requested.length + seen.decided.size,
        failures: examples.length,
        hits: {
          kills: rounds,
          requested: seen.requested.length,
          approved: seen.decided.size,
          'cut off but kept': cut,
        },
        // The broken variant counts a decision as made when it was sent.
        control: unmade,
        examples: examples.slice(0, 5),
      }
    } finally {
      folder.remove()
    }
  },
}
