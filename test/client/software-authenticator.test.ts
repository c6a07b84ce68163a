import { verifyAuthenticationResponse, verifyRegistrationResponse } from '@simplewebauthn/server'
import { describe, expect, test } from 'vitest'
import {
  assert,
  createSoftwareKey,
  register,
  softwareAaguid,
  type SoftwareKey,
} from '../../src/client/software-authenticator.ts'

const rpId = 'approve.example.com'
const ceremony = { challenge: 'Y2hhbGxlbmdl', origin: 'https://approve.example.com', rpId }
const expected = {
  expectedChallenge: ceremony.challenge,
  expectedOrigin: ceremony.origin,
  expectedRPID: rpId,
}

const credentialOf = (key: SoftwareKey) => ({
  id: key.credential_id,
  publicKey: new Uint8Array(Buffer.from(key.public_key_cose, 'base64url')),
  counter: 0,
})

describe.each(['ES256', 'EdDSA'] as const)('a software key for %s', (alg) => {
  test('registers with a key that a WebAuthn server accepts', async () => {
    const key = createSoftwareKey(alg, { rpId })
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      ...expected,
      response: register(key, ceremony),
    })
    expect(verified).toBe(true)
    expect(registrationInfo).toMatchObject({
      fmt: 'none',
      aaguid: softwareAaguid,
      userVerified: true,
      credentialDeviceType: 'singleDevice',
      credential: { id: key.credential_id, counter: 0 },
    })
    expect(Buffer.from(registrationInfo!.credential.publicKey).toString('base64url')).toBe(
      key.public_key_cose,
    )
  })

  test('signs assertions that a WebAuthn server accepts, repeatedly', async () => {
    const key = createSoftwareKey(alg, { rpId })
    for (let i = 0; i < 2; i++) {
      const response = assert(key, ceremony)
      const answer = await verifyAuthenticationResponse({
        ...expected,
        response,
        credential: credentialOf(key),
      })
      expect(answer).toMatchObject({
        verified: true,
        authenticationInfo: { userVerified: true, newCounter: 0 },
      })
    }
  })

  test('still signs after it was saved and loaded', async () => {
    const key = JSON.parse(JSON.stringify(createSoftwareKey(alg, { rpId, userHandle: 'dXNlcg' })))
    const response = assert(key, ceremony)
    expect(response.response.userHandle).toBe('dXNlcg')
    const answer = await verifyAuthenticationResponse({
      ...expected,
      response,
      credential: credentialOf(key),
    })
    expect(answer.verified).toBe(true)
  })
})

describe('a software key', () => {
  test('reports that nobody was verified', async () => {
    const key = createSoftwareKey('ES256', { rpId })
    await expect(
      verifyAuthenticationResponse({
        ...expected,
        response: assert(key, ceremony, false),
        credential: credentialOf(key),
      }),
    ).rejects.toThrow('User verification required')
  })

  test('signs only for its own site', () => {
    const key = createSoftwareKey('ES256', { rpId })
    for (const site of [
      { origin: 'https://evil.example.com', rpId },
      { origin: 'https://evilapprove.example.com', rpId },
      { origin: 'https://evil.example.com', rpId: 'evil.example.com' },
    ]) {
      expect(() => assert(key, { ...ceremony, ...site })).toThrow('cannot sign for')
      expect(() => register(key, { ...ceremony, ...site })).toThrow('cannot sign for')
    }
  })

  test('is different each time', () => {
    const [a, b] = [createSoftwareKey('ES256', { rpId }), createSoftwareKey('ES256', { rpId })]
    expect(a.credential_id).not.toBe(b.credential_id)
    expect(a.public_key_cose).not.toBe(b.public_key_cose)
    expect(a.user_handle).not.toBe(b.user_handle)
  })
})
