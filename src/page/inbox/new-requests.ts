import type { PendingRequest } from '../calls/feed.ts'
import { t } from '../language/text.ts'
import { h } from '../shell/element.ts'
import { requestInAddress } from '../shell/address.ts'
import { createBeside } from './beside.ts'

/** Says above any screen but the list that requests have arrived, with a link to the first of them. */
export const createNewRequests = () => {
  let known = new Set<string>()
  let fresh: string[] = []
  const showBeside = createBeside()

  // The same element, because it may have the focus.
  const link = h('a', 'arrival')
  const write = (): void => {
    const [first] = fresh
    if (first === undefined) return link.remove()
    link.href = `#request=${first}`
    link.textContent = t('inbox.arrived', { count: fresh.length })
    if (!link.isConnected) document.getElementById('arrival')!.append(link)
  }

  return {
    /** `isSeen`: the screen lists the requests itself. `named`: they are of several organizations. */
    follow: (requests: readonly PendingRequest[], isSeen: boolean, named: boolean): void => {
      const opened = requestInAddress()
      showBeside(requests, named)
      const ids = requests.map(({ request_id }) => request_id)
      const before = fresh.join(' ')
      fresh = isSeen ? [] : ids.filter((id) => id !== opened && (fresh.includes(id) || !known.has(id)))
      known = new Set(ids)
      if (fresh.join(' ') !== before) write()
    },
    /** What is there when the page starts has not arrived. */
    start: (requests: readonly PendingRequest[]): void => {
      known = new Set(requests.map(({ request_id }) => request_id))
      fresh = []
      write()
    },
  }
}
