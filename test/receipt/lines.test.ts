import { describe, expect, test } from 'vitest'
import { verifyApproval } from '../../src/receipt/approval.ts'
import type { ApprovalContext } from '../../src/receipt/context.ts'
import { failedChecks } from './failed-checks.ts'
import { approval, approverKey, createIssuer, device, specimen } from './specimen.ts'

const issuer = await createIssuer()
const failed = failedChecks(issuer)

const [line] = approval.lines
const asked = (changes: Partial<ApprovalContext>, relation: 'self' | 'unknown' | 'operator' = 'operator') =>
  specimen(issuer, { ...approval, ...changes }, approverKey(), {
    device: { ...device, enrolled_by: { ...device.enrolled_by, relation } },
  })

describe('the receipt of one person', () => {
  test.each([
    ['somebody else must agree, too', [{ ...line!, people: ['5', '6'], need: 2 }]],
    ['a line asks somebody else', [line!, { ...line!, people: ['6'] }]],
    ['two lines need the same person', [line!, { ...line!, group: { id: '1', name: 'sre' } }]],
  ])('is not an approval if %s', async (_, lines) => {
    const receipt = await asked({ lines })
    expect(await failed(receipt)).toEqual(['alone'])
    expect(await verifyApproval(JSON.stringify(receipt), issuer.jwks)).toBeUndefined()
  })

  test('is an approval if one of several must agree', async () => {
    const receipt = await asked({ lines: [{ ...line!, people: ['4', '5', '6'] }] })
    expect(await failed(receipt)).toEqual([])
    expect(await verifyApproval(JSON.stringify(receipt), issuer.jwks)).toMatchObject({
      receipts: [receipt.claims],
    })
  })

  test('is a denial, however many had to agree', async () => {
    const receipt = await asked({ decision: 'deny', lines: [{ ...line!, people: ['5', '6'], need: 2 }] })
    expect(await failed(receipt, { status: 'denied' })).toEqual([])
  })

  test.each(['self', 'unknown'] as const)(
    'does not count for a group if the origin of the device is %s',
    async (relation) => {
      const lines = [{ ...line!, group: { id: '1', name: 'sre' }, separated: true }]
      const receipt = await asked({ lines }, relation)
      expect(await failed(receipt)).toContain('alone')
      expect(await verifyApproval(JSON.stringify(receipt), issuer.jwks)).toBeUndefined()
      const named = await asked({}, relation)
      expect(await failed(named)).not.toContain('alone')
      expect(await verifyApproval(JSON.stringify(named), issuer.jwks)).toMatchObject({
        receipts: [named.claims],
      })
    },
  )

  test('is an approval of an emergency only for whoever allows that', async () => {
    const receipt = await asked({ break_glass: { reason: 'prod is down', skipped: ['6'] } })
    expect(await failed(receipt)).toEqual(['break glass'])
    expect(await failed(receipt, { allowBreakGlass: true })).toEqual([])
    // The service uses it for the request that it was given for.
    expect(await verifyApproval(JSON.stringify(receipt), issuer.jwks)).toMatchObject({
      receipts: [receipt.claims],
    })
  })
})
