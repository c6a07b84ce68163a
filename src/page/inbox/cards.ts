import type { PendingRequest } from '../calls/feed.ts'
import { nodes, t } from '../language/text.ts'
import { countDown, urgentMs } from '../language/time.ts'
import { deniedBefore, progressLines, reportedText } from '../request/people.ts'
import { h, ul } from '../shell/element.ts'
import { requesterLines } from '../shell/requester.ts'
import { clockText, exactLine, exactText, headline } from '../shell/text.ts'

type Card = { item: HTMLElement; follow: (now: PendingRequest) => void; stop: () => void }

const card = (one: PendingRequest, { expired, named }: { expired: () => void; named: boolean }): Card => {
  const people = h('span', 'who')
  const organization = h('span', 'who')
  const follow = ({ progress, session }: PendingRequest): void => {
    if (organization.textContent !== session.organization)
      organization.replaceChildren(exactText(session.organization))
    const line = h('span', 'who', ...progressLines(progress))
    if (line.textContent !== people.textContent) people.replaceChildren(...line.childNodes)
  }
  follow(one)
  const left = h('span', 'left')
  const tick = (ms: number): void => {
    left.textContent = t('common.timeLeft', { time: clockText(ms) })
    left.classList.toggle('short', ms <= urgentMs)
    // Not while the list is being rendered.
    if (ms === 0) queueMicrotask(expired)
  }
  const stop = countDown(one.expiresAt, tick)
  const item = h(
    'li',
    {},
    h(
      'a',
      { class: 'card', href: `#request=${encodeURIComponent(one.request_id)}` },
      named && organization,
      one.break_glass &&
        h('span', 'problem', nodes('request.breakGlass', { reason: exactLine(one.break_glass.reason) })),
      one.subject?.type === 'text' && h('span', 'who', t('request.inTheirWords')),
      h('span', 'asked', exactLine(headline(one))),
      ...requesterLines(one.origin),
      one.reported && h('span', 'who', reportedText(one.reported)),
      one.earlier_denial && h('span', 'who', deniedBefore(one.earlier_denial)),
      one.progress && people,
      left,
    ),
  )
  return { item, follow, stop }
}

/** The cards of the requests, each one for as long as its request is pending. */
export const createCards = (named: boolean, expired: () => void) => {
  const element = ul('cards')
  const cards = new Map<string, Card>()
  const drop = (id: string): void => {
    cards.get(id)?.stop()
    cards.get(id)?.item.remove()
    cards.delete(id)
  }
  return {
    element,
    show: (requests: readonly PendingRequest[]): void => {
      const ids = new Set(requests.map(({ request_id }) => request_id))
      for (const id of cards.keys()) if (!ids.has(id)) drop(id)
      let below: HTMLElement | null = null
      for (const one of requests.toReversed()) {
        const known = cards.get(one.request_id)
        const next = known ?? card(one, { expired, named })
        cards.set(one.request_id, next)
        // Moving an element would take the focus away from it.
        if (!known) element.insertBefore(next.item, below)
        else next.follow(one)
        below = next.item
      }
    },
    stop: (): void => {
      for (const { stop } of cards.values()) stop()
    },
  }
}
