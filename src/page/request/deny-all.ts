import type { Session } from '../calls/api.ts'
import type { PendingRequest } from '../calls/feed.ts'
import { t } from '../language/text.ts'
import { div, h } from '../shell/element.ts'
import { problemLine } from '../shell/frame.ts'
import { notice, showNotice } from '../shell/notice.ts'
import { signed } from '../shell/signed.ts'
import { exactLine, headline } from '../shell/text.ts'
import { createNext, type Queue } from './queue.ts'
import { ways } from './steps.ts'

/** The pending requests to this session from the requester of `request`, with it. */
export const ofSameRequester = (
  request: PendingRequest,
  requests: readonly PendingRequest[],
): PendingRequest[] =>
  requests.filter(
    ({ origin, session }) => origin.id === request.origin.id && session.org_id === request.session.org_id,
  )

/** The result; returns what follows the requests that arrive. */
const showDenied = (count: number, ids: readonly string[], queue: Queue): (() => void) => {
  const next = createNext(queue, ids)
  showNotice(
    notice(
      'bad',
      t('request.deniedMany', { count }),
      count > 0 && t('request.deniedManyAll'),
      count < ids.length && t('request.deniedManySome', { count: ids.length - count }),
    ),
    next.element,
  )
  return next.refresh
}

type DenyAll = {
  requests: readonly PendingRequest[]
  session: Session
  queue: Queue
  back: () => void
  /** It was sent, so the screen of the single request is over. */
  over: (refresh: () => void) => void
}

/** Lists what would be denied, and asks for one check. */
export const denyAllStep = ({ requests, session, queue, back, over }: DenyAll): HTMLElement => {
  const ids = requests.map(({ request_id }) => request_id)
  const problem = problemLine()
  const deny = (): Promise<void> =>
    problem.attempt(async () => {
      const { denied } = await signed('denyRequests', session, { request_ids: ids })
      over(showDenied(denied.length, ids, queue))
    })
  return div(
    'step',
    h('h2', {}, t('request.denyAllTitle', { count: ids.length })),
    h('ul', 'plain-list', ...requests.map((one) => h('li', {}, exactLine(headline(one))))),
    h('p', {}, t('request.denyAllWhy')),
    problem.element,
    ways(t('request.denyAll', { count: ids.length }), 'danger', deny, back),
  )
}
