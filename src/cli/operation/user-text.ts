import { fieldsIn } from '../../client/answer-data.ts'
import { user } from '../../contract/user.ts'
import { SvcError } from '../../core/errors.ts'
import type { Context } from '../context/context.ts'
import { findOrg } from '../context/organization.ts'

/** `Grace Hopper (user 2)`, or the id alone if this key cannot read the user. Contains text from the service. */
export const userText = async (
  id: string,
  org: string | number | undefined,
  context: Context,
): Promise<string> => {
  if (org === undefined) return id
  const client = await context.client()
  const { id: orgId } = await findOrg(String(org), context)
  const { signal } = context.io
  const found = await client.call(user.getUser, { orgId, userId: id }, { signal }).catch((error: unknown) => {
    if (error instanceof SvcError) return undefined
    throw error
  })
  const { first_name = '', last_name = '' } = found ? fieldsIn(found) : {}
  const person = `${String(first_name)} ${String(last_name)}`.trim()
  return person === '' ? id : `${person} (user ${id})`
}
