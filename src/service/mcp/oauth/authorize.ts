import { addMs } from '../../../core/iso-time.ts'
import { scopes } from '../../../contract/scopes.ts'
import { type AuthorizationRequest, lifetimeMs, redirectWith, seal } from '../../page/authorization.ts'
import type { Service } from '../../call/service.ts'
import { terminalClient, terminalId } from '../../call/sign-in.ts'
import type { MountedRoute } from '../../http/routes.ts'
import { type Addresses, isResource } from './addresses.ts'
import { OAuthProblem, oauthRoute, plainPage, readParameters } from './answer.ts'
import { findClient, isVisible, readTerminal } from './client.ts'
import { isLoopbackUri, isRegistered } from './redirect-uri.ts'

const longestState = 1_000

const ofTerminals = scopes.filter((one) => one !== 'app')

/** The rest of a request whose client and redirect address are known. Throws an OAuthProblem for the client. */
const checkRequest = (
  given: ReturnType<typeof readParameters>,
  addresses: Addresses,
): Pick<AuthorizationRequest, 'code_challenge' | 'scopes' | 'state' | 'terminal'> => {
  const { response_type, code_challenge, code_challenge_method, scope = 'ask', resource, state } = given
  const terminal = given['client_id'] === terminalClient ? readTerminal(given) : undefined
  const asked = scope.split(' ')
  if (response_type !== 'code')
    throw new OAuthProblem('unsupported_response_type', 'response_type must be code')
  if (code_challenge === undefined || !/^[\w-]{43}$/.test(code_challenge))
    throw new OAuthProblem('invalid_request', 'code_challenge must be the base64url of a SHA-256 (PKCE)')
  if (code_challenge_method !== 'S256')
    throw new OAuthProblem('invalid_request', 'code_challenge_method must be S256')
  const possible: readonly string[] = terminal ? ofTerminals : ['ask']
  if (!asked.includes('ask') || asked.some((word) => !possible.includes(word)))
    throw new OAuthProblem('invalid_scope', `scope must contain ask, and can contain ${possible.join(' ')}`)
  if (resource !== undefined && !isResource(addresses, resource))
    throw new OAuthProblem('invalid_target', `resource must be ${addresses.resource}`)
  if (state !== undefined && (state.length > longestState || !isVisible.test(state)))
    throw new OAuthProblem('invalid_request', `state must have at most ${longestState} printable characters`)
  return { code_challenge, state, scopes: ofTerminals.filter((one) => asked.includes(one)), terminal }
}

const seeOther = (location: string, id: string): Response =>
  new Response(null, {
    status: 302,
    headers: { location, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer', 'x-request-id': id },
  })

/**
 * `GET /authorize`: checks the request and opens the approver page with it, sealed. An error goes back to the client only if
 * its address is on the machine of the person: anybody can register another one, and a redirect without a person's tap would
 * make this service a step of somebody's phishing.
 */
export const createAuthorizeRoute = (service: Service, addresses: Addresses): MountedRoute =>
  oauthRoute('GET', '/authorize', async (context, { id }) => {
    try {
      const given = readParameters(new URL(context.req.url).searchParams)
      const { client_id, redirect_uri } = given
      if (client_id === undefined) throw new OAuthProblem('invalid_request', 'client_id is missing')
      const client = await findClient(service, client_id)
      if (redirect_uri === undefined || !isRegistered(client.redirect_uris, redirect_uri))
        throw new OAuthProblem('invalid_request', 'redirect_uri is not one that the client registered')
      try {
        const { storage, keyring } = service
        const checked = checkRequest(given, addresses)
        const sealed = seal(keyring, 'authorization request', {
          client_id: checked.terminal ? terminalId(checked.terminal.installation) : client_id,
          client_name: client.name,
          redirect_uri,
          ...checked,
          resource: addresses.resource,
          expires_at: addMs(storage.now(), lifetimeMs.request),
        })
        return seeOther(`${addresses.page}#authorize=${sealed}`, id)
      } catch (error) {
        if (!(error instanceof OAuthProblem) || !isLoopbackUri(redirect_uri)) throw error
        const result = { error: error.error, error_description: error.message }
        return seeOther(redirectWith({ redirect_uri, state: given.state }, addresses.issuer, result), id)
      }
    } catch (error) {
      if (!(error instanceof OAuthProblem)) throw error
      return plainPage(error.status, `The client cannot be connected: ${error.message}.`, id)
    }
  })
