import { isLoopbackHost } from '../../../core/loopback.ts'
import { siteAt } from '../../devices/site.ts'

/** The addresses of the authorization server and of the tool server that it protects. */
export type Addresses = {
  issuer: string
  /** The identifier of the tool server, to which every token is bound (RFC 8707). */
  resource: string
  /** Where people consent: the approver page. */
  page: string
}

/** Undefined if phones cannot register at this address, so that nobody could consent. */
export const addressesAt = (publicUrl: string): Addresses | undefined => {
  const site = siteAt(publicUrl)
  return site && { issuer: publicUrl, resource: `${publicUrl}/mcp`, page: `${site.origin}/approver` }
}

export const metadataPath = '/.well-known/oauth-protected-resource'

/**
 * The identifier of the tool server as a client at this origin knows it. On this machine it has several names: a client
 * compares the identifier with the address that it was given.
 */
export const resourceAt = ({ resource }: Addresses, origin: string): string => {
  const asked = URL.canParse(origin) ? new URL('/mcp', origin) : undefined
  return asked && isResource({ resource }, asked.href) ? asked.href : resource
}

/** Whether a client means this tool server. */
export const isResource = ({ resource }: Pick<Addresses, 'resource'>, text: string): boolean => {
  if (!URL.canParse(text) || text.includes('#')) return false
  const [own, asked] = [new URL(resource), new URL(text)]
  if (isLoopbackHost(own.hostname) && isLoopbackHost(asked.hostname)) asked.hostname = own.hostname
  return asked.href === own.href
}
