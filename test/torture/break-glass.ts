import type { Table } from '../../src/contract/table.ts'
import type { Handlers } from '../../src/service/call/call.ts'
import { handlers as allHandlers } from '../../src/service/handlers/all.ts'
import { decide } from '../service/approver.ts'
import { createClock, day, minute } from '../service/clock.ts'
import { chainOf, createMember, createTenant, dataOf } from '../service/fixtures.ts'
import { type Answer, startTestService, type TestService } from '../service/harness.ts'
import { authorize, consentFrom, createVerifier, exchange, requestIn } from '../service/mcp/oauth-client.ts'
import { createPhone, enrollPhone, type Phone, readInbox } from '../service/page/phone.ts'
import { race, type Tally } from './race.ts'
import type { Torture } from './torture.ts'

type Person = Phone & { key: Phone['key'] }
type Stage = {
  service: TestService
  clock: ReturnType<typeof createClock>
  org: number
  /** Ada and Dave are on call; Bob and Carol are whom the rule asks. */
  ada: Person
  bob: Person
  carol: Person
  dave: Person
}

const openStage = async (handlers?: Partial<Handlers<Table>>): Promise<Stage> => {
  const clock = createClock()
  const service = await startTestService({ dev: true, now: clock.now, handlers })
  const { id: org } = await createTenant(service, 'acme')
  const people: Person[] = []
  for (const n of [1, 2, 3, 4]) people.push(await createPhone(service, org, n))
  const [ada, bob, carol, dave] = people as [Person, Person, Person, Person]
  await enrollPhone(service, org, await createMember(service, org, 5, { role: 'admin' }))
  const post = async (path: string, body: object) =>
    dataOf(await service.call('POST', `/svc/v1/organizations/${org}/${path}`, { body }))
  await post('groups', { name: 'dba', members: [bob.user, carol.user] })
  await post('groups', { name: 'oncall', members: [ada.user, dave.user] })
  const match = { type: 'text', text: ['Restore *'] }
  await post('rules', { name: 'restore', match, who: ['@dba'], break_glass: '@oncall' })
  return { service, clock, org, ada, bob, carol, dave }
}

const signedIn = async ({ service }: Stage, phone: Phone): Promise<string> => {
  const { code_challenge, code_verifier } = createVerifier()
  const fields = { client_id: 'svc', redirect_uri: 'http://127.0.0.1:4321/', resource: undefined }
  const terminal = { scope: 'ask', installation: 'a'.repeat(22), host: 'laptop' }
  const asked = await authorize(service, { ...fields, ...terminal, code_challenge })
  const { redirect_to } = dataOf(await consentFrom(service, phone, requestIn(asked)))
  const code = new URL(redirect_to as string).searchParams.get('code')!
  return JSON.parse((await exchange(service, { ...fields, code, code_verifier })).text).access_token
}

const breakGlass = ({ service }: Stage, key: string): Promise<Answer> =>
  service.call('POST', '/svc/v1/approvals', { key, body: { action: 'Restore prod', break_glass: 'down' } })

/** The review of a person who has already signed it: what is left is to send it. */
const preparedReview = async ({ service }: Stage, phone: Phone, key: string, id: string) => {
  const send = (approval?: string): Promise<Answer> =>
    service.call('POST', `/svc/v1/approvals/${id}/review`, {
      key,
      body: { ok: true },
      ...(approval !== undefined && { headers: { 'x-svc-approval': approval } }),
    })
  const { request_id } = (await send()).body.data.request
  dataOf(await decide(service, request_id, phone.key))
  return () => send(request_id)
}

const isDone = ({ status }: Answer): boolean => status === 200

/** No message can be queued: nobody is asked, and nothing counts. */
const unheard = async (stage: Stage, key: string, tally: Tally): Promise<void> => {
  const { service, dave } = stage
  await service.runSql("create trigger none before insert on outbox begin select raise(abort, 'no'); end")
  const answer = await breakGlass(stage, key)
  await service.runSql('drop trigger none')
  tally.count++
  tally.hit('no message can be queued')
  const { requests } = await readInbox(service, dave)
  if (isDone(answer) || requests.length > 0) tally.wrong('asked although nobody could be told')
}

/** One person breaks the glass twice at once, is approved, and two people review it while it is broken again. */
const oneEmergency = async (
  stage: Stage,
  { key, isLate }: { key: string; isLate: boolean },
  tally: Tally,
): Promise<void> => {
  const { service, org, bob, carol, dave } = stage
  const twice = await Promise.all([breakGlass(stage, key), breakGlass(stage, key)])
  tally.count++
  tally.hit('twice at once')
  const opened = twice.filter(isDone)
  if (opened.length !== 1) tally.wrong(`${opened.length} of two at once`)
  const { request_id } = opened[0]!.body.data
  dataOf(await decide(service, request_id, dave.key))
  const reviewers = [bob, carol]
  const keys: string[] = []
  for (const phone of reviewers) keys.push(await signedIn(stage, phone))
  const send = []
  for (const [at, phone] of reviewers.entries())
    send.push(await preparedReview(stage, phone, keys[at]!, request_id))
  const early = isLate ? undefined : breakGlass(stage, key)
  const sent = send.map((one) => one())
  const again = early ?? sent[0]!.then(() => breakGlass(stage, key))
  const reviews = await Promise.all(sent)
  tally.count++
  tally.hit('two reviews at once')
  const counted = reviews.filter(isDone).length
  if (counted !== 1) tally.wrong(`${counted} of two reviews`)
  if (!isDone(await again)) return tally.hit('refused before the review')
  tally.hit('broken again after the review')
  const order = (await chainOf(service, org)).map(({ action }) => action)
  if (order.lastIndexOf('reviewApproval') > order.lastIndexOf('createApproval'))
    tally.wrong('broken again before the review')
}

/** A service that forgets that the glass was broken. */
const forgetful: Partial<Handlers<Table>> = {
  createApproval: {
    before: async (input, outside) => {
      const handler = allHandlers.createApproval
      const work = typeof handler === 'function' ? handler : await handler.before(input, outside)
      return async (call) => {
        const data = await (typeof handler === 'function'
          ? handler(input, call)
          : (work as (of: typeof call) => unknown)(call))
        await call.db
          .updateTable('approvals')
          .set({ break_glass: null })
          .where('org_id', '=', call.caller.orgId!)
          .execute()
        return data as never
      }
    },
  },
}

export const torture: Torture = race(
  {
    name: 'Break-glass: no message, twice at once, two reviews at once, and again before the review',
    must: '0 asked although nobody could be told, 1 open for each person, 1 review',
  },
  async (tally, n, broken?: Partial<Handlers<Table>>) => {
    const stage = await openStage(broken)
    try {
      for (let at = 0; at < n; at++) {
        const key = await signedIn(stage, stage.ada)
        await unheard(stage, key, tally)
        await oneEmergency(stage, { key, isLate: at % 2 === 1 }, tally).catch((error: unknown) =>
          tally.wrong(String(error)),
        )
        stage.clock.tick(2 * day + minute)
      }
    } finally {
      await stage.service.close()
    }
  },
  { n: 40, control: 3, broken: forgetful },
)
