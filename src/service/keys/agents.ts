import { conflict, type Refusal } from '../../core/refusal.ts'
import type { Call } from '../call/call.ts'
import { ofLiveSignIn } from '../call/sign-in.ts'
import type { Member } from '../call/tenant.ts'
import type { Db } from '../storage/schema.ts'
import { isLive, type KeyRow } from './rows.ts'

// An agent is the key that a person gave a client through OAuth: it can only ask, and works only at the tool server. The keys
// of a terminal come from the same consent: one that asks and, of an administrator, one that manages; they work everywhere.

/** After this time the person must consent again, as a session of the approver page ends. */
export const agentDays = 90

type Deps = Pick<Call, 'db' | 'now'>

/** The keys that people consented to and that work now, with their owners: of agents, of terminals, and those that outlive these. */
export const selectConsented = ({ db, now }: Deps) =>
  db
    .selectFrom('api_keys as k')
    .innerJoin('memberships as m', (join) =>
      join
        .onRef('m.org_id', '=', 'k.org_id')
        .onRef('m.user_id', '=', 'k.owner_user_id')
        .on('m.state', '=', 'active'),
    )
    .where('k.consented_with', 'is not', null)
    .where('k.revoked_at', 'is', null)
    .where(({ eb, or }) => or([eb('k.expires_at', 'is', null), eb('k.expires_at', '>', now)]))
    .where(ofLiveSignIn('k'))

/** Those of agents and terminals. */
export const selectAgents = (deps: Deps) => selectConsented(deps).where('k.client_id', 'is not', null)

/** Each can ask everybody in the organization, so a person must not collect them without end. */
const agentsAtMost = 20

/** Refuses one more agent or terminal of a member; undefined if they may connect it, or a terminal renews its keys. */
export const tooManyAgents = async (
  deps: Deps,
  { org_id, user_id }: Member,
  { terminal, client_id }: { terminal?: object | undefined; client_id: string },
): Promise<Refusal | undefined> => {
  const { length } = await selectAgents(deps)
    .where('m.org_id', '=', org_id)
    .where('m.user_id', '=', user_id)
    .$if(terminal !== undefined, (others) => others.where('k.client_id', '<>', client_id))
    .select('k.id')
    .execute()
  if (length < agentsAtMost) return undefined
  return conflict(
    'too_many_agents',
    `You have connected ${length} agents and terminals, the most that one person can have`,
    'Disconnect one that you do not use',
  )
}

/** The keys of one installation of svc that are not revoked, also those that have expired. */
export const keysOfTerminal = (
  db: Db,
  { org_id, owner_user_id, client_id }: Pick<KeyRow, 'owner_user_id' | 'client_id'> & { org_id: number },
) =>
  db
    .selectFrom('api_keys')
    .where('org_id', '=', org_id)
    .where('owner_user_id', '=', owner_user_id)
    .where('client_id', '=', client_id)
    .where('revoked_at', 'is', null)
    .selectAll()
    .orderBy('id')

const longestName = 50

/** The claimed name of a client as a name of a key, which approvers see as verified: only plain characters. */
const plainName = (claimed: string): string => {
  const plain = claimed
    .normalize('NFKD')
    .replace(/[^A-Za-z0-9 ,._@/+:-]+/g, '')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, longestName)
    .trim()
  return plain || 'Agent'
}

/** A name that no key of the organization has: the wanted one, or with a number. */
export const freeAgentName = async ({ db, now }: Deps, orgId: number, wanted: string): Promise<string> => {
  const name = plainName(wanted)
  const rows = await db
    .selectFrom('api_keys')
    .where('org_id', '=', orgId)
    .where(isLive(now))
    .select('name')
    .execute()
  const taken = new Set(rows.map((row) => row.name))
  let free = name
  for (let n = 2; taken.has(free); n++) free = `${name} ${n}`
  return free
}
