import type { Receipt } from '../../src/receipt/claims.ts'
import type { Expectations } from '../../src/receipt/expectations.ts'
import type { GrantedReceipt } from '../../src/receipt/grant-use.ts'
import type { ReceiptSet } from '../../src/receipt/set.ts'
import { createIssuer, type Issuer } from './specimen.ts'

/** What a file in `vectors/` says, apart from the keys. */
export type Vector = {
  title: string
  accept: boolean
  attestation: unknown
  /** More than organization and issuer. */
  expected?: Expectations
}

/** By the name of the file. */
export type Vectors = Record<string, () => Promise<Vector>>

/** A service with two keys in its key set, and a stranger, whose key is not in it. */
export const createSigners = async () => ({
  issuer: await createIssuer(),
  second: await createIssuer('ES256'),
  stranger: await createIssuer(),
})

export type Signers = Awaited<ReturnType<typeof createSigners>>

/** Without the copies, which nobody needs in order to verify. */
export const bare = ({ format, jws, kid }: Pick<Receipt, 'format' | 'jws' | 'kid'>) => ({ format, jws, kid })

/** An attestation that is accepted, if `expected` says no more. */
export const accepted = (
  title: string,
  attestation: Receipt | ReceiptSet | GrantedReceipt | string,
  expected?: Expectations,
): Vector => ({ title, accept: true, attestation: short(attestation), ...(expected && { expected }) })

export const rejected = (
  title: string,
  attestation: Receipt | ReceiptSet | GrantedReceipt | string,
  expected?: Expectations,
): Vector => ({ ...accepted(title, attestation, expected), accept: false })

const short = (attestation: Receipt | ReceiptSet | GrantedReceipt | string) => {
  if (typeof attestation === 'string') return attestation
  if (attestation.format === 'jws') return bare(attestation)
  if (attestation.format === 'grant')
    return { format: 'grant', use: bare(attestation.use), receipt: bare(attestation.receipt) }
  const { receipts, completion } = attestation
  return { format: 'set', receipts: receipts.map(bare), ...(completion && { completion: bare(completion) }) }
}

export const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')

/** A JWS with one part replaced. */
export const withPart = ({ jws }: Pick<Receipt, 'jws'>, at: 0 | 1 | 2, part: string): string =>
  jws.split('.').with(at, part).join('.')

/** What a service signs, whatever it is. */
export const signed = async <T extends object>(claims: T, typ: string, by: Issuer) => ({
  format: 'jws' as const,
  jws: await by.sign(claims as Record<string, unknown>, typ),
  kid: by.kid,
  claims,
})
