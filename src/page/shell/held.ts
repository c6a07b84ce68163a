import { call, Refused } from '../calls/api.ts'
import { locale, t } from '../language/text.ts'
import { tellWaiting } from './frame.ts'

const everyMs = 2000

/** Calls an operation that a rule may hold: then says who is asked, waits, and repeats it with their approval. */
export const callHeld: typeof call = async (name, input, options) => {
  let approval: string | undefined
  try {
    for (;;)
      try {
        return await call(name, input, { ...options, approval })
      } catch (error) {
        if (!(error instanceof Refused) || error.code !== 'approval_required') throw error
        const requests = error.data['requests'] as { request_id: string; name: string }[] | undefined
        if (requests) {
          approval = requests[0]!.request_id
          const names = new Intl.ListFormat(locale(), { type: 'disjunction' })
          tellWaiting(t('common.held', { names: names.format(requests.map((one) => one.name)) }))
        }
        await new Promise((resolve) => setTimeout(resolve, everyMs))
      }
  } finally {
    if (approval) tellWaiting()
  }
}
