import type { Enrollment, Refused } from '../calls/api.ts'
import { locale, t } from '../language/text.ts'

/** What the organization accepts, in words; undefined if it accepts everything. */
export const acceptedKinds = ({ authenticators: allowed }: Enrollment): string | undefined => {
  if (allowed.length === 3) return undefined
  const kinds = allowed.map((kind) => t('enrollment.kinds', { kind }))
  return new Intl.ListFormat(locale(), { type: 'disjunction' }).format(kinds)
}

/** Why the organization does not accept a key, in the words of the page; undefined for any other refusal. */
export const refusedKeyText = ({ code }: Refused, enrollment: Enrollment): string | undefined => {
  const { organization } = enrollment
  if (code === 'authenticator_not_allowed')
    return t('enrollment.refusedKind', { organization, kinds: acceptedKinds(enrollment) ?? '' })
  if (code === 'key_can_be_copied') return t('enrollment.refusedCopied', { organization })
  if (code === 'model_not_allowed' || code === 'attestation_required')
    return t('enrollment.refusedModel', { organization })
  return undefined
}
