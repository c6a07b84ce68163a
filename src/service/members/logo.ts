import type { logo } from '../../contract/logo.ts'
import { sha256 } from '../../core/ids.ts'
import { invalid, notFound } from '../../core/refusal.ts'
import type { HandlerOf } from '../call/call.ts'
import { reachOrganization } from '../call/tenant.ts'
import type { Db } from '../storage/schema.ts'

const mostBytes = 32 * 1024
const mostPixels = 512

const example = 'svc org logo set logo.png --org acme'

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
/** The image, and its colours and proportions: not the place where a photo was taken, nor anything else that was packed into it. */
const kept = new Set('IHDR PLTE IDAT IEND tRNS bKGD cHRM gAMA iCCP sBIT sRGB pHYs'.split(' '))

type Part = { name: string; content: Buffer; whole: Buffer }

/** Each part has a length, a name and a checksum. Undefined if they do not fill the file exactly. */
const split = (bytes: Buffer): Part[] | undefined => {
  if (!bytes.subarray(0, 8).equals(signature)) return undefined
  const parts: Part[] = []
  let at = 8
  while (at + 12 <= bytes.length) {
    const end = at + 12 + bytes.readUInt32BE(at)
    const name = bytes.toString('latin1', at + 4, at + 8)
    parts.push({ name, content: bytes.subarray(at + 8, end - 4), whole: bytes.subarray(at, end) })
    at = end
  }
  return at === bytes.length ? parts : undefined
}

/** The parts of a still PNG image that draw it. The type and the size come from the bytes: an SVG file can contain scripts. */
const clean = (bytes: Buffer): Buffer => {
  if (bytes.length > mostBytes) throw invalid('image', 'must have at most 32 KB', example)
  const parts = split(bytes)
  const names = parts?.map(({ name }) => name) ?? []
  const isWhole = names.indexOf('IEND') === names.length - 1 && names.lastIndexOf('IHDR') === 0
  const header = parts?.[0]?.content
  // `acTL` would animate it.
  if (!parts || !isWhole || header?.length !== 13 || !names.includes('IDAT') || names.includes('acTL'))
    throw invalid('image', 'is not a still PNG image', example)
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)]
  if (width < 1 || height < 1 || width > mostPixels || height > mostPixels)
    throw invalid(
      'image',
      `must have at most ${mostPixels} by ${mostPixels} pixels, not ${width} by ${height}`,
    )
  return Buffer.concat([signature, ...parts.filter(({ name }) => kept.has(name)).map(({ whole }) => whole)])
}

export const setLogo: HandlerOf<typeof logo.setLogo> = async ({ org_id, image: text }, call) => {
  await reachOrganization(call, org_id)
  const bytes = clean(Buffer.from(text, 'base64'))
  const row = { hash: sha256(bytes), image: bytes.toString('base64'), updated_at: call.now }
  await call.db
    .insertInto('logos')
    .values({ org_id, ...row })
    .onConflict((of) => of.column('org_id').doUpdateSet(row))
    .execute()
  await call.audit(org_id, `organization:${org_id}`, ['logo'])
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

/**
 * Where the page finds the logo of an organization; null if it has none. The hash in the path lets browsers keep the image; a
 * person without a link to the organization cannot guess it.
 */
export const logoPath = async (db: Db, orgId: number): Promise<string | null> => {
  const row = await db.selectFrom('logos').where('org_id', '=', orgId).select('hash').executeTakeFirst()
  return row ? `/approver/logo/${orgId}/${row.hash}` : null
}

export const readLogo = async (db: Db, orgId: number, hash: string) =>
  db
    .selectFrom('logos')
    .where('org_id', '=', orgId)
    .where('hash', '=', hash)
    .select('image')
    .executeTakeFirst()
