import { fieldsIn } from '../../client/answer-data.ts'
import { orgFields, type Field } from '../../contract/operation.ts'
import { failure, SvcError, usageError } from '../../core/errors.ts'
import type { Context } from './context.ts'

export const isOrg = (field: Field): boolean => orgFields.includes(field.name)

/** Converts a typed id or slug to the value that the operation accepts: most accept only the id. */
export const organizationValue = async (field: Field, typed: string, context: Context): Promise<unknown> =>
  field.kind === 'integer' ? (await resolveOrg(typed, context)).id : typed

export type Organization = { id: number; slug?: string | undefined; name?: string | undefined }

/** The typed organization, or that of the environment or profile. Throws a usage error without one. */
export const requireOrg = async (typed: string | undefined, context: Context): Promise<string> => {
  const wanted = typed ?? (await context.settings()).org?.value
  if (wanted) return wanted
  throw usageError('Missing --org', await context.command!.again({ plus: ['--org', 'acme'] }))
}

const isId = (idOrSlug: string): boolean => /^\d{1,15}$/.test(idOrSlug)

/** Returns an id unchanged and looks up a slug. Throws if the service does not know it or returns no id. */
export const resolveOrg = async (idOrSlug: string, context: Context): Promise<Organization> =>
  isId(idOrSlug) ? { id: Number(idOrSlug) } : findOrg(idOrSlug, context)

/** As `resolveOrg`, but looks up a slug each time: in a run that lasts, a slug can move to another organization. */
export const resolveOrgNow = async (idOrSlug: string, context: Context): Promise<Organization> =>
  isId(idOrSlug) ? { id: Number(idOrSlug) } : lookUp(idOrSlug, context)

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

/** The id in the record of an organization. The specification does not show its name; paths call it `org_id` and `orgId`. */
const idIn = ({ id, org_id, orgId }: Record<string, unknown>): number | undefined => {
  const digits = String(id ?? org_id ?? orgId)
  return /^[1-9]\d{0,14}$/.test(digits) ? Number(digits) : undefined
}

const inRun = new WeakMap<Context, Map<string, Organization>>()

/** The organization of the service, by id or slug. Looked up once per run. */
export const findOrg = async (idOrSlug: string, context: Context): Promise<Organization> => {
  const known = inRun.get(context) ?? new Map<string, Organization>()
  const found = known.get(idOrSlug) ?? (await lookUp(idOrSlug, context))
  for (const name of [idOrSlug, String(found.id), found.slug ?? idOrSlug]) known.set(name, found)
  inRun.set(context, known)
  return found
}

/** What to type for an organization: its slug, if this run has looked it up. */
export const typedOrg = (id: number, context: Context): string =>
  inRun.get(context)?.get(String(id))?.slug ?? String(id)

const lookUp = async (idOrSlug: string, context: Context): Promise<Organization> => {
  if (!/^[\w-]{1,60}$/.test(idOrSlug))
    throw usageError(`"${idOrSlug}" is not a valid id or slug`, 'svc org list')
  const [{ org }, client] = await Promise.all([import('../../contract/org.ts'), context.client()])
  const answer = await client
    .call(org.getOrganization, { orgIdOrSlug: idOrSlug }, { signal: context.io.signal })
    .catch((error: unknown) => {
      if (!(error instanceof SvcError) || error.code !== 'not_found') throw error
      throw error.with({ message: `Organization "${idOrSlug}" not found` })
    })
  const data = fieldsIn(answer)
  const id = idIn(data)
  const shown = isId(idOrSlug) ? id : data.slug
  if (id !== undefined && String(shown) !== idOrSlug)
    throw failure(
      'other_organization',
      `The service did not show that the organization it found is "${idOrSlug}"`,
      'Check the name: svc org list. The id works too: --org 12',
    )
  if (id === undefined)
    throw new SvcError('failed', 'no_id', `This service does not return the id of "${idOrSlug}"`, {
      hint: 'Pass the id instead of the slug: --org 12, SVC_ORG=12, or 12 if the organization is an argument',
    })
  return { id, slug: text(data.slug), name: text(data.name) }
}
