import * as z from 'zod/mini'
import { shapeProblem } from './context.ts'
import { base64url, evidenceShape, verifyEvidence, type Evidence, type EvidenceCheck } from './evidence.ts'

const assertionShape = z.object({
  id: base64url,
  rawId: base64url,
  type: z.literal('public-key'),
  response: z.object({
    authenticatorData: base64url,
    clientDataJSON: base64url,
    signature: base64url,
    userHandle: z.nullish(z.string()),
  }),
})

/** A registered key, as the service stores it. */
export type Credential = Pick<Evidence, 'credential_id' | 'public_key' | 'algorithm' | 'user_handle'> & {
  counter: number
}

/** Verifies a posted AuthenticationResponseJSON against the registered key, and returns its evidence. */
export const verifyAssertion = (
  posted: unknown,
  { counter, ...credential }: Credential,
  site: { origin: string; rp_id: string },
  expectedChallenge: string,
  { presence = false }: { presence?: boolean } = {},
): (EvidenceCheck & { ok: true; evidence: Evidence }) | { ok: false; problem: string } => {
  const parsed = assertionShape.safeParse(posted)
  if (!parsed.success) return { ok: false, problem: `Not an assertion: ${shapeProblem(parsed.error)}` }
  const { id, rawId, response } = parsed.data
  if (id !== credential.credential_id || rawId !== id)
    return { ok: false, problem: 'The assertion is from another key' }
  const user = response.userHandle
  if (user && credential.user_handle && user !== credential.user_handle)
    return { ok: false, problem: 'The key belongs to another user' }
  const evidence = evidenceShape.safeParse({
    ...credential,
    ...site,
    authenticator_data: response.authenticatorData,
    client_data_json: response.clientDataJSON,
    signature: response.signature,
  })
  if (!evidence.success) return { ok: false, problem: shapeProblem(evidence.error) }
  const check = verifyEvidence(evidence.data, expectedChallenge, { storedCounter: counter, presence })
  return check.ok ? { ...check, evidence: evidence.data } : check
}
