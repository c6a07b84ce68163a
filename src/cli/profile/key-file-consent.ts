import { assert } from '../../client/software-authenticator.ts'
import { SvcError } from '../../core/errors.ts'
import { isRecord } from '../../core/is-record.ts'
import { parseJson } from '../../core/parse-json.ts'
import { safeLine } from '../../core/safe-text.ts'
import type { Transport } from '../../core/transport.ts'
import type { KeyFile } from '../context/key-file.ts'

/** Says why the service refused a step of the consent. */
const refused = (status: number, message: unknown): SvcError =>
  new SvcError(
    'refused',
    'not_consented',
    safeLine(`The service refused the consent (${status}): ${typeof message === 'string' ? message : ''}`),
    { hint: 'The key file must be of an active device: svc user devices list' },
  )

/** A browser of one visit: it keeps the cookie of the session. */
const createBrowser = (origin: string, transport: Transport, signal: AbortSignal) => {
  let cookie: string | undefined
  return async (path: string, input: object): Promise<Record<string, unknown>> => {
    const { status, headers, body } = await transport(
      {
        method: 'POST',
        url: `${origin}/svc/v1/approver/${path}`,
        headers: {
          origin,
          'content-type': 'application/json',
          'user-agent': 'svc',
          ...(cookie !== undefined && { cookie }),
        },
        body: JSON.stringify(input),
      },
      signal,
    )
    cookie = headers['set-cookie']?.split(';')[0] ?? cookie
    const answer = parseJson(body)
    const { data, message } = isRecord(answer) ? answer : {}
    if (status !== 200 || !isRecord(data)) throw refused(status, message)
    return data
  }
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '')

/**
 * Plays the browser and the phone of a person with a key file, which counts only with `svc serve --dev`: opens the address of
 * a sign-in, signs in to the page, signs the consent, and returns where the browser would go.
 */
export const consentWith = async (
  { key }: KeyFile,
  url: string,
  transport: Transport,
  signal: AbortSignal,
): Promise<string> => {
  const { headers } = await transport({ method: 'GET', url, headers: { 'user-agent': 'svc' } }, signal)
  const location = headers['location'] ?? ''
  const [, request] = /#authorize=([\w-]+)$/.exec(location) ?? []
  if (request === undefined || !URL.canParse(location)) throw refused(0, 'it did not open the page')
  const { origin } = new URL(location)
  const call = createBrowser(origin, transport, signal)
  const sign = (challenge: unknown) => ({
    challenge,
    response: assert(key, { challenge: text(challenge), origin, rpId: key.rp_id }),
  })
  await call('session', sign((await call('challenge', {}))['challenge']))
  const { name, scopes } = await call('consent/request', { request })
  const { challenge } = await call('consent/challenge', { request, name, scopes })
  return text((await call('consent', { request, name, scopes, ...sign(challenge) }))['redirect_to'])
}
