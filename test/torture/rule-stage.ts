import type { Rule } from '../../src/contract/rule-shape.ts'
import type { OperationId, Table } from '../../src/contract/table.ts'
import type { Call, Handlers } from '../../src/service/call/call.ts'
import { handlers as allHandlers } from '../../src/service/handlers/all.ts'
import { type Transaction, transactionOf } from '../../src/service/storage/transaction.ts'
import { type Approver, createApprover, decide, show } from '../service/approver.ts'
import { createClock, minute } from '../service/clock.ts'
import { createTenant, dataOf } from '../service/fixtures.ts'
import { startTestService, type TestService } from '../service/harness.ts'
import { exception } from './rule-spellings.ts'

/**
 * An organization with rules that ask Ada, Bob and Grace. The attacker has a key with all scopes and the phone of Mallory, a member
 * whom no rule asks.
 */
export type Stage = {
  service: TestService
  clock: ReturnType<typeof createClock>
  org: number
  key: string
  path: string
  strict: [ada: Approver, bob: Approver, grace: Approver]
  mallory: Approver
}

export type Broken = Partial<Handlers<Table>>

// oxlint-disable-next-line no-explicit-any -- handlers of any input
type AnyHandler = any

/** For each transaction, how to hide the end of the audit from the next that reads it. */
const hiding = new WeakMap<Transaction, () => void>()

const hideEnd = (transaction: Transaction): (() => void) => {
  const known = hiding.get(transaction)
  if (known) return known
  const { head } = transaction
  let isHidden = false
  transaction.head = (org) => {
    const found = isHidden ? undefined : head(org)
    isHidden = false
    return found
  }
  // Only from whoever reads it in the same moment.
  const hide = (): void => {
    isHidden = true
    queueMicrotask(() => (isHidden = false))
  }
  hiding.set(transaction, hide)
  return hide
}

/** The service asks whether there are rules in the preconditions, and then at the end of the audit. */
const blind = <D>(work: (call: Call) => D, call: Call): D => {
  const hide = hideEnd(transactionOf(call.db))
  const hasRules = (): 0 => {
    hide()
    return 0
  }
  Object.defineProperty(call.preconditions!, 'hasRules', { get: hasRules, configurable: true })
  return work(call)
}

/** The handlers of these operations on a service that takes every organization for one without rules. */
export const withoutRules = (ids: readonly OperationId[]): Broken =>
  Object.fromEntries(
    ids.map((id) => {
      const handler: AnyHandler = allHandlers[id]
      if (typeof handler === 'function')
        return [id, (input: object, call: Call) => blind((seen) => handler(input, seen), call)]
      const before = async (input: object, outside: object) => {
        const work = await handler.before(input, outside)
        return (call: Call) => blind(work, call)
      }
      return [id, { before }]
    }),
  )

export const openStage = async (handlers?: Broken): Promise<Stage> => {
  const clock = createClock()
  const service = await startTestService({ dev: true, now: clock.now, handlers })
  const { id: org, key } = await createTenant(service, 'acme')
  const people: Approver[] = []
  for (let n = 1; n <= 4; n++) people.push(await createApprover(service, org, n))
  const [ada, bob, grace, mallory] = people as [Approver, Approver, Approver, Approver]
  const stage: Stage = {
    service,
    clock,
    org,
    key,
    path: `/svc/v1/organizations/${org}`,
    strict: [ada, bob, grace],
    mallory,
  }
  const body = { name: 'strict', members: [ada, bob, grace].map(({ id }) => Number(id)) }
  dataOf(await service.call('POST', `${stage.path}/groups`, { body }))
  return stage
}

/** Replaces all rules, as the operator. */
export const setRules = async (
  { service, path }: Stage,
  matches: readonly Rule['match'][],
  { who = ['@strict'], except = false } = {},
): Promise<void> => {
  const before: { name: string }[] = dataOf(await service.call('GET', `${path}/rules`))
  const rules = matches.map((match, at) => ({
    name: `rule-${at}`,
    match,
    who,
    ...(except && match.cwd && { except: exception }),
  }))
  const removed = before.map(({ name }) => name).filter((name) => !rules.some((rule) => rule.name === name))
  if (rules.length + removed.length > 0)
    dataOf(await service.call('POST', `${path}/rule-changes`, { body: { rules, removed } }))
}

/** What the attacker asks. Fails if the service refuses to ask. */
export const askFor = async (
  { service, org, key, mallory }: Stage,
  subject: object,
  { named = true, by = key } = {},
): Promise<string> => {
  const approvers = named ? { approvers: [mallory.mobile] } : { org_id: org }
  const answer = await service.call('POST', '/svc/v1/approvals', { key: by, body: { subject, ...approvers } })
  return dataOf(answer).request_id
}

export const yes = (stage: Stage, id: string, { key }: Approver): Promise<boolean> =>
  decide(stage.service, id, key).then(
    ({ status }) => status === 200,
    () => false,
  )

/** Whether the attacker could use it. */
export const uses = async ({ service, key }: Stage, id: string, by = key): Promise<boolean> => {
  const { subject } = dataOf(await show(service, id))
  const body = { digest: subject.digest }
  return (await service.call('POST', `/svc/v1/approvals/${id}/consume`, { key: by, body })).status === 200
}

/** Beyond the window of the limits. */
export const later = ({ clock }: Stage): void => clock.tick(11 * minute)
