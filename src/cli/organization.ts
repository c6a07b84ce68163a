import type { Field } from '../contract/describe.ts'
import { orgFields } from '../contract/operation.ts'
import { SvcError, usageError } from '../core/errors.ts'
import type { Context } from './context.ts'

export const isOrg = (field: Field): boolean => orgFields.includes(field.name)

/** What an operation takes for an organization that was typed as id or slug: most take the id only. */
export const organizationValue = async (field: Field, typed: string, context: Context): Promise<unknown> =>
  field.kind === 'integer' ? (await resolveOrg(typed, context)).id : typed

export type Organization = { id: number; slug?: string; name?: string }

/** An id as it is; a slug is looked up once. Fails when the service knows none, or tells no id for it. */
export const resolveOrg = async (idOrSlug: string, context: Context): Promise<Organization> => {
  if (/^\d{1,15}$/.test(idOrSlug)) return { id: Number(idOrSlug) }
  return findOrg(idOrSlug, context)
}

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

/** The organization as the service tells it, by id or slug. */
export const findOrg = async (idOrSlug: string, context: Context): Promise<Organization> => {
  if (!/^[\w-]{1,60}$/.test(idOrSlug))
    throw usageError(`"${idOrSlug}" is neither an id nor a slug`, 'svc org list')
  const [{ org }, client] = await Promise.all([import('../contract/org.ts'), context.client()])
  const { envelope } = await client
    .call(org.getOrganization, { orgIdOrSlug: idOrSlug }, { signal: context.io.signal })
    .catch((error: unknown) => {
      if (!(error instanceof SvcError) || error.code !== 'not_found') throw error
      const { exit, code } = error
      throw new SvcError(exit, code, `Organization "${idOrSlug}" not found`, { ...error, cause: error })
    })
  const data = envelope.data as { id?: unknown; slug?: unknown; name?: unknown } | undefined
  if (typeof data?.id !== 'number')
    throw new SvcError('failed', 'no_id', `The service tells no id for the organization ${idOrSlug}`, {
      hint: 'Give the id itself: --org 12',
    })
  return { id: data.id, slug: text(data.slug), name: text(data.name) }
}
