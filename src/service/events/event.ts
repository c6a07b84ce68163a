import type { EventRecord, EventType } from '../../contract/event.ts'
import type { ChainRow } from '../../receipt/chain.ts'

type Naming = (row: ChainRow) => EventType | undefined

/** The action of a row that states the head of its chain. */
export const headAction = 'signAuditHead'

/** The same for every delivery. After a restore of older data, the hash tells an event from one that took its place. */
export const eventIdOf = ({ org_id, seq, hash }: Pick<ChainRow, 'org_id' | 'seq' | 'hash'>): string =>
  `evt_${org_id}_${seq}_${hash.slice(0, 8)}`

/** The event for each action, with any subject of the kind. */
const byAction =
  (types: Record<string, EventType>): Naming =>
  ({ action }) =>
    types[action]

const rules = byAction({
  updateOrganization: 'policy.updated',
  setIdpCredentials: 'policy.updated',
  setLimits: 'policy.updated',
  createGeofence: 'policy.updated',
  updateGeofence: 'policy.updated',
  deleteGeofence: 'policy.updated',
  addTimeslot: 'policy.updated',
  updateTimeslot: 'policy.updated',
  deleteTimeslot: 'policy.updated',
  createAuthCode: 'policy.updated',
  updateAuthCode: 'policy.updated',
  deleteAuthCode: 'policy.updated',
  createGroup: 'policy.updated',
  addGroupMember: 'policy.updated',
  removeGroupMember: 'policy.updated',
  deleteGroup: 'policy.updated',
  createRule: 'policy.updated',
  deleteRule: 'policy.updated',
  setRules: 'policy.updated',
})

const approvals: Naming = ({ action, changes }) => {
  if (action === 'expireApproval') return 'approval.expired'
  if (changes.includes('used_at')) return 'approval.used'
  if (changes.includes('approved')) return 'approval.approved'
  if (changes.includes('denied')) return 'approval.denied'
  if (changes.includes('withdrawn')) return 'approval.withdrawn'
  // One of several people approved, and others still have to.
  if (changes.includes('answers')) return 'approval.answered'
  // A wrong number, of which another can follow.
  if (changes.includes('number_tries')) return undefined
  return 'approval.requested'
}

const devices: Naming = ({ action, changes }) => {
  if (action === 'registerDevice') return 'device.registered'
  if (changes.includes('revoked_at')) return 'device.revoked'
  if (changes.includes('active_from')) return 'device.approved'
  if (action === 'activateDevice' || changes.includes('proof') || changes.includes('bound_at'))
    return 'device.activated'
  return changes.includes('refused') ? 'device.refused' : undefined
}

const memberActions = byAction({
  createUser: 'member.created',
  onboardOrganization: 'member.created',
  updateUser: 'member.updated',
  setAway: 'member.updated',
  signAway: 'member.updated',
  deleteUser: 'member.deleted',
  assignOrganization: 'member.requested',
  setUserGeofences: 'policy.updated',
  setUserTimeslots: 'policy.updated',
})

const memberChanges = ['accepted', 'rejected', 'held', 'promoted', 'removed'] as const

const members: Naming = (row) => {
  const { changes } = row
  if (changes.includes('enrollment')) return 'device.link_created'
  const change = memberChanges.find((one) => changes.includes(one))
  return change ? `member.${change}` : memberActions(row)
}

const keys: Naming = ({ action, changes }) => {
  if (action === 'revokeKey' || changes.includes('revoked_at')) return 'key.revoked'
  if (action === 'rotateKey' && changes.includes('expires_at')) return 'key.rotated'
  return action === 'confirmKeyOwner' ? 'key.confirmed' : 'key.created'
}

const webhooks = byAction({
  createWebhook: 'webhook.created',
  rotateWebhook: 'webhook.rotated',
  replayWebhook: 'webhook.replayed',
  stopWebhook: 'webhook.stopped',
  deleteWebhook: 'webhook.deleted',
})

/** By the kind of the subject, the word before its colon. */
const bySubject: Record<string, Naming> = {
  approval: approvals,
  device: devices,
  user: members,
  key: keys,
  organization: rules,
  geofence: rules,
  timeslot: rules,
  group: rules,
  'auth-code': rules,
  webhook: webhooks,
  signing_key: byAction({ rotateSigningKey: 'key.signing_key_rotated' }),
  custody: byAction({ rotateMasterKey: 'key.master_key_rotated' }),
  audit: byAction({ [headAction]: 'audit.head' }),
}

const typeOf = (row: ChainRow): EventType | undefined => bySubject[row.subject.split(':', 1)[0]!]?.(row)

/** The id of an actor without its name. */
const actorId = (actor: string): string => {
  const [user] = /^user:\d{1,15}/.exec(actor) ?? []
  const [, key] = /\(key (\d{1,15})\)$/.exec(actor) ?? []
  return user ?? (key === undefined ? 'service' : `key:${key}`)
}

/** The event of a row of the audit, if the row is one. It contains ids and names of fields, and no other data. */
export const toEvent = (row: ChainRow): EventRecord | undefined => {
  const type = typeOf(row)
  if (type === undefined) return undefined
  const { org_id, seq, hash, action, subject, actor, changes } = row
  return {
    id: eventIdOf(row),
    type,
    timestamp: row.at,
    data: { org_id, seq, hash, action, subject, actor: actorId(actor), changes },
  }
}
