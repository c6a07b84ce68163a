import { setTimeout as pause } from 'node:timers/promises'
import { assert } from '../../src/client/software-authenticator.ts'
import { challengeOf } from '../../src/receipt/context.ts'
import { enrollApprover, request } from '../torture/enrolled-approver.ts'
import { median, type Figure } from './figures.ts'
import { startService } from './service-child.ts'
import { beside } from './throughput.ts'

// From sending a decision to the answer of the requester who waits for it, one at a time.

const rounds = 200
const warmUp = 40
/** Until a wait has arrived; not measured. */
const arrivedMs = 12

type Prepared = { wait(): Promise<unknown>; end(): Promise<unknown> }

const took = async (prepare: () => Promise<Prepared>): Promise<number> => {
  const { wait, end } = await prepare()
  const waited = wait().then(() => performance.now())
  await pause(arrivedMs)
  const began = performance.now()
  const ended = end()
  const ms = (await waited) - began
  await ended
  return ms
}

const post = (url: string, body: object) =>
  fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })

const ok = async (answer: Response): Promise<void> => {
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`)
  await answer.arrayBuffer()
}

/** The service with one approver, whose device signs before the time is taken. */
const ofService = async ({ baseUrl, apiKey }: { baseUrl: string; apiKey: string }) => {
  const { id: org_id } = await request(baseUrl, 'createOrganization', apiKey, { name: 'Acme' })
  const { mobile, authenticator } = await enrollApprover(baseUrl, apiKey, org_id)
  const { key } = await request(baseUrl, 'createKey', apiKey, { name: 'ci', org_id, scopes: ['ask'] })
  const path = `${new URL(baseUrl).origin}/svc/v1/approvals`
  return async (): Promise<Prepared> => {
    const asked = { action: 'Deploy', approvers: [mobile] }
    const { request_id } = await request(baseUrl, 'createApproval', key, asked)
    const input = { request_id, credential: authenticator.credential_id }
    const { contexts, origin, rp_id: rpId } = await request(baseUrl, 'getCeremony', apiKey, input)
    const challenge = challengeOf(new Uint8Array(Buffer.from(contexts.approve, 'base64url')))
    const body = { decision: 'approve', response: assert(authenticator, { challenge, origin, rpId }) }
    const headers = { 'x-api-key': key }
    return {
      wait: async () => ok(await fetch(`${path}/${request_id}?wait_s=30`, { headers })),
      end: async () => ok(await post(`${path}/${request_id}/decide`, body)),
    }
  }
}

let rows = 0

const ofBare = (origin: string) => async (): Promise<Prepared> => {
  const id = ++rows
  return {
    wait: async () => ok(await fetch(`${origin}/wait/${id}`)),
    end: async () => ok(await post(`${origin}/end/${id}`, { name: 'x' })),
  }
}

/** Both in turn, so that a machine whose speed changes affects both. */
export const waiterFigure = (): Promise<Figure> =>
  beside('bare-insert.ts', async ({ origin }) => {
    const service = await startService({}, ['--dev'])
    try {
      const [ours, theirs] = [await ofService(service), ofBare(origin)]
      const taken: [number[], number[]] = [[], []]
      for (let round = 0; round < rounds; round++) {
        const [own, bare] = [await took(ours), await took(theirs)]
        if (round < warmUp) continue
        taken[0].push(own)
        taken[1].push(bare)
      }
      const [own, bare] = taken.map(median) as [number, number]
      return {
        what: `decision to the waiter's answer, p50 ${own.toFixed(2)} ms / a bare long poll with the same commit`,
        figure: own / bare,
        unit: '',
        must: 3,
        beyond: 1.5,
        more: false,
      }
    } finally {
      await service.end()
    }
  })
