import {
  assert,
  createSoftwareKey,
  register,
  type SoftwareKey,
} from '../../src/client/software-authenticator.ts'
import { challengeOf, contextBytes, readContext } from '../../src/receipt/context.ts'
import { forgeAssertion, withCounter } from '../receipt/forge-assertion.ts'
import { createMember, dataOf } from './fixtures.ts'
import type { Answer, TestService } from './harness.ts'

export type Approver = { id: string; mobile: string; device: string; key: SoftwareKey }
export type Deciding = {
  decision: 'approve' | 'deny'
  not_me?: boolean
  note?: string | undefined
  number?: string
  grant?: true
}

/** Registers another software key for a user; with the operator's key unless `by` is another. */
export const enroll = async (
  { call }: TestService,
  org: number,
  user: string,
  alg: SoftwareKey['alg'] = 'ES256',
  by?: string,
): Promise<Pick<Approver, 'device' | 'key'>> => {
  const path = `/svc/v1/organizations/${org}/users/${user}/enrollments`
  const { token, challenge, origin, rp_id, user_handle } = dataOf(
    await call('POST', path, { key: by, body: {} }),
  )
  const key = createSoftwareKey(alg, { rpId: rp_id, userHandle: user_handle })
  const response = register(key, { challenge, origin, rpId: rp_id })
  const body = { token, name: 'Key file', response }
  const { id } = dataOf(await call('POST', '/svc/v1/devices', { key: null, body }))
  return { device: id, key }
}

/** A member with the number 2025550100 + `n` and a software key. */
export const createApprover = async (service: TestService, org: number, n: number): Promise<Approver> => {
  const { id, mobile_e164: mobile } = await createMember(service, org, n)
  return { id, mobile, ...(await enroll(service, org, id)) }
}

export const ask = (
  { call }: TestService,
  { mobile, mobile_e164 = mobile }: { mobile: string; mobile_e164?: string },
  more: object = {},
  key?: string,
) =>
  call('POST', '/svc/v1/approvals', {
    key,
    body: { action: 'Deploy 4.2', approvers: [mobile_e164], ...more },
  })

export const show = ({ call }: TestService, id: string, key?: string): Promise<Answer> =>
  call('GET', `/svc/v1/approvals/${id}`, { key })

export const ceremonyOf = async ({ call }: TestService, id: string, key?: SoftwareKey) => {
  const query = key === undefined ? '' : `?credential=${key.credential_id}`
  return dataOf(await call('GET', `/svc/v1/approvals/${id}/ceremony${query}`))
}

/** An assertion over the context of one decision. */
export const signed = async (
  service: TestService,
  id: string,
  decision: 'approve' | 'deny',
  key: SoftwareKey,
  { userVerified = true, note, grant }: Pick<Deciding, 'note' | 'grant'> & { userVerified?: boolean } = {},
) => {
  const { contexts, origin, rp_id, grant: offer } = await ceremonyOf(service, id, key)
  const bytes = new Uint8Array(Buffer.from(contexts[decision], 'base64url'))
  const more = { ...(note !== undefined && { note }), ...(grant && { grant: offer }) }
  const challenge = challengeOf(contextBytes({ ...readContext(bytes), ...more }))
  return assert(key, { challenge, origin, rpId: rp_id }, userVerified)
}

/** An approval with this counter of the authenticator. */
export const counted = async (
  service: TestService,
  key: SoftwareKey,
  count: number,
  id: string,
  more: object = {},
) => {
  const { contexts, origin, rp_id } = await ceremonyOf(service, id, key)
  const challenge = challengeOf(new Uint8Array(Buffer.from(contexts.approve, 'base64url')))
  const response = forgeAssertion(key, { challenge, origin, rpId: rp_id }, { data: withCounter(count) })
  return { decision: 'approve', ...more, response }
}

export const post = (
  { call }: TestService,
  id: string,
  body: object,
  more: { from?: string | undefined; headers?: Record<string, string> } = {},
): Promise<Answer> => call('POST', `/svc/v1/approvals/${id}/decide`, { key: null, body, ...more })

/** What the approver's device does: fetch the context, sign, post. */
export const decide = async (
  service: TestService,
  id: string,
  key: SoftwareKey,
  deciding: Deciding = { decision: 'approve' },
  from?: string,
): Promise<Answer> => {
  const response = await signed(service, id, deciding.decision, key, deciding)
  return post(service, id, { ...deciding, response }, { from })
}
