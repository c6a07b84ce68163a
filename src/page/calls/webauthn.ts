import {
  browserSupportsWebAuthn,
  bufferToBase64URLString,
  base64URLStringToBuffer,
  platformAuthenticatorIsAvailable,
  startAuthentication,
  startRegistration,
  WebAuthnAbortService,
  type AuthenticationResponseJSON,
  type PublicKeyCredentialHint,
  type RegistrationResponseJSON,
} from '@simplewebauthn/browser'
import type { Enrollment } from './api.ts'
import { t } from '../language/text.ts'

const patienceMs = 120_000

/** The response of a device, in the form that the service accepts. */
export type Answer = { id: string; response: Record<string, unknown>; [field: string]: unknown }

/** The device check failed; `message` tells the person what to do. */
export class CheckFailed extends Error {
  /** The authenticator already has a key for this user. */
  readonly registered: boolean
  /** The page itself cancelled the prompt. */
  readonly withdrawn: boolean
  constructor(message: string, { registered = false, withdrawn = false } = {}) {
    super(message)
    this.registered = registered
    this.withdrawn = withdrawn
  }
}

const failed = (error: unknown, isUnknown: boolean): CheckFailed => {
  const { name, code } = error as { name?: string; code?: string }
  if (code === 'ERROR_CEREMONY_ABORTED' || name === 'AbortError')
    return new CheckFailed(t('common.checkCancelled'), { withdrawn: true })
  if (name === 'InvalidStateError') return new CheckFailed(t('common.checkRegistered'), { registered: true })
  if (name === 'NotAllowedError') {
    const more = isUnknown ? ` ${t('common.checkUnknown')}` : ''
    return new CheckFailed(t('common.checkIncomplete') + more)
  }
  if (name === 'SecurityError') return new CheckFailed(t('common.checkAddress'))
  if (name === 'NotSupportedError' || name === 'ConstraintError')
    return new CheckFailed(t('common.checkNoLock'))
  return new CheckFailed(t('common.checkFailed'))
}

/** `isUnknown`: whether this device has a key at all. */
const attempt = async (
  ceremony: Promise<RegistrationResponseJSON | AuthenticationResponseJSON>,
  isUnknown = false,
): Promise<Answer> => {
  try {
    const answer = await ceremony
    return { ...answer, response: { ...answer.response } }
  } catch (error) {
    throw failed(error, isUnknown)
  }
}

/** Whether the browser can use keys at all, and whether this device can check its owner and keep one. */
export const keysHere = async (): Promise<{ possible: boolean; onDevice: boolean }> => {
  const possible = browserSupportsWebAuthn()
  return { possible, onDevice: possible && (await platformAuthenticatorIsAvailable().catch(() => false)) }
}

/** Where a new key is kept: on this device, or on a security key or a phone that the browser connects to. */
export type Place = 'here' | 'elsewhere'

const kindsOf = (place: Place, allowed: Enrollment['authenticators']): PublicKeyCredentialHint[] => {
  if (place === 'here') return ['client-device']
  const onKey = allowed.includes('security_key')
  const onPhone = allowed.includes('synced') || allowed.includes('platform')
  return [...(onKey ? (['security-key'] as const) : []), ...(onPhone ? (['hybrid'] as const) : [])]
}

/** Creates a key that requires the verification of its owner for each use. */
export const register = (enrollment: Enrollment, place: Place): Promise<Answer> =>
  attempt(
    startRegistration({
      optionsJSON: {
        rp: { id: enrollment.rp_id, name: enrollment.organization },
        user: {
          id: enrollment.user_handle,
          name: enrollment.user_name,
          displayName: enrollment.first_name || enrollment.user_name,
        },
        challenge: enrollment.challenge,
        pubKeyCredParams: [-7, -8, -257].map((alg) => ({ type: 'public-key', alg })),
        hints: kindsOf(place, enrollment.authenticators),
        authenticatorSelection: {
          authenticatorAttachment: place === 'here' ? 'platform' : 'cross-platform',
          residentKey: 'required',
          requireResidentKey: true,
          userVerification: 'required',
        },
        attestation: enrollment.attestation,
        excludeCredentials: enrollment.exclude.map((id) => ({ id, type: 'public-key' })),
        timeout: patienceMs,
      },
    }),
  )

type Signals = { signalUnknownCredential?: (key: { rpId: string; credentialId: string }) => Promise<void> }

/** Lets the browser delete a key that the service refused to register, so that it is never offered. */
export const forget = (rpId: string, { id: credentialId }: Answer): void =>
  void (PublicKeyCredential as Signals)
    .signalUnknownCredential?.({ rpId, credentialId })
    .catch(() => undefined)

/**
 * Verifies the owner and signs the challenge; without a credential, the phone offers all it has. `presence`: a touch is enough.
 */
export const assert = (
  rpId: string,
  challenge: string,
  credential?: string,
  { presence = false }: { presence?: boolean } = {},
): Promise<Answer> =>
  attempt(
    startAuthentication({
      optionsJSON: {
        rpId,
        challenge,
        ...(credential !== undefined && { allowCredentials: [{ id: credential, type: 'public-key' }] }),
        userVerification: presence ? 'discouraged' : 'required',
        timeout: patienceMs,
      },
    }),
    credential === undefined,
  )

/** Cancels the prompt that the phone shows, if any. */
export const withdraw = (): void => WebAuthnAbortService.cancelCeremony()

/** The challenge for a context: SHA-256 of its exact bytes. Both are base64url. */
export const challengeOf = async (context: string): Promise<string> =>
  bufferToBase64URLString(await crypto.subtle.digest('SHA-256', base64URLStringToBuffer(context)))
