import { decodeJwt, decodeProtectedHeader } from 'jose'
import { describe, expect, test } from 'vitest'
import { sha256 } from '../../src/core/ids.ts'
import { contextBytes } from '../../src/receipt/context.ts'
import { approval, approverKey, createIssuer, decidedAt, device, specimen } from './specimen.ts'

const issuer = await createIssuer()

describe('a receipt', () => {
  test('is a JWS with the requested, decided and signed claims', async () => {
    const key = approverKey()
    const receipt = await specimen(issuer, approval, key)
    expect(receipt).toMatchObject({ format: 'jws', kid: issuer.kid })
    expect(decodeProtectedHeader(receipt.jws)).toEqual({
      alg: 'EdDSA',
      typ: 'approval-receipt+jwt',
      kid: issuer.kid,
    })
    expect(receipt.claims).toMatchObject({
      iss: 'https://approve.example.com',
      sub: approval.approver.mobile,
      approver: approval.approver,
      lines: approval.lines,
      rules: [],
      aud: approval.requester,
      iat: Math.floor(decidedAt.getTime() / 1000),
      jti: approval.request_id,
      status: 'approved',
      action: approval.action,
      action_sha256: sha256(approval.action),
      reason: approval.reason,
      organization: approval.organization,
      key: approval.key,
      subject: { ...approval.subject, data: { text: approval.action } },
      device,
      influences: false,
      amr: ['hwk', 'user', 'mfa'],
      number_matched: null,
      context: Buffer.from(contextBytes(approval)).toString('base64url'),
      evidence: { credential_id: key.credential_id, public_key: key.public_key_cose, algorithm: -7 },
    })
    expect(receipt.claims).not.toHaveProperty('exp')
    expect(receipt.claims).not.toHaveProperty('dev')
  })

  test('shows the claims of the JWS, whatever the signer received', async () => {
    const receipt = await specimen({
      ...issuer,
      sign: (claims, typ) => issuer.sign({ ...claims, iss: 'https://other.example.com' }, typ),
    })
    expect(receipt.claims.iss).toBe('https://other.example.com')
    expect(decodeJwt(receipt.jws)).toEqual(receipt.claims)
  })

  test('of a denial is signed by the human too', async () => {
    const receipt = await specimen(issuer, { ...approval, decision: 'deny' })
    expect(receipt.claims).toMatchObject({
      status: 'denied',
      evidence: { origin: 'https://approve.example.com' },
    })
  })

  test('reports a software key', async () => {
    const receipt = await specimen(issuer, approval, approverKey(), { dev: true })
    expect(receipt.claims).toMatchObject({ amr: ['swk', 'user', 'mfa'], dev: true })
  })

  test('is not issued for another request than that of the evidence', async () => {
    const other = contextBytes({ ...approval, request_id: 'apr_other' })
    await expect(specimen(issuer, approval, approverKey(), { context: other })).rejects.toThrow(
      'The evidence does not match this context',
    )
  })

  test('is not issued for bytes that are not a context', async () => {
    const context = new TextEncoder().encode('{"type":"approval"}')
    await expect(specimen(issuer, approval, approverKey(), { context })).rejects.toThrow(TypeError)
  })

  test('is not issued for an approval that a factor or the number overrode', async () => {
    const overridden = {
      factor: 'ip',
      policy: 'required',
      result: 'FAIL',
      reason: '',
      expected: null,
      observed: null,
    } as const
    const { claims } = await specimen(issuer)
    for (const change of [
      { factors: [...claims.factors, overridden] },
      { factors: [] },
      { number_matched: false },
    ]) {
      await expect(specimen(issuer, approval, approverKey(), change)).rejects.toThrow('Not an approval')
      const denial = await specimen(issuer, { ...approval, decision: 'deny' }, approverKey(), change)
      expect(denial.claims.status).toBe('denied')
    }
  })
})
