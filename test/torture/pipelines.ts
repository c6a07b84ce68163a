import { type Approver, createApprover, decide } from '../service/approver.ts'
import { createTenant, dataOf } from '../service/fixtures.ts'
import type { TestService } from '../service/harness.ts'
import { race, type Tally } from './race.ts'
import { onService } from './reached-service.ts'
import type { Change } from './variant.ts'

const agents = 6
const approvers = 10
const approversOfControl = 2
/** Of the pipeline, to each approver. */
const calls = 10
const eachAsks = 5

type Keys = { agents: string[]; pipeline: string }

const createKey = async (service: TestService, body: object, key?: string) =>
  dataOf(await service.call('POST', '/svc/v1/keys', { body, key })) as { id: string; key: string }

/** A key whose owner confirmed it on their phone. */
const keyOf = async (
  service: TestService,
  org: number,
  owner: Approver,
  scopes: string[],
): Promise<string> => {
  const { id, key } = await createKey(service, {
    name: `of ${owner.id}`,
    org_id: org,
    scopes,
    owner_user_id: owner.id,
  })
  const path = `/svc/v1/keys/${id}/confirm-owner`
  const { request_id } = (await service.call('POST', path, {})).body.data.request
  dataOf(await decide(service, request_id, owner.key))
  dataOf(await service.call('POST', path, { headers: { 'x-svc-approval': request_id } }))
  return key
}

/** Six agents of one member, whose key made their keys, and the pipeline of another. */
const createKeys = async (service: TestService, org: number): Promise<Keys> => {
  const [mallory, grace] = [await createApprover(service, org, 1), await createApprover(service, org, 2)]
  const own = await keyOf(service, org, mallory, ['ask', 'keys'])
  const made: string[] = []
  for (let n = 1; n <= agents; n++)
    made.push((await createKey(service, { name: `agent ${n}`, org_id: org, scopes: ['ask'] }, own)).key)
  return { agents: made, pipeline: await keyOf(service, org, grace, ['ask']) }
}

const ask = (service: TestService, key: string, { mobile }: Approver) =>
  service.call('POST', '/svc/v1/approvals', { key, body: { action: 'Deploy', approvers: [mobile] } })

/** The agents, one after the other, ask as often as they may, and withdraw at once; nobody answers them. */
const flood = async (service: TestService, tally: Tally, keys: readonly string[], to: Approver) => {
  for (const key of keys.flatMap((one) => Array.from({ length: eachAsks }, () => one))) {
    const { status, body } = await ask(service, key, to)
    tally.hit(status === 200 ? 'requests of agents' : `agents refused: ${body.data.code}`)
    if (status === 200)
      await service.call('POST', `/svc/v1/approvals/${body.data.request_id}/withdraw`, { key, body: {} })
  }
}

const runAll = (tally: Tally, people: number, changes?: readonly Change[]): Promise<void> => {
  const work = async (service: TestService): Promise<void> => {
    const { id: org } = await createTenant(service, 'acme')
    const keys = await createKeys(service, org)
    for (let n = 0; n < people; n++) {
      const approver = await createApprover(service, org, n + 3)
      for (let one = 0; one < calls; one++) {
        await flood(service, tally, keys.agents, approver)
        tally.count++
        const { status, body } = await ask(service, keys.pipeline, approver)
        if (status !== 200) tally.wrong(`call ${one + 1} of the pipeline: ${body.data.code}`)
        else if ((await decide(service, body.data.request_id, approver.key)).status === 200)
          tally.hit('calls of the pipeline')
      }
    }
  }
  return onService(changes, work, ['--dev'])
}

/** In the broken variant, those who have made most of the requests leave none to others. */
const broken: Change[] = [
  { file: 'service/approvals/limits.ts', from: '=== own) left -= 1', to: '=== own) left -= 0' },
]

export const torture = race<readonly Change[]>(
  {
    name: `Pipelines: ${agents} agents of one member that ask all they may, beside a pipeline with ${calls} calls to each of ${approvers} approvers`,
    must: '0 calls of the pipeline refused',
  },
  runAll,
  { n: approvers, control: approversOfControl, broken },
)
