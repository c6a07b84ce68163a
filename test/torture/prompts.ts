import { prepare } from '../../src/service/call/call.ts'
import type { auth } from '../../src/contract/auth.ts'
import type { Handlers } from '../../src/service/call/call.ts'
import { validateAuth } from '../../src/service/verifications/prompt.ts'
import { createApprover, decide, show, type Approver } from '../service/approver.ts'
import { createClock, minute } from '../service/clock.ts'
import { createTenant, dataOf } from '../service/fixtures.ts'
import { startTestService, type TestService } from '../service/harness.ts'
import { below, turns } from './approvers.ts'
import type { Result, Torture } from './torture.ts'

const rounds = 500
const controlRounds = 40

type Validating = Pick<Handlers<typeof auth>, 'validateAuth'>

/** The broken variant finds a prompt by person and request ID, whichever key started it. */
const anyKey: Validating = {
  validateAuth: {
    before: async (input, outside) => {
      const validate = await prepare(validateAuth, input, outside)
      return async (call) => {
        const newest = await call.db
          .selectFrom('verifications')
          .where('org_id', '=', input.org_id!)
          .$if(input.request_id !== undefined, (query) => query.where('request_id', '=', input.request_id!))
          .select('key_id')
          .orderBy('id', 'desc')
          .limit(1)
          .executeTakeFirst()
        const caller = { ...call.caller, keyId: newest?.key_id ?? 0, lineage: undefined }
        return validate({ ...call, caller })
      }
    },
  },
}

type App = { key: string; prompted: string[] }

const parts = { country_code: '+1', mobile: '2025550101' }

const prompt = async (service: TestService, org_id: number, app: App): Promise<void> => {
  await turns(below(4))
  const { request_id } = dataOf(
    await service.call('POST', '/verify-user', { key: app.key, body: { ...parts, org_id } }),
  )
  app.prompted.push(request_id)
}

/** The newest prompt. All earlier ones were withdrawn. */
const pendingOf = async (service: TestService, { key, prompted }: App): Promise<string> => {
  for (const id of prompted) if (dataOf(await show(service, id, key)).status === 'pending') return id
  throw new Error('An application has no pending prompt')
}

/** One person and both applications at once. Returns what went wrong. */
const mix = async (
  service: TestService,
  org: number,
  ada: Approver,
  apps: [App, App],
  hit: (what: string) => void,
): Promise<string[]> => {
  const wrong: string[] = []
  for (const app of apps) app.prompted = []
  const order = Array.from({ length: 2 + below(3) }, (_, i) => apps[i < 2 ? i : below(2)]!)
  await Promise.all(order.toSorted(() => Math.random() - 0.5).map((app) => prompt(service, org, app)))
  const newest = await Promise.all(apps.map((app) => pendingOf(service, app)))
  const approved = newest.filter(() => below(3) > 0)
  for (const id of approved) dataOf(await decide(service, id, ada.key))
  const collectBy = async (app: App, request_id: string | undefined): Promise<void> => {
    await turns(below(4))
    const body = { mobile: ada.mobile, org_id: org, request_id }
    const answer = await service.call('POST', '/validate/global/auth', { key: app.key, body })
    const { data } = answer.body
    hit(answer.status === 200 ? 'yes' : data.code)
    if (answer.status === 200 && !app.prompted.includes(data.request_id))
      wrong.push(`a key got the approval ${data.request_id}, which it did not request`)
    if (answer.status === 200) collected.add(data.request_id)
  }
  const collected = new Set<string>()
  const [x, y] = apps
  // Each polls by its own request, by that of the other, and by the person alone.
  const attempts = [
    [x, undefined],
    [y, undefined],
    [x, newest[1]],
    [y, newest[0]],
    [x, newest[0]],
    [y, newest[1]],
  ] as const
  await Promise.all(
    attempts.toSorted(() => Math.random() - 0.5).map(([app, request_id]) => collectBy(app, request_id)),
  )
  for (const id of approved) if (!collected.has(id)) wrong.push(`nobody got the yes of ${id}`)
  return wrong
}

const mixOften = async (times: number, handlers?: Validating) => {
  const clock = createClock()
  const service = await startTestService({ dev: true, now: clock.now, handlers })
  const hits: Record<string, number> = {}
  const hit = (what: string): void => void (hits[what] = (hits[what] ?? 0) + 1)
  const wrong: string[] = []
  try {
    const { id: org } = await createTenant(service, 'acme')
    const ada = await createApprover(service, org, 1)
    const appCalled = async (name: string): Promise<App> => {
      const body = { name, org_id: org, scopes: ['ask'] }
      return { key: dataOf(await service.call('POST', '/svc/v1/keys', { body })).key, prompted: [] }
    }
    const apps: [App, App] = [await appCalled('x'), await appCalled('y')]
    for (let round = 0; round < times; round++) {
      for (const problem of await mix(service, org, ada, apps, hit)) wrong.push(problem)
      clock.tick(11 * minute)
    }
    return { wrong, hits }
  } finally {
    await service.close()
  }
}

export const torture: Torture = {
  name: `Verification prompts of two applications for one person, mixed ${rounds} times`,
  must: '0 approvals for another application, 0 lost',
  run: async (): Promise<Result> => {
    const { wrong, hits } = await mixOften(rounds)
    const control = await mixOften(controlRounds, anyKey)
    return {
      count: rounds,
      failures: wrong.length,
      hits,
      control: control.wrong.length,
      examples: wrong.slice(0, 5),
    }
  },
}
