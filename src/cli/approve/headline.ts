import { isRecord } from '../../core/is-record.ts'
import type { Shape } from '../terminal/payload.ts'

/** What a request asks for, as the approver page shows it; `action` is only what the requester calls it. */
export const headlineOf = ({ subject, action }: Record<string, unknown>): string =>
  String(isRecord(subject) && typeof subject['summary'] === 'string' ? subject['summary'] : action)

/** In a list of requests. Only a pending request can expire. */
export const listTexts: Shape['texts'] = {
  action: (_, request) => headlineOf(request),
  expires_at: (time, { status }) => (status === 'pending' ? String(time) : ''),
}
