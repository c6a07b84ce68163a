import { createSoftwareKey, register, type SoftwareKey } from '../../src/client/software-authenticator.ts'
import type { Data } from '../../src/contract/operation.ts'
import type { OperationId, Table } from '../../src/contract/table.ts'
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

export type EnrolledApprover = { mobile: string; device: string; authenticator: SoftwareKey }

/** A new user with a software key, on a service with --dev. */
export const enrollApprover = async (
  baseUrl: string,
  key: string,
  org: number,
  more: Record<string, unknown> = {},
): Promise<EnrolledApprover> => {
  const { id, mobile_e164: mobile } = await request(baseUrl, 'createUser', key, {
    ...exampleInput('createUser'),
    orgId: org,
    ...more,
  })
  const enrollment = await request(baseUrl, 'createEnrollment', key, { org_id: org, user_id: id })
  const { token, challenge, origin, rp_id: rpId, user_handle: userHandle } = enrollment
  const authenticator = createSoftwareKey('EdDSA', { rpId, userHandle })
  const response = register(authenticator, { challenge, origin, rpId })
  const device = await request(baseUrl, 'registerDevice', key, { token, name: 'x', response })
  return { mobile, device: device.id, authenticator }
}
