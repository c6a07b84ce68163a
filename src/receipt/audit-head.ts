import { createLocalJWKSet, jwtVerify, type JSONWebKeySet } from 'jose'

export type AuditHead = { org_id: number; seq: number; hash: string }

/** The head that a JWS of `svc audit head` attests; undefined when none of the keys signed it, or it says something else. */
export const readAuditHead = async (jws: string, jwks: JSONWebKeySet): Promise<AuditHead | undefined> => {
  try {
    const { payload } = await jwtVerify(jws, createLocalJWKSet(jwks), {
      algorithms: ['EdDSA'],
      typ: 'audit-head+jwt',
    })
    const { org_id, seq, hash } = payload
    if (typeof org_id !== 'number' || typeof seq !== 'number' || typeof hash !== 'string') return undefined
    return { org_id, seq, hash }
  } catch {
    return undefined
  }
}
