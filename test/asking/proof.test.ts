import { expect, test } from 'vitest'
import { verdictOn } from '../../src/asking/proof.ts'
import { approval, approverKey, createIssuer, now, ours, specimen } from '../receipt/specimen.ts'

const issuer = await createIssuer()
const [own, other] = [approverKey(), approverKey()]
const receipt = await specimen(issuer, undefined, own)
const isValid = async (passkeys: string[] | undefined, pinnedKey?: string): Promise<boolean> => {
  const byNumber = passkeys && { [approval.approver.mobile]: passkeys }
  const trust = { ...ours, keys: issuer.jwks, passkeys: byNumber, pinnedKey }
  return (await verdictOn(receipt, trust, now.getTime())).valid
}

test('a receipt must be signed by one of the passkeys, if they are known', async () => {
  expect(await isValid(undefined)).toBe(true)
  expect(await isValid([other.public_key_cose, own.public_key_cose])).toBe(true)
  expect(await isValid([other.public_key_cose])).toBe(false)
  expect(await isValid(undefined, other.public_key_cose)).toBe(false)
})

test('an empty list of passkeys accepts no receipt', async () => {
  expect(await isValid([])).toBe(false)
  expect(await isValid([], own.public_key_cose)).toBe(false)
})
