import { reasonText } from '../../contract/reason-text.ts'
import { invalid } from '../../core/refusal.ts'

/** A header of a write: why, for rules that hold it and require a reason. Percent-encoded UTF-8. spec: not shown */
export const reasonHeader = 'x-svc-reason'

/** The reason in the header. Throws 422 if a request could not have it. */
export const readReason = (header: string | undefined): string | undefined => {
  if (header === undefined) return undefined
  try {
    const checked = reasonText.safeParse(decodeURIComponent(header))
    if (checked.success) return checked.data
    throw invalid('reason', checked.error.issues[0]!.message)
  } catch (error) {
    if (!(error instanceof URIError)) throw error
    throw invalid('reason', `must be percent-encoded in ${reasonHeader}`, 'Write % as %25, such as 100%25')
  }
}
