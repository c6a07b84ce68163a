import type { Refused } from '../calls/api.ts'
import { t, type Key } from '../language/text.ts'

/** What the service says, by its code. None of these ends the request. */
const sentences = {
  assertion_refused: 'request.signatureRefused',
  request_not_authentic: 'request.requestChanged',
  approver_not_authentic: 'request.approverChanged',
  device_not_authentic: 'request.deviceChanged',
  device_pending: 'request.devicePending',
  device_refused: 'request.deviceRefused',
  approver_is_requester: 'request.ownRequest',
  not_separated: 'request.notSeparated',
  device_not_separated: 'request.deviceNotSeparated',
  rate_limited: 'request.tooMany',
  approver_not_active: 'request.notActive',
} as const satisfies Record<string, Key>

/** Why the service did not accept a decision, in plain words. Its own words if the page does not know the reason. */
export const refusalSentence = ({ code, message }: Refused): string =>
  Object.hasOwn(sentences, code) ? t(sentences[code as keyof typeof sentences]) : message
