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
        const held = error.data['request'] as
          | { request_id: string; lines: { people: { name: string }[] }[] }
          | undefined
        if (held) {
          approval = held.request_id
          const names = new Intl.ListFormat(locale(), { type: 'disjunction' })
          const people = held.lines.flatMap((line) => line.people.map(({ name }) => name))
          tellWaiting(t('common.held', { names: names.format(people) }))
        }
        await new Promise((resolve) => setTimeout(resolve, everyMs))
      }
  } finally {
    if (approval) tellWaiting()
  }
}
