import type { Table } from '../../src/contract/table.ts'
import type { Handlers } from '../../src/service/call/call.ts'
import { handlers as allHandlers } from '../../src/service/handlers/all.ts'
import { decide, show } from '../service/approver.ts'
import { createClock, day, minute } from '../service/clock.ts'
import { chainOf, createTenant, dataOf } from '../service/fixtures.ts'
import { startTestService, type TestService } from '../service/harness.ts'
import { createPhone, type Phone } from '../service/page/phone.ts'
import { prepareAway, signAway } from '../service/page/sign-away.ts'
import { race, type Tally } from './race.ts'
import type { Torture } from './torture.ts'

type Stage = {
  service: TestService
  clock: ReturnType<typeof createClock>
  org: number
  keys: string[]
  ada: Phone
  grace: Phone
}

const openStage = async (handlers?: Partial<Handlers<Table>>): Promise<Stage> => {
  const clock = createClock()
  const service = await startTestService({ dev: true, now: clock.now, handlers })
  const { id: org } = await createTenant(service, 'acme')
  const [ada, grace] = [await createPhone(service, org, 1), await createPhone(service, org, 2)]
  const keys: string[] = []
  for (const name of ['one', 'two', 'three']) {
    const body = { name, org_id: org, scopes: ['ask'] }
    keys.push(dataOf(await service.call('POST', '/svc/v1/keys', { body })).key)
  }
  const body = { name: 'sre', members: [ada.user, grace.user] }
  dataOf(await service.call('POST', `/svc/v1/organizations/${org}/groups`, { body }))
  return { service, clock, org, keys, ada, grace }
}

type Asked = { id: string | undefined; code: string | undefined; isNamed: boolean }

const ask = async ({ service, ada }: Stage, key: string, isNamed: boolean): Promise<Asked> => {
  const approvers = [isNamed ? ada.mobile : '@sre']
  const { body } = await service.call('POST', '/svc/v1/approvals', {
    key,
    body: { action: 'Deploy', approvers },
  })
  return { id: body.data.request_id, code: body.data.code, isNamed }
}

const isNotified = ({ service }: Stage, { user }: Phone, id: string): boolean =>
  service.notified.some(({ request_id, user_id }) => request_id === id && String(user_id) === user)

/** Whether Ada was away when each request was made, in the order in which the service committed: the audit has it. */
const stateAt = async ({ service, org, ada }: Stage, before: boolean): Promise<Map<string, boolean>> => {
  let isAway = before
  const states = new Map<string, boolean>()
  const rows = await chainOf(service, org)
  const last = rows.findLastIndex(({ action }) => action === 'signAway')
  for (const [at, { action, subject }] of rows.entries()) {
    if (at === last && subject === `user:${ada.user}`) isAway = !before
    if (action === 'createApproval') states.set(subject.replace('approval:', ''), isAway)
  }
  return states
}

const judge = (stage: Stage, asked: readonly Asked[], states: Map<string, boolean>, tally: Tally): void => {
  for (const { id, code, isNamed } of asked) {
    tally.count++
    if (id === undefined) {
      if (isNamed && code === 'approver_away') tally.hit('refused')
      else tally.wrong(`refused with ${code}`)
      continue
    }
    const isAway = states.get(id)!
    tally.hit(isAway ? 'requests while away' : 'requests while there')
    if (isNamed && isAway) tally.wrong('asked by number while away')
    if (isNotified(stage, stage.ada, id) === isAway)
      tally.wrong(isAway ? 'notified while away' : 'not notified')
    if (!isNamed && !isNotified(stage, stage.grace, id)) tally.wrong('left out whoever is there')
  }
}

/** Ada leaves, or comes back, while requests arrive. */
const moves = async (stage: Stage, leaves: boolean, tally: Tally): Promise<void> => {
  const { service, clock, ada, keys } = stage
  const until = new Date(clock.now().getTime() + 7 * day).toISOString()
  if (!leaves) dataOf(await signAway(service, ada, { until }))
  const send = await prepareAway(service, ada, leaves ? { until } : { end: true })
  const asked: Asked[] = []
  // One after the other of each key, so that some come before the move, and some after it.
  const requests = keys.map(async (key, at) => {
    for (let n = 0; n < 3; n++) asked.push(await ask(stage, key, (n + at) % 2 === 0))
  })
  await Promise.all([...requests, send().then(dataOf)])
  judge(stage, asked, await stateAt(stage, !leaves), tally)
}

/** The interval ends while a request is pending: at its end and not before, Ada is asked again; she may answer all along. */
const ends = async (stage: Stage, tally: Tally): Promise<void> => {
  const { service, clock, ada, keys } = stage
  const until = new Date(clock.now().getTime() + minute).toISOString()
  dataOf(await signAway(service, ada, { until }))
  const group = await ask(stage, keys[0]!, false)
  clock.tick(minute - 1)
  const early = await ask(stage, keys[1]!, true)
  clock.tick(1)
  const later = [await ask(stage, keys[1]!, true), await ask(stage, keys[2]!, false)]
  const states = new Map([[group.id!, true], ...later.map(({ id }) => [id!, false] as const)])
  if (early.id !== undefined) states.set(early.id, true)
  judge(stage, [group, early, ...later], states, tally)
  dataOf(await decide(service, group.id!, ada.key))
  const { status } = dataOf(await show(service, group.id!))
  if (status !== 'approved') tally.wrong(`whoever was away answered, and the request is ${status}`)
  else tally.hit('answered after the end')
}

/** A service that forgets an absence at once. */
const forgetful: Partial<Handlers<Table>> = {
  signAway: {
    before: async (input, outside) => {
      const handler = allHandlers.signAway as Extract<typeof allHandlers.signAway, { before: unknown }>
      const work = await handler.before(input, outside)
      return async (call) => {
        const data = await work(call)
        await call.db.deleteFrom('absences').where('org_id', '=', call.caller.orgId!).execute()
        return data
      }
    },
  },
}

export const torture: Torture = race(
  {
    name: 'Away: people leave, come back, and an interval ends, while they are asked',
    must: '0 named or notified while away, and 0 left out while there',
  },
  async (tally, n, broken?: Partial<Handlers<Table>>) => {
    const stage = await openStage(broken)
    try {
      for (let at = 0; at < n; at++) {
        if (at % 3 === 2) await ends(stage, tally)
        else await moves(stage, at % 3 === 0, tally)
        dataOf(await signAway(stage.service, stage.ada, { end: true }))
        stage.clock.tick(11 * minute)
      }
    } finally {
      await stage.service.close()
    }
  },
  { n: 60, control: 6, broken: forgetful },
)
