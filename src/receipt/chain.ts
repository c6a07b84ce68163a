import canonicalize from 'canonicalize'
import { sha256 } from '../core/ids.ts'
import { createLocalJWKSet, jwtVerify, type JSONWebKeySet } from 'jose'

/** A row of a hash chain as the API returns it; see `auditRow` in the contract. */
export type ChainRow = {
  org_id: number
  seq: number
  at: string
  actor: string
  action: string
  subject: string
  changes: string[]
  request_id: string
  rules: number
  prev_hash: string
  hash: string
}

/** A place in a chain. `rules`: the number of its row, if it is known. */
export type ChainPlace = { seq: number; hash: string; rules?: number }
export type ChainCheck = ({ ok: true } & ChainPlace) | { ok: false; seq: number; reason: string }

/** The previous hash of the first row. */
export const genesisHash = '0'.repeat(64)

/** The RFC 8785 JSON of a row. For these fields, in this order, JSON.stringify writes the same text, many times faster. */
const canonicalRow = (row: Omit<ChainRow, 'hash'>): string => {
  const { action, actor, at, changes, org_id, prev_hash, request_id, rules, seq, subject, ...rest } = row
  // A row of a third-party service can have more fields.
  for (const _ in rest) return canonicalize(row)!
  return JSON.stringify({ action, actor, at, changes, org_id, prev_hash, request_id, rules, seq, subject })
}

/** SHA-256, lower-case hex, of the RFC 8785 JSON of all fields of a row but `hash`. */
export const auditHash = (row: Omit<ChainRow, 'hash'>): string => sha256(canonicalRow(row))

/**
 * Checks rows in the order of the chain, after `from` (default: the start of the chain). Returns the new end of the chain,
 * or the first row that does not fit and why.
 */
export const verifyChain = (
  rows: readonly ChainRow[],
  from: ChainPlace = { seq: 0, hash: genesisHash, rules: 0 },
): ChainCheck => {
  let { seq, hash, rules } = from
  for (const row of rows) {
    const { hash: claimed, ...rest } = row
    seq += 1
    const wrong = (what: string): ChainCheck => ({ ok: false, seq, reason: `row ${seq} ${what}` })
    if (row.seq !== seq) return wrong(`is missing, row ${row.seq} is in its place`)
    if (row.org_id !== rows[0]!.org_id)
      return wrong(`belongs to organization ${row.org_id}, but the rows before it do not`)
    if (row.prev_hash !== hash) return wrong('does not follow the row before it')
    if (claimed !== auditHash(rest)) return wrong('was changed after it was written')
    const counted = rules === undefined ? row.rules : rules + (row.subject.startsWith('rules:') ? 1 : 0)
    if (row.rules !== counted)
      return wrong(`counts ${row.rules} changes of rules and groups where the rows before it have ${counted}`)
    ;[hash, rules] = [claimed, row.rules]
  }
  return { ok: true, seq, hash, ...(rules !== undefined && { rules }) }
}

export type AuditHead = { org_id: number; seq: number; hash: string }

/** The head that a JWS of `svc audit head` attests; undefined if none of the keys signed it, or it is not an audit head. */
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
