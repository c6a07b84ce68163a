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

/** What a handler works with; the organizations whose audit it wrote to, and the approvals that it demanded. */
export const createCall = ({
  action,
  given,
  approval,
  ...rest
}: Given): {
  call: Call
  changed: ReadonlySet<number>
  demanded: readonly Requirement[]
} => {
  const { db, caller, now, requestId } = rest
  const changed = new Set<number>()
  const demanded: Requirement[] = []
  const call: Call = {
    ...rest,
    audit: async (orgId, subject, changes = given, actor = actorOf(caller)) => {
      const all = approval === undefined ? changes : [...changes, `approval:${approval}`]
      await appendAudit(db, { orgId, at: now, actor, action, subject, changes: all, requestId })
      changed.add(orgId)
    },
    demandApproval: (requirement) => void demanded.push(requirement),
  }
  return { call, changed, demanded }
}
