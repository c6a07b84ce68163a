import type { Context } from 'hono'
import type { Operation } from '../../contract/operation.ts'
import { siteAt } from '../devices/site.ts'
import { Refusal } from '../../core/refusal.ts'

/** What only the approver page calls, and what is more than a look. */
export const isOfPage = ({ path, method }: Operation): boolean =>
  path.startsWith('/svc/v1/approver/') && method !== 'GET'

/**
 * Lets only pages of the site itself pass: a browser names its origin with each POST and DELETE, so what names none is
 * no page. The guards have refused foreign origins before.
 */
export const refuseElsewhere = (context: Context, publicUrl: string): void => {
  const origin = context.req.header('origin')
  if (origin !== undefined && origin === siteAt(publicUrl)?.origin) return
  if (context.req.header('sec-fetch-site') === 'same-origin') return
  throw new Refusal(403, 'foreign_origin', 'Only the approver page of this service may call this', {
    hint: `Open ${siteAt(publicUrl)?.origin ?? publicUrl}/approver`,
  })
}
