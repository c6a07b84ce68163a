import canonicalize from 'canonicalize'
import { sha256 } from '../core/ids.ts'
import { createLocalJWKSet, jwtVerify, type JSONWebKeySet } from 'jose'

/** A row of a hash chain as it is answered; see `auditRow` in the contract. */
export type ChainRow = {
  org_id: number
  seq: number
  at: string
  actor: string
  action: string
  subject: string
  changes: string[]
  request_id: string
  prev_hash: string
  hash: string
}

export type ChainCheck = { ok: true; seq: number; hash: string } | { ok: false; seq: number; reason: string }

/** What the first row of a chain follows. */
export const genesisHash = '0'.repeat(64)

/** The RFC 8785 JSON of a row. Of these fields, in this order, JSON.stringify writes the same text, many times faster. */
const canonicalRow = (row: Omit<ChainRow, 'hash'>): string => {
  const { action, actor, at, changes, org_id, prev_hash, request_id, seq, subject, ...rest } = row
  // A row of another service may have more.
  for (const _ in rest) return canonicalize(row)!
  return JSON.stringify({ action, actor, at, changes, org_id, prev_hash, request_id, seq, subject })
}

/** SHA-256, lower-case hex, of the RFC 8785 JSON of all fields of a row but `hash`. */
export const auditHash = (row: Omit<ChainRow, 'hash'>): string => sha256(canonicalRow(row))

/**
 * Checks rows in the order of a chain, after `from` (the start of the chain when left out). What it answers is the
 * new end of the chain, or the first row that does not fit and why.
 */
export const verifyChain = (
  rows: readonly ChainRow[],
  from: { seq: number; hash: string } = { seq: 0, hash: genesisHash },
): ChainCheck => {
  let { seq, hash } = from
  for (const row of rows) {
    const { hash: claimed, ...rest } = row
    seq += 1
    if (row.seq !== seq)
      return { ok: false, seq, reason: `row ${seq} is missing, row ${row.seq} is in its place` }
    if (row.org_id !== rows[0]!.org_id)
      return {
        ok: false,
        seq,
        reason: `row ${seq} is of organization ${row.org_id}, the rows before it are not`,
      }
    if (row.prev_hash !== hash)
      return { ok: false, seq, reason: `row ${seq} does not follow the row before it` }
    if (claimed !== auditHash(rest))
      return { ok: false, seq, reason: `row ${seq} was changed after it was written` }
    hash = claimed
  }
  return { ok: true, seq, hash }
}

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
