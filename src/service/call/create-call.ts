import { appendAudit } from './audit.ts'
import type { Call, Requirement } from './call.ts'
import type { Caller } from './caller.ts'

type Given = Omit<Call, 'audit' | 'demandApproval'> & {
  /** The operation, as the audit names it. */
  action: string
  /** Names of the fields that the caller gave: what an audit row says was changed unless the handler knows better. */
  given: string[]
  /** The request that a person approved for this, where the caller named one and it was checked. */
  approval?: string
}

const actorOf = ({ name, keyId, person }: Caller): string => (person ? name : `${name} (key ${keyId})`)

/**
 * What a handler works with; the organizations whose audit it wrote to, and the approvals that it demanded; and whether its answer `lasts`: the same caller would get
 * the same until the next commit. One that looked at the clock or at this one request does not.
 */
export const createCall = ({
  action,
  given,
  approval,
  ...rest
}: Given): {
  call: Call
  changed: ReadonlySet<number>
  demanded: readonly Requirement[]
  lasts(): boolean
} => {
  const { db, caller, now, requestId } = rest
  const changed = new Set<number>()
  const demanded: Requirement[] = []
  let lasts = true
  const call: Call = {
    ...rest,
    get now() {
      lasts = false
      return now
    },
    get requestId() {
      lasts = false
      return requestId
    },
    audit: async (orgId, subject, changes = given, actor = actorOf(caller)) => {
      const all = approval === undefined ? changes : [...changes, `approval:${approval}`]
      await appendAudit(db, { orgId, at: now, actor, action, subject, changes: all, requestId })
      changed.add(orgId)
    },
    demandApproval: (requirement) => void demanded.push(requirement),
  }
  return { call, changed, demanded, lasts: () => lasts }
}
