import type { logo } from '../../contract/logo.ts'
import { sha256 } from '../../core/ids.ts'
import { invalid, notFound } from '../../core/refusal.ts'
import type { HandlerOf } from '../call/call.ts'
import { reachOrganization } from '../call/tenant.ts'
import type { Db } from '../storage/schema.ts'
import { readImage, type Image } from './image.ts'

const mostBytes = 32 * 1024
const mostPixels = 512

const example = 'svc org logo set logo.png --org acme'

const checked = (bytes: Buffer): Image => {
  if (bytes.length > mostBytes) throw invalid('image', 'must have at most 32 KB', example)
  const image = readImage(bytes)
  // An SVG file can contain scripts.
  if (!image) throw invalid('image', 'is not a still PNG or WebP image', example)
  const { width, height } = image
  if (width < 1 || height < 1 || width > mostPixels || height > mostPixels)
    throw invalid(
      'image',
      `must have at most ${mostPixels} by ${mostPixels} pixels, not ${width} by ${height}`,
    )
  return image
}

/** The hash in the path lets browsers keep the image; a person without a link to the organization cannot guess it. */
const pathOf = (orgId: number, hash: string): string => `/approver/logo/${orgId}/${hash}`

export const setLogo: HandlerOf<typeof logo.setLogo> = async ({ org_id, image: text }, call) => {
  await reachOrganization(call, org_id)
  const { type, width, height, bytes } = checked(Buffer.from(text, 'base64'))
  const row = { type, hash: sha256(bytes), image: bytes.toString('base64'), updated_at: call.now }
  await call.db
    .insertInto('logos')
    .values({ org_id, ...row })
    .onConflict((of) => of.column('org_id').doUpdateSet(row))
    .execute()
  await call.audit(org_id, `organization:${org_id}`, ['logo'])
  return { path: pathOf(org_id, row.hash), type, width, height, bytes: bytes.length }
}

export const removeLogo: HandlerOf<typeof logo.removeLogo> = async ({ org_id }, call) => {
  await reachOrganization(call, org_id)
  await call.db
    .deleteFrom('logos')
    .where('org_id', '=', org_id)
    .returning('org_id')
    .executeTakeFirstOrThrow(() => notFound('Logo'))
  await call.audit(org_id, `organization:${org_id}`, ['logo'])
}

/** Where the page finds the logo of an organization; null if it has none. */
export const logoPath = async (db: Db, orgId: number): Promise<string | null> => {
  const row = await db.selectFrom('logos').where('org_id', '=', orgId).select('hash').executeTakeFirst()
  return row ? pathOf(orgId, row.hash) : null
}

export const readLogo = async (db: Db, orgId: number, hash: string) =>
  db
    .selectFrom('logos')
    .where('org_id', '=', orgId)
    .where('hash', '=', hash)
    .select(['type', 'image'])
    .executeTakeFirst()
