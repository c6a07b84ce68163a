import { rowsIn } from '../../client/answer-data.ts'
import { group } from '../../contract/group.ts'
import { key } from '../../contract/key.ts'
import { pendingUser } from '../../contract/pending-user.ts'
import type { Operation } from '../../contract/operation.ts'
import { user } from '../../contract/user.ts'
import { safeLine } from '../../core/safe-text.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import type { Context } from '../context/context.ts'
import { resolveOrg, typedOrg } from '../context/organization.ts'
import { orgIn } from '../operation/confirm.ts'
import { ifReadable } from '../operation/if-readable.ts'
import { type Extension, type Extensions, withExtras } from '../operation/operation-command.ts'
import { deviceExtensions } from './revocation.ts'

/** The groups and rules of the organization; none if this key cannot read them. */
const readThese = async (org: string | number, context: Context) => {
  const { readGroupsAndRules, shortRules } = await import('../operation/short-rules.ts')
  const { id } = await resolveOrg(String(org), context)
  const found = (await ifReadable(readGroupsAndRules(context, id))) ?? { groups: [], rules: [] }
  const named = typedOrg(id, context)
  return { ...found, id, named, short: () => shortRules(found.rules, found.groups, named) }
}

const listText = (title: string, keys: readonly { id: string; name: string }[]): string[] =>
  keys.length === 0 ? [] : [`${title}: ${keys.map(({ id, name }) => safeLine(`${name} (${id})`)).join(', ')}`]

/** The keys of a person that end with the membership; nothing if this key cannot list them. */
const keyLines = async (
  operation: Operation,
  input: { org_id: number; owner_user_id: string },
  context: Context,
): Promise<string[]> => {
  const client = await context.client()
  const { signal } = context.io
  const read = async () => rowsIn(key.listKeys, await client.call(key.listKeys, input, { signal }))
  const keys = (await ifReadable(read())) ?? []
  const now = context.io.now().toISOString()
  const live = keys.filter(
    ({ revoked_at, expires_at, ended, replaced }) =>
      revoked_at === null && ended === null && !replaced && (expires_at === null || expires_at > now),
  )
  const goesOn = ({ owner_confirmed_at, client_name }: (typeof live)[number]): boolean =>
    operation !== pendingUser.holdUser && owner_confirmed_at !== null && client_name === null
  return [
    ...listText(
      'Ends the keys that they own',
      live.filter((one) => !goesOn(one)),
    ),
    ...listText('Ends in 30 days the keys that they confirmed', live.filter(goesOn)),
  ]
}

/** What a person loses, and what is lost with a deletion. */
const consequenceOf = async (
  operation: Operation,
  input: Record<string, unknown>,
  context: Context,
): Promise<string[]> => {
  const org = orgIn(input)
  if (org === undefined) return []
  const user_id = String(input['userId'] ?? input['user_id'])
  const { groups, named, id: org_id } = await readThese(org, context)
  const names = groups.filter(({ members }) => members.includes(user_id)).map(({ name }) => `@${name}`)
  return [
    ...(names.length > 0
      ? [`In ${names.length === 1 ? 'the group' : 'the groups'} ${names.join(', ')}`]
      : []),
    ...(await keyLines(operation, { org_id, owner_user_id: user_id }, context)),
    ...(operation === user.deleteUser
      ? [
          `What was asked only of them is deleted, too. To keep the history: svc user remove ${shellQuote(user_id)} --org ${shellQuote(named)}`,
        ]
      : []),
  ]
}

/** Warns of each rule that too few people are left to approve for. */
const warnOfShortRules = async (input: Record<string, unknown>, context: Context): Promise<void> => {
  const org = orgIn(input)
  if (org === undefined) return
  const { warn } = await context.output()
  for (const { message, next } of (await readThese(org, context)).short())
    warn(`Warning: ${message}\nhint: ${next}`)
}

const leaving = (operation: Operation): Extension =>
  withExtras(operation, (context) => {
    let input: Record<string, unknown> = {}
    return {
      first: async (given) => void (input = given),
      ...(operation !== group.removeGroupMember && {
        consequence: (given) => consequenceOf(operation, given, context),
      }),
      afterShown: () => warnOfShortRules(input, context),
    }
  })

export const groupExtensions: Extensions = new Map([
  [group.removeGroupMember, leaving(group.removeGroupMember)],
])

/** What takes a person away from those who can be asked. */
export const userExtensions: Extensions = new Map<Operation, Extension>([
  ...deviceExtensions,
  ...[user.deleteUser, user.removeUser, pendingUser.holdUser].map((operation): [Operation, Extension] => [
    operation,
    leaving(operation),
  ]),
])
