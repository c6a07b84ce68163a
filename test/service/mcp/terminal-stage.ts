import { consentFrom, authorize, createVerifier, exchange, requestIn } from './oauth-client.ts'
import { decide } from '../approver.ts'
import { createMember, dataOf } from '../fixtures.ts'
import { enrollPhone, type Phone } from '../page/phone.ts'
import { acme, service } from './oauth-stage.ts'

// Installations of svc that a person signs in.

export const loopback = 'http://127.0.0.1:4321/'
export const everything = 'ask read people rules devices keys notify'
export const installation = (letter: string): string => letter.repeat(22)

export const createAdministrator = async (n: number): Promise<Phone> =>
  enrollPhone(service, acme.id, await createMember(service, acme.id, n, { role: 'admin' }))

type Asked = { id?: string; scope?: string; host?: string }

export const askToSignIn = async ({
  id = installation('a'),
  scope = everything,
  host = 'ada-laptop',
}: Asked = {}) => {
  const { code_challenge, code_verifier } = createVerifier()
  const fields = { client_id: 'svc', redirect_uri: loopback, resource: undefined, code_challenge, scope }
  const answer = await authorize(service, { ...fields, installation: id, host })
  return { answer, code_verifier, request: requestIn(answer) }
}

export type Keys = { access_token: string; management_token?: string; management_scope?: string }

export const tokenFor = (code: string, code_verifier: string) =>
  exchange(service, { client_id: 'svc', redirect_uri: loopback, resource: undefined, code, code_verifier })

/** The code that a person's consent gives, as the browser hands it over. */
export const codeFrom = async (phone: Phone, asked: Asked = {}) => {
  const { code_verifier, request } = await askToSignIn(asked)
  const { redirect_to } = dataOf(await consentFrom(service, phone, request, 'svc on ada-laptop'))
  return { code_verifier, code: new URL(redirect_to as string).searchParams.get('code')! }
}

export const signIn = async (phone: Phone, asked: Asked = {}): Promise<Keys> => {
  const { code, code_verifier } = await codeFrom(phone, asked)
  const { status, text } = await tokenFor(code, code_verifier)
  if (status !== 200) throw new Error(text)
  return JSON.parse(text) as Keys
}

export const create = (key: string, headers = {}, more: object = {}) =>
  service.call('POST', '/svc/v1/keys', {
    key,
    headers,
    body: { name: 'ci', scopes: ['ask', 'read'], ...more },
  })

/** A key that a signed-in administrator creates with their own yes. */
export const createConsented = async (
  phone: Phone,
  management: string,
  scopes: string[],
): Promise<string> => {
  const more = { name: scopes.join(' '), scopes }
  const { request } = (await create(management, {}, more)).body.data
  dataOf(await decide(service, request.request_id, phone.key, { decision: 'approve' }))
  return dataOf(await create(management, { 'x-svc-approval': request.request_id }, more)).key
}

export const whoIs = (key: string) => service.call('GET', '/svc/v1/whoami', { key })
