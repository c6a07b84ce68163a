import { call } from '../calls/api.ts'
import type { PendingRequest } from '../calls/feed.ts'
import { t } from '../language/text.ts'
import { button, div, h } from '../shell/element.ts'
import { problemLine } from '../shell/frame.ts'
import { exactLine } from '../shell/text.ts'
import { fieldLine } from './request-text.ts'

/** The changes that a request asks for together, read on demand; each can be opened. Nothing for any other request. */
export const rowList = ({ request_id, session, subject }: PendingRequest): HTMLElement | false => {
  if (subject?.data['operation'] !== 'batch') return false
  const list = div('rows')
  const problem = problemLine()
  const read = () =>
    problem.attempt(async () => {
      const from = list.childElementCount
      const { rows, left } = await call('listRequestRows', { request_id, from }, { org: session.org_id })
      for (const { summary, fields } of rows)
        list.append(
          h('details', {}, h('summary', {}, exactLine(summary)), h('dl', {}, ...fields.map(fieldLine))),
        )
      more.replaceChildren(...(left > 0 ? [button(t('request.more', { count: left }), 'quiet', read)] : []))
    })
  const more = div('actions', button(t('request.showAll'), 'quiet', read))
  return div('rows', list, problem.element, more)
}
