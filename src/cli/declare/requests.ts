import { fieldsIn } from '../../client/answer-data.ts'
import type { Client } from '../../client/client.ts'
import { batchOperations, type BatchOperation } from '../../contract/batchable.ts'
import { geofence } from '../../contract/geofence.ts'
import type { Operation } from '../../contract/operation.ts'
import { authCode } from '../../contract/auth-code.ts'
import { org } from '../../contract/org.ts'
import { pendingUser } from '../../contract/pending-user.ts'
import { timeslot } from '../../contract/timeslot.ts'
import { user } from '../../contract/user.ts'
import { SvcError } from '../../core/errors.ts'
import { nationalNumber, readPhone } from '../../factors/phone.ts'
import type { ChangeRow } from '../context/context.ts'
import type { Step } from './plan.ts'
import { isSigned, policyFields, type Fields, type List } from './state.ts'

/** An ID that later steps need, or a code that is shown once. */
export type Created = { org_id?: number; code?: string }

type Task = {
  step: Step
  fields: Fields
  org_id: number
  send(operation: Operation, input: Fields): Promise<Fields>
}

export const fieldsAfter = ({ changes }: Step): Fields =>
  Object.fromEntries(changes.map(({ field, after }) => [field, after]))

const only = (fields: Fields, names: readonly string[]): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => names.includes(name)))

const isEmpty = (fields: Fields): boolean => Object.keys(fields).length === 0

const organizationBody = (fields: Fields): Fields => {
  const policy = only(fields, policyFields)
  return { ...only(fields, ['name']), ...(!isEmpty(policy) && { policy }) }
}

/** Sets the rules of a user. A new user has none, so an empty list needs no request. */
const setRules = async ({ fields, org_id, send }: Task, userId: unknown, isNew = false): Promise<void> => {
  const rules = [
    [geofence.setUserGeofences, 'geofences'],
    [timeslot.setUserTimeslots, 'timeslots'],
  ] as const
  for (const [operation, name] of rules) {
    const rows = fields[name] as unknown[] | undefined
    if (rows && !(isNew && rows.length === 0)) await send(operation, { userId, org_id, [name]: rows })
  }
}

const profile = ['first_name', 'last_name', 'email', 'role']

const createUser = async (task: Task): Promise<Created> => {
  const { step, fields, org_id, send } = task
  const phone = readPhone(step.key)
  if ('wrong' in phone) throw new SvcError('failed', 'no_phone', `${step.key} ${phone.message}`)
  const { country_code } = phone
  const mobile = nationalNumber(phone)
  const made = await send(user.createUser, { orgId: org_id, country_code, mobile, ...only(fields, profile) })
  if (made.id === undefined && !isEmpty(only(fields, ['state', 'geofences', 'timeslots'])))
    throw new SvcError('failed', 'no_id', 'The service did not return an id for the new user')
  if (fields.state === 'pending') await send(pendingUser.holdUser, { org_id, user_id: made.id })
  // A former member returns with the old rules.
  const isNew = made.created_at !== undefined && made.created_at === made.updated_at
  await setRules(task, made.id, isNew)
  return {}
}

/** Restrictions come first: a hold before the changes, an acceptance after them. */
const changeUser = async (task: Task): Promise<Created> => {
  const { step, fields, org_id, send } = task
  const member = { org_id, user_id: step.id }
  if (fields.state === 'pending') await send(pendingUser.holdUser, member)
  const changes = only(fields, profile)
  if (!isEmpty(changes)) await send(user.updateUser, { orgId: org_id, userId: step.id, ...changes })
  await setRules(task, step.id)
  if (fields.state === 'active') await send(pendingUser.acceptUser, member)
  return {}
}

const known: Record<string, Operation> = {
  ...user,
  ...pendingUser,
  ...geofence,
  ...timeslot,
  ...authCode,
  ...org,
}

const idOf = (operation: Operation): BatchOperation => batchOperations.find((id) => known[id] === operation)!

type Work = (task: Task) => Promise<Created>

/** Sends the fields of the step in one request, with the IDs that the operation requires. */
const sending =
  (operation: Operation, ids: (task: Task) => Fields): Work =>
  async (task) => {
    await task.send(operation, { ...ids(task), ...task.fields })
    return {}
  }

const createAuthCode: Work = async ({ step, fields, org_id, send }) => {
  const { code } = await send(authCode.createAuthCode, { org_id, label: step.key, ...fields })
  return typeof code === 'string' ? { code } : {}
}

const lists: Record<Exclude<List, 'groups' | 'rules'>, Record<'create' | 'change' | 'delete', Work>> = {
  geofences: {
    create: sending(geofence.createGeofence, ({ step, org_id }) => ({
      org_id,
      name: step.key,
      is_active: 1,
    })),
    change: sending(geofence.updateGeofence, ({ step: { id }, org_id }) => ({ org_id, id })),
    delete: sending(geofence.deleteGeofence, ({ step: { id }, org_id }) => ({ org_id, id })),
  },
  timeslots: {
    create: sending(timeslot.addTimeslot, ({ step, org_id }) => ({ org_id, name: step.key })),
    change: sending(timeslot.updateTimeslot, ({ step }) => ({ timeslot_id: step.id })),
    delete: sending(timeslot.deleteTimeslot, ({ step }) => ({ timeslot_id: step.id })),
  },
  auth_codes: {
    create: createAuthCode,
    change: sending(authCode.updateAuthCode, ({ step, org_id }) => ({ orgId: org_id, authCodeId: step.id })),
    delete: sending(authCode.deleteAuthCode, ({ step, org_id }) => ({ org_id, auth_code_id: step.id })),
  },
  users: {
    create: createUser,
    change: changeUser,
    delete: sending(user.removeUser, ({ step, org_id }) => ({ org_id, user_id: step.id })),
  },
}

const organizationWork: Record<'create' | 'change', Work> = {
  create: async ({ step, fields, send }) => {
    const { id } = await send(org.createOrganization, { slug: step.key, ...organizationBody(fields) })
    if (typeof id !== 'number')
      throw new SvcError('failed', 'no_id', 'The service did not return an id for the new organization')
    return { org_id: id }
  },
  change: async ({ fields, org_id, send }) => {
    await send(org.updateOrganization, { org_id, ...organizationBody(fields) })
    return {}
  },
}

const workFor = ({ section, action }: Step): Work | undefined => {
  if (action === 'by_hand' || section === 'idp' || isSigned(section)) return undefined
  if (section !== 'organization') return lists[section][action]
  return action === 'delete' ? undefined : organizationWork[action]
}

const doStep = async (step: Step, org_id: number, send: Task['send']): Promise<Created> => {
  const work = workFor(step)
  if (!work) throw new SvcError('failed', 'no_operation', `No operation can ${step.action} ${step.section}`)
  if (step.action !== 'create' && step.id === undefined)
    throw new SvcError('failed', 'no_id', 'The service did not return an id for it, so it cannot be changed')
  return work({ step, fields: fieldsAfter(step), org_id, send })
}

/** What the requests of a step name as their approvals, in order. */
export type Approvals = ReadonlyMap<Step, readonly (string | undefined)[]>

/** Applies one step, in one or several requests. Throws the error of the service. */
export const runStep = async (
  step: Step,
  client: Client,
  { org_id = 0, approvals }: { org_id?: number | undefined; approvals?: Approvals | undefined } = {},
): Promise<Created> => {
  let sent = 0
  // Without a signal: the outcome of a request in progress must be known.
  return doStep(step, org_id, async (operation, input) =>
    fieldsIn(await client.call(operation, input, { approval: approvals?.get(step)?.[sent++] })),
  )
}

/** The id of a user whom another request of the step creates. */
const newId = 'new'

/** The requests that a step will make, as rows of an approval; none for a step that cannot be applied. */
export const rowsOfStep = async (step: Step, org_id: number): Promise<ChangeRow[]> => {
  const rows: ChangeRow[] = []
  await doStep(step, org_id, async (operation, sent) => {
    const entries = Object.entries(sent)
    const input = Object.fromEntries(entries.filter(([, value]) => value !== newId && value !== undefined))
    const isNew = entries.some(([, value]) => value === newId)
    rows.push({ operation: idOf(operation), input, ...(isNew && { mobile: step.key }) })
    return { id: newId, created_at: '', updated_at: '' }
  }).catch((error: unknown) => {
    if (!(error instanceof SvcError)) throw error
  })
  return rows
}
