import { call, type Session } from '../calls/api.ts'
import type { PendingRequest } from '../calls/feed.ts'
import { assert } from '../calls/webauthn.ts'
import { t } from '../language/text.ts'
import { button, div, h } from '../shell/element.ts'
import { problemLine, showNotice } from '../shell/frame.ts'
import { exactLine, headline } from '../shell/text.ts'
import { createNext, type Queue } from './queue.ts'

/** The pending requests to this session from the requester of `request`, with it. */
export const ofSameRequester = (
  request: PendingRequest,
  requests: readonly PendingRequest[],
): PendingRequest[] =>
  requests.filter(
    ({ origin, session }) => origin.id === request.origin.id && session.org_id === request.session.org_id,
  )

/** Denies requests with one signature over all of their ids. Returns how many it denied. */
const denyAll = async (ids: string[], { rp_id, credential_id, org_id: org }: Session): Promise<number> => {
  const { challenge } = await call('beginDenials', { request_ids: ids }, { org })
  const response = await assert(rp_id, challenge, credential_id)
  const { denied } = await call('denyRequests', { request_ids: ids, challenge, response }, { org })
  return denied.length
}

/** The result; returns what follows the requests that arrive. */
const showDenied = (count: number, ids: readonly string[], queue: Queue): (() => void) => {
  const title = t('request.deniedMany', { count })
  const next = createNext(queue, ids)
  showNotice({
    drawing: 'cross',
    tone: 'bad',
    title,
    lines: [
      count > 0 && t('request.deniedManyAll'),
      count < ids.length && t('request.deniedManySome', { count: ids.length - count }),
    ].filter((line) => line !== false),
    actions: [next.element],
  })
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
      const count = await denyAll(ids, session)
      over(showDenied(count, ids, queue))
    })
  return div(
    'step',
    h('h2', {}, t('request.denyAllTitle', { count: ids.length })),
    h('ul', 'plain-list', ...requests.map((one) => h('li', {}, exactLine(headline(one))))),
    h('p', {}, t('request.denyAllWhy')),
    problem.element,
    div(
      'actions',
      button(t('request.denyAll', { count: ids.length }), 'danger', deny),
      button(t('common.back'), 'quiet', back),
    ),
  )
}
