import { call } from './api.ts'
import { assert } from './webauthn.ts'

/** What a device of this person signs to open a session; without a credential, the person chooses the device. */
export const proveOwner = async (credential?: string) => {
  const { rp_id: rpId, challenge } = await call('beginSession', {})
  return { rpId, proof: { challenge, response: await assert(rpId, challenge, credential) } }
}

export type Proven = Awaited<ReturnType<typeof proveOwner>>
