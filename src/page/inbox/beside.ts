import type { PendingRequest } from '../calls/feed.ts'
import { t } from '../language/text.ts'
import { msUntil } from '../language/time.ts'
import { requestInAddress } from '../shell/address.ts'
import { put } from '../shell/element.ts'
import { createCards } from './cards.ts'

/** From here on, a screen has room for the list and a request. */
const wide = matchMedia('(min-width: 64em)')

/** On a wide screen, the list of requests stays beside the one that is open. */
export const createBeside = () => {
  const place = document.getElementById('beside')!
  let cards: ReturnType<typeof createCards> | undefined
  let now: readonly PendingRequest[] = []
  let named = false
  const draw = (): void => {
    const open = now.filter(({ expiresAt }) => msUntil(expiresAt) > 0)
    const opened = requestInAddress()
    const others = open.some(({ request_id }) => request_id !== opened)
    if (!wide.matches || opened === undefined || !others) {
      cards?.stop()
      cards = undefined
      return put(place)
    }
    if (!cards) {
      cards = createCards(named, draw)
      place.setAttribute('aria-label', t('common.allRequests'))
      put(place, cards.element)
    }
    cards.show(open)
    for (const link of place.querySelectorAll('a'))
      if (link.hash === location.hash) link.setAttribute('aria-current', 'page')
      else link.removeAttribute('aria-current')
  }
  wide.addEventListener('change', draw)
  return (requests: readonly PendingRequest[], areNamed: boolean): void => {
    now = requests
    named = areNamed
    draw()
  }
}
