import * as z from 'zod/mini'
import { chosen } from './field.ts'

/** `{format: "jws", jws, kid, claims}`; see `receipt/receipt.ts`. */
export const receipt = z.looseObject({
  format: chosen(z.literal('jws'), 'Format of the signature'),
  jws: chosen(z.string(), 'The signed receipt'),
  kid: chosen(z.string(), 'Id of the signing key in /.well-known/jwks.json'),
  claims: chosen(z.looseObject({}), 'The decoded claims'),
})

/** Of several people: all of their receipts, and what the service signed at the end; see `receipt/set.ts`. */
const receiptSet = z.looseObject({
  format: chosen(z.literal('set'), 'Receipts of several people'),
  receipts: chosen(z.array(receipt), 'The receipt of everybody who agreed'),
  completion: chosen(receipt, 'What the service signed once everybody who was needed had agreed'),
})

/** A use of what was granted earlier; see `receipt/grant-use.ts`. */
const grantedReceipt = z.looseObject({
  format: chosen(z.literal('grant'), 'A use of what somebody allowed earlier'),
  use: chosen(receipt, 'What the service signed of this use'),
  receipt: chosen(receipt, 'The receipt of the person who allowed it, with another request'),
})

export const attestation = z.discriminatedUnion('format', [receipt, receiptSet, grantedReceipt])
