import { createMember, dataOf, fence } from '../service/fixtures.ts'
import type { Answer } from '../service/harness.ts'
import { later, setRules, type Stage, uses, yes } from './rule-stage.ts'
import type { Verdict } from './rule-cases.ts'
import type { Tally } from './race.ts'

// Writes of svc that a rule holds, each by another way. All are sent as a program sends them, with the key of the attacker.

type Headers = Record<string, string>
type Send = (method: string, path: string, body?: object, headers?: Headers) => Promise<Answer>

/** `operation`: what the rule says. `change`: the write; `count`: how often it could be done at most with one approval. */
type Write = {
  operation: string
  prepare?(stage: Stage, n: number): Promise<string>
  change(send: Send, stage: Stage, at: { target: string; n: number; headers?: Headers }): Promise<Answer>
}

const person = (n: number) => ({
  email: `new${n}@acme.example`,
  country_code: '+1',
  mobile: String(2025560000 + n),
  first_name: 'New',
  last_name: `${n}`,
})

const member = async ({ service, org }: Stage, n: number): Promise<string> =>
  (await createMember(service, org, 1000 + n)).id

const keyOf = async ({ service, org, key }: Stage, n: number): Promise<string> => {
  const body = { name: `key ${n}`, org_id: org, scopes: ['ask'] }
  return dataOf(await service.call('POST', '/svc/v1/keys', { key, body })).id
}

export const writes: Record<string, Write> = {
  'delete a user': {
    operation: 'user',
    prepare: member,
    change: (send, { org }, { target, headers }) =>
      send('DELETE', `/organization/${org}/delete/user/${target}`, undefined, headers),
  },
  'remove a user': {
    operation: 'user remove',
    prepare: member,
    change: (send, { org }, { target, headers }) =>
      send('POST', '/organization/remove/user', { org_id: org, user_id: Number(target) }, headers),
  },
  'make an administrator': {
    operation: 'user make-admin',
    prepare: member,
    change: (send, { org }, { target, headers }) =>
      send('POST', '/make-admin', { org_id: org, user_id: Number(target) }, headers),
  },
  'make an administrator by an update': {
    operation: 'user make-admin',
    prepare: member,
    change: (send, { org }, { target, headers }) =>
      send('PUT', `/organization/${org}/update/user/${target}`, { role: 'admin' }, headers),
  },
  'create an administrator': {
    operation: 'user make-admin',
    change: (send, { org }, { n, headers }) =>
      send('POST', `/organization/${org}/create/user`, { ...person(n), role: 'admin' }, headers),
  },
  'create a user': {
    operation: 'user create',
    change: (send, { org }, { n, headers }) =>
      send('POST', `/organization/${org}/create/user`, person(n), headers),
  },
  'create a fence': {
    operation: 'geofence',
    change: (send, { org }, { n, headers }) =>
      send(
        'POST',
        `/organization/${org}/create/geo-fence`,
        { ...fence, name: `fence ${n}`, is_active: 0 },
        headers,
      ),
  },
  'create a key': {
    operation: 'key create',
    change: (send, { org }, { n, headers }) =>
      send('POST', '/svc/v1/keys', { name: `made ${n}`, org_id: org, scopes: ['ask'] }, headers),
  },
  'rotate a key': {
    operation: 'key',
    prepare: keyOf,
    change: (send, _, { target, headers }) =>
      send('POST', `/svc/v1/keys/${target}/rotate`, { overlap_s: 0 }, headers),
  },
  'add to a group by several changes': {
    operation: 'group add',
    change: (send, { path, strict, mallory }, { headers }) => {
      const members = [...strict, mallory].map(({ id }) => Number(id))
      return send('POST', `${path}/rule-changes`, { groups: [{ name: 'strict', members }] }, headers)
    },
  },
  'delete a rule by several changes': {
    operation: 'rule delete',
    change: (send, { path }, { headers }) =>
      send('POST', `${path}/rule-changes`, { removed: ['rule-0'] }, headers),
  },
}

/** What the attacker can do with the refusal of a write, besides repeating it. */
const evade = async (stage: Stage, refused: Answer): Promise<Headers[]> => {
  const { service, key, mallory } = stage
  const found: Headers[] = [{}, { 'x-svc-approval': '' }, { 'X-SVC-Approval': 'apr_none' }]
  const own = refused.body.data?.request?.request_id as string | undefined
  if (own === undefined) return found
  found.push({ 'x-svc-approval': own })
  await yes(stage, own, mallory)
  const shown = dataOf(await service.call('GET', `/svc/v1/approvals/${own}`, { key }))
  const { type, data } = shown.subject
  // The same, asked of the attacker's own phone; and another one.
  for (const subject of [
    { type, data },
    { type: 'text', data: { text: 'Delete a user' } },
  ]) {
    const body = { subject, approvers: [mallory.mobile] }
    const asked = await service.call('POST', '/svc/v1/approvals', { key, body })
    if (asked.status !== 200) continue
    const id: string = asked.body.data.request_id
    await yes(stage, id, mallory)
    found.push({ 'x-svc-approval': id })
  }
  return found
}

/** Does a write that a rule holds. It must wait for the people of the rule, and their approval is good for it once. */
export const written = async (stage: Stage, name: string, n: number, tally: Tally): Verdict => {
  const { operation, prepare, change } = writes[name]!
  await setRules(stage, [])
  const target = prepare ? await prepare(stage, n) : ''
  await setRules(stage, [{ type: 'request', operation: [operation] }])
  const send: Send = (method, path, body, headers) =>
    stage.service.call(method, path, { key: stage.key, body, headers })
  const attempt = (headers?: Headers) => change(send, stage, { target, n, ...(headers && { headers }) })
  const first = await attempt()
  if (first.status === 200) return `${name}: done without an approval`
  tally.hit(`${name}: ${first.body.data?.code}`)
  for (const headers of await evade(stage, first))
    if ((await attempt(headers)).status === 200) return `${name}: done with ${JSON.stringify(headers)}`
  later(stage)
  // Those who may change rules at all are in other tests: here the attacker has no administrator.
  const again = await attempt()
  const id = again.body.data?.request?.request_id as string | undefined
  if (id === undefined) {
    tally.hit(`${name} again: ${again.body.data?.code}`)
    return again.status === 200 ? `${name}: done without an approval` : undefined
  }
  for (const one of stage.strict) await yes(stage, id, one)
  const headers = { 'x-svc-approval': id }
  const done = await Promise.all([attempt(headers), attempt(headers)])
  const times = done.filter(({ status }) => status === 200).length
  tally.hit('two at once, one done', Number(times === 1))
  if (times !== 1)
    return `${name}: done ${times} times with one approval: ${done.map(({ body }) => body.data?.code)}`
  return (await uses(stage, id)) ? `${name}: its approval used again` : undefined
}
