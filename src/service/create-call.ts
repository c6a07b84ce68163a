import { appendAudit } from './audit.ts'
import type { Call, Caller } from './call.ts'

type Given = Omit<Call, 'audit'> & {
  /** The operation, as the audit names it. */
  action: string
  /** Names of the fields that the caller gave: what an audit row says was changed unless the handler knows better. */
  given: string[]
  /** The request that a person approved for this, where the caller named one and it was checked. */
  approval?: string
}

const actorOf = ({ name, keyId, person }: Caller): string => (person ? name : `${name} (key ${keyId})`)

/**
 * What a handler works with; whether it has left an audit row; and whether its answer `lasts`: the same caller would get
 * the same until the next commit. One that looked at the clock or at this one request does not.
 */
export const createCall = ({
  action,
  given,
  approval,
  ...rest
}: Given): { call: Call; audited(): boolean; lasts(): boolean } => {
  const { db, caller, now, requestId } = rest
  let audited = false
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
      audited = true
    },
  }
  return { call, audited: () => audited, lasts: () => lasts }
}
