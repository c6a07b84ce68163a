import { notFound } from '../../core/refusal.ts'
import type { Service } from '../call/service.ts'
import { readLogo } from '../members/logo.ts'
import type { MountedRoute } from './routes.ts'

const headers = {
  // The path names these bytes.
  'cache-control': 'private, max-age=31536000, immutable',
  'content-security-policy': "default-src 'none'; sandbox",
  'cross-origin-resource-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
}

/** The logo of an organization, for the approver page. */
export const createLogoRoute = ({ storage }: Pick<Service, 'storage'>): MountedRoute => ({
  method: 'GET',
  path: '/approver/logo/:org_id/:hash',
  respond: async (context, { id }) => {
    const { org_id = '', hash = '' } = context.req.param()
    // PostgreSQL fails on a zero byte.
    const logo =
      /^\d{1,15}$/.test(org_id) && /^[0-9a-f]{64}$/.test(hash)
        ? await storage.read((db) => readLogo(db, Number(org_id), hash))
        : undefined
    if (!logo) throw notFound('Logo')
    return new Response(new Uint8Array(Buffer.from(logo.image, 'base64')), {
      headers: { ...headers, 'content-type': 'image/png', 'x-request-id': id },
    })
  },
})
