import * as z from 'zod/mini'
import type { Service } from '../../call/service.ts'
import { terminalClient } from '../../call/sign-in.ts'
import { clientName } from '../../../tools/server/client-name.ts'
import { OAuthProblem } from './answer.ts'
import { redirectProblem } from './redirect-uri.ts'
import { findRegistered } from './registration.ts'
import type { Terminal } from '../../page/authorization.ts'

/** A client, as it describes itself. Nothing of it is verified. */
export type Client = { name: string; redirect_uris: readonly string[] }

const metadata = z.object({
  client_name: z.optional(z.string()),
  redirect_uris: z.array(z.string()).check(z.minLength(1), z.maxLength(10)),
  token_endpoint_auth_method: z.optional(z.string()),
  grant_types: z.optional(z.array(z.string())),
  response_types: z.optional(z.array(z.string())),
})

/** Reads metadata as RFC 7591 defines them. Throws an OAuthProblem that names the field. */
export const readMetadata = (value: unknown): Pick<Client, 'redirect_uris'> & { client_name?: string } => {
  const read = metadata.safeParse(value)
  if (!read.success) {
    const field = read.error.issues[0]?.path[0] ?? 'The metadata'
    throw field === 'redirect_uris'
      ? new OAuthProblem('invalid_redirect_uri', 'redirect_uris must be a list of 1 to 10 addresses')
      : new OAuthProblem('invalid_client_metadata', `${String(field)} is not valid`)
  }
  const { client_name, redirect_uris, grant_types, response_types } = read.data
  for (const [index, uri] of redirect_uris.entries()) {
    const problem = redirectProblem(uri)
    if (problem !== undefined)
      throw new OAuthProblem('invalid_redirect_uri', `redirect_uris[${index}] ${problem}`)
  }
  if (grant_types && !grant_types.includes('authorization_code'))
    throw new OAuthProblem('invalid_client_metadata', 'grant_types must include authorization_code')
  if (response_types && !response_types.includes('code'))
    throw new OAuthProblem('invalid_client_metadata', 'response_types must include code')
  const name = clientName({ name: client_name })
  return { redirect_uris, ...(name !== undefined && { client_name: name }) }
}

/** Finds a client by its id. Throws an OAuthProblem. svc itself needs no registration, and takes codes only on its machine. */
export const findClient = async (service: Service, id: string): Promise<Client> => {
  if (id === terminalClient) return { name: 'svc', redirect_uris: ['http://127.0.0.1/'] }
  const found = await findRegistered(service, id)
  if (!found)
    throw new OAuthProblem(
      'invalid_client',
      'This client is not registered here, or its registration has expired. Remove the server in the client and add it again',
      401,
    )
  return { name: found.client_name ?? 'A client without a name', redirect_uris: found.redirect_uris }
}

export const isVisible = /^[\x20-\x7e]+$/

/** Which installation of svc asks. Throws an OAuthProblem. */
export const readTerminal = ({ installation, host }: Record<string, string | undefined>): Terminal => {
  if (installation === undefined || !/^[\w-]{22}$/.test(installation))
    throw new OAuthProblem('invalid_request', 'installation must be 22 characters of base64url')
  if (host === undefined || host.length > 60 || !isVisible.test(host))
    throw new OAuthProblem('invalid_request', 'host must have 1 to 60 printable characters')
  return { installation, host }
}
