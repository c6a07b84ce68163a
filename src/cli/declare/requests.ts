import { fieldsIn } from '../../client/answered.ts'
import type { Client } from '../../client/client.ts'
import { geofence } from '../../contract/geofence.ts'
import type { Operation } from '../../contract/operation.ts'
import { authCode } from '../../contract/auth-code.ts'
import { org } from '../../contract/org.ts'
import { pendingUser } from '../../contract/pending-user.ts'
import { timeslot } from '../../contract/timeslot.ts'
import { user } from '../../contract/user.ts'
import { SvcError } from '../../core/errors.ts'
import { nationalNumber, readPhone } from '../../rules/phone.ts'
import type { Step } from './plan.ts'
import { fieldsOf, policyFields, type Fields, type List, type Section } from './state.ts'

/** What a step made that a later one needs, or that is told once. */
export type Made = { org_id?: number; code?: string }

type Doing = {
  step: Step
  fields: Fields
  org_id: number
  send(operation: Operation, input: Fields): Promise<Fields>
}

/** Only what is known of a section is sent, whatever stands in a plan. */
const knownFields = ({ section, changes }: Step): Fields =>
  Object.fromEntries(
    changes
      .filter(({ field }) => fieldsOf[section].includes(field))
      .map(({ field, after }) => [field, after]),
  )

const only = (fields: Fields, names: readonly string[]): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => names.includes(name)))

const isEmpty = (fields: Fields): boolean => Object.keys(fields).length === 0

const organizationBody = (fields: Fields): Fields => {
  const policy = only(fields, policyFields)
  return { ...only(fields, ['name']), ...(!isEmpty(policy) && { policy }) }
}

/** Sets what is the user's own; an empty set of one who is new is there already. */
const setRules = async ({ fields, org_id, send }: Doing, userId: unknown, fresh = false): Promise<void> => {
  const rules = [
    [geofence.setUserGeofences, 'geofences'],
    [timeslot.setUserTimeslots, 'timeslots'],
  ] as const
  for (const [operation, name] of rules) {
    const rows = fields[name] as unknown[] | undefined
    if (rows && !(fresh && rows.length === 0)) await send(operation, { userId, org_id, [name]: rows })
  }
}

const profile = ['first_name', 'last_name', 'email', 'role']

const createUser = async (doing: Doing): Promise<Made> => {
  const { step, fields, org_id, send } = doing
  const phone = readPhone(step.key)
  if ('wrong' in phone) throw new SvcError('failed', 'no_phone', `${step.key} ${phone.message}`)
  const { country_code } = phone
  const mobile = nationalNumber(phone)
  const made = await send(user.createUser, { orgId: org_id, country_code, mobile, ...only(fields, profile) })
  if (made.id === undefined && !isEmpty(only(fields, ['state', 'geofences', 'timeslots'])))
    throw new SvcError('failed', 'no_id', 'The service did not return an id for the new user')
  if (fields.state === 'pending') await send(pendingUser.holdUser, { org_id, user_id: made.id })
  // Who was a member before comes back with the rules of then.
  const fresh = made.created_at !== undefined && made.created_at === made.updated_at
  await setRules(doing, made.id, fresh)
  return {}
}

/** What restricts comes before what lets in: a hold first, an acceptance last. */
const changeUser = async (doing: Doing): Promise<Made> => {
  const { step, fields, org_id, send } = doing
  const member = { org_id, user_id: step.id }
  if (fields.state === 'pending') await send(pendingUser.holdUser, member)
  const changes = only(fields, profile)
  if (!isEmpty(changes)) await send(user.updateUser, { orgId: org_id, userId: step.id, ...changes })
  await setRules(doing, step.id)
  if (fields.state === 'active') await send(pendingUser.acceptUser, member)
  return {}
}

type Work = (doing: Doing) => Promise<Made>
const sending =
  (operation: Operation, input: (doing: Doing) => Fields): Work =>
  async (doing) => {
    await doing.send(operation, input(doing))
    return {}
  }

const lists: Record<List, Record<'create' | 'change' | 'delete', Work>> = {
  geofences: {
    create: sending(geofence.createGeofence, ({ step, fields, org_id }) => ({
      org_id,
      name: step.key,
      is_active: 1,
      ...fields,
    })),
    change: sending(geofence.updateGeofence, ({ step, fields, org_id }) => ({
      org_id,
      id: step.id,
      ...fields,
    })),
    delete: sending(geofence.deleteGeofence, ({ step, org_id }) => ({ org_id, id: step.id })),
  },
  timeslots: {
    create: sending(timeslot.addTimeslot, ({ step, fields, org_id }) => ({
      org_id,
      name: step.key,
      ...fields,
    })),
    change: sending(timeslot.updateTimeslot, ({ step, fields }) => ({ timeslot_id: step.id, ...fields })),
    delete: sending(timeslot.deleteTimeslot, ({ step }) => ({ timeslot_id: step.id })),
  },
  auth_codes: {
    create: async ({ step, fields, org_id, send }) => {
      const { code } = await send(authCode.createAuthCode, { org_id, label: step.key, ...fields })
      return typeof code === 'string' ? { code } : {}
    },
    change: sending(authCode.updateAuthCode, ({ step, fields, org_id }) => ({
      orgId: org_id,
      authCodeId: step.id,
      ...fields,
    })),
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
  change: sending(org.updateOrganization, ({ fields, org_id }) => ({ org_id, ...organizationBody(fields) })),
}

const workOf = (section: Section, action: Step['action']): Work | undefined => {
  if (action === 'by_hand' || section === 'idp') return undefined
  if (section !== 'organization') return lists[section][action]
  return action === 'delete' ? undefined : organizationWork[action]
}

/** Does one step, by one or several requests one after the other. Fails with what the service says. */
export const runStep = async (step: Step, client: Client, org_id: number | undefined): Promise<Made> => {
  const work = workOf(step.section, step.action)
  if (!work)
    throw new SvcError('failed', 'no_operation', `No operation does this: ${step.section} ${step.action}`)
  if (step.action !== 'create' && step.id === undefined)
    throw new SvcError('failed', 'no_id', 'The service did not return an id for it, so it cannot be changed')
  // Without a signal: a request on its way is waited for, so that what was done is known.
  const send = async (operation: Operation, input: Fields): Promise<Fields> =>
    fieldsIn(await client.call(operation, input))
  return work({ step, fields: knownFields(step), org_id: org_id ?? 0, send })
}
