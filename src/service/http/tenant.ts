import type { Authenticated } from '../keys/authenticator.ts'
import { notFound } from '../../core/refusal.ts'

/** Names under which an input may say which organization it is about, by id or by slug. */
const idFields = ['org_id', 'orgId'] as const
const slugFields = ['orgIdOrSlug', 'org_code'] as const

/**
 * The second wall beside each statement's own `org_id`: what a key of an organization says of another organization
 * is answered as if that one did not exist.
 */
export const guardTenant = (caller: Authenticated, input: Record<string, unknown>): void => {
  const { orgId, orgSlug } = caller
  if (orgId === null) return
  const foreign =
    idFields.some((name) => input[name] !== undefined && input[name] !== orgId) ||
    slugFields.some(
      (name) => input[name] !== undefined && input[name] !== orgSlug && input[name] !== String(orgId),
    )
  if (foreign) throw notFound('Organization')
}
