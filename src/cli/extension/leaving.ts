import { pendingUser } from '../../contract/pending-user.ts'
import type { Operation } from '../../contract/operation.ts'
import { user } from '../../contract/user.ts'
import { SvcError } from '../../core/errors.ts'
import type { Context } from '../context/context.ts'
import { resolveOrg } from '../context/organization.ts'
import { orgIn } from '../operation/confirm.ts'
import { type Extension, type Extensions, withExtras } from '../operation/operation-command.ts'
import { deviceRevocation } from './revocation.ts'

/** Warns of each rule that too few people are left to approve for; of none if this key cannot read the rules. */
const warnOfShortRules = async (input: Record<string, unknown>, context: Context): Promise<void> => {
  const org = orgIn(input)
  if (org === undefined) return
  const { readGroupsAndRules, shortRules } = await import('../operation/short-rules.ts')
  const { id } = await resolveOrg(String(org), context)
  const found = await readGroupsAndRules(context, id).catch((error: unknown) => {
    if (error instanceof SvcError && error.exit !== 'interrupted') return { groups: [], rules: [] }
    throw error
  })
  const { warn } = await context.output()
  for (const { message, next } of shortRules(found.rules, found.groups, id))
    warn(`Warning: ${message}\nhint: ${next}`)
}

const leaving = (operation: Operation): Extension =>
  withExtras(operation, (context) => {
    let input: Record<string, unknown> = {}
    return {
      first: async (given) => void (input = given),
      afterShown: () => warnOfShortRules(input, context),
    }
  })

/** What takes a person away from those who can be asked. */
export const userExtensions: Extensions = new Map<Operation, Extension>([
  ...deviceRevocation,
  ...[user.deleteUser, user.removeUser, pendingUser.holdUser].map((operation): [Operation, Extension] => [
    operation,
    leaving(operation),
  ]),
])
