import {
  assert,
  createSoftwareKey,
  register,
  type SoftwareKey,
} from '../../src/client/software-authenticator.ts'
import type { Data } from '../../src/contract/operation.ts'
import type { OperationId, Table } from '../../src/contract/table.ts'
import { challengeOf } from '../../src/receipt/context.ts'
import { call, exampleInput } from './requests.ts'

/** The data of a response that must be 2xx. */
export const request = async <K extends OperationId>(
  baseUrl: string,
  id: K,
  key: string,
  input: Record<string, unknown>,
): Promise<Data<Table[K]>> => {
  const { status, body, text } = await call(baseUrl, id, key, input)
  if (status !== 200) throw new Error(`${id}: ${status} ${text}`)
  return body.data as Data<Table[K]>
}

export type EnrolledApprover = { user: string; mobile: string; device: string; authenticator: SoftwareKey }

/** Registers a software key for a user: active for the first one, pending for a further one. */
export const enrollDevice = async (
  baseUrl: string,
  key: string,
  org_id: number,
  user_id: string,
): Promise<Pick<EnrolledApprover, 'device' | 'authenticator'>> => {
  const enrollment = await request(baseUrl, 'createEnrollment', key, { org_id, user_id })
  const { token, challenge, origin, rp_id: rpId, user_handle: userHandle } = enrollment
  const authenticator = createSoftwareKey('EdDSA', { rpId, userHandle })
  const response = register(authenticator, { challenge, origin, rpId })
  const device = await request(baseUrl, 'registerDevice', key, { token, name: 'x', response })
  return { device: device.id, authenticator }
}

/** A new user with a software key, on a service with --dev. */
export const enrollApprover = async (
  baseUrl: string,
  key: string,
  org: number,
  more: Record<string, unknown> = {},
): Promise<EnrolledApprover> => {
  const { id: user, mobile_e164: mobile } = await request(baseUrl, 'createUser', key, {
    ...exampleInput('createUser'),
    orgId: org,
    ...more,
  })
  return { user, mobile, ...(await enrollDevice(baseUrl, key, org, user)) }
}

/** The mobile numbers of at least this many new approvers. */
export const enrollMobiles = async (
  baseUrl: string,
  key: string,
  org: number,
  count: number,
): Promise<string[]> => {
  const mobiles: string[] = []
  while (mobiles.length < count) {
    const people = Array.from({ length: 10 }, () => enrollApprover(baseUrl, key, org))
    mobiles.push(...(await Promise.all(people)).map(({ mobile }) => mobile))
  }
  return mobiles
}

/** Approves a request as the approver's phone does. */
export const approve = async (
  baseUrl: string,
  key: string,
  request_id: string,
  { authenticator }: EnrolledApprover,
): Promise<void> => {
  const input = { request_id, credential: authenticator.credential_id }
  const { contexts, origin, rp_id } = await request(baseUrl, 'getCeremony', key, input)
  const challenge = challengeOf(new Uint8Array(Buffer.from(contexts.approve, 'base64url')))
  const response = assert(authenticator, { challenge, origin, rpId: rp_id })
  await request(baseUrl, 'decideApproval', key, { request_id, decision: 'approve', response })
}
