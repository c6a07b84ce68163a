import type { PendingRequest } from '../calls/feed.ts'
import { t } from '../language/text.ts'
import { button, div } from '../shell/element.ts'
import { msUntil } from '../language/time.ts'

/** The requests that wait besides the one on the screen. */
export type Queue = {
  /** Those that still wait, without these, the one that expires first at the top. */
  without: (ids: readonly string[]) => readonly PendingRequest[]
  open: (next: PendingRequest) => void
  /** Goes back to the list. */
  back: () => void
}

type Page = { pending: () => readonly PendingRequest[]; show: () => void }

/** Each way replaces the request that is over in the history, so that Back does not lead to it. */
export const createQueue = ({ pending, show }: Page): Queue => {
  const go = (hash: string): void => {
    history.replaceState(null, '', location.pathname + hash)
    show()
  }
  return {
    without: (ids) => pending().filter((one) => !ids.includes(one.request_id) && msUntil(one.expiresAt) > 0),
    open: ({ request_id }) => go(`#request=${encodeURIComponent(request_id)}`),
    back: () => go(''),
  }
}

/** Under a result: the next request, if one waits, and the way back. `refresh` follows what arrives and ends. */
export const createNext = ({ without, open, back }: Queue, ended: readonly string[]) => {
  const element = div('actions')
  let shown: number | undefined
  const refresh = (): void => {
    const waiting = without(ended)
    if (waiting.length === shown) return
    shown = waiting.length
    const had = element.contains(document.activeElement)
    element.replaceChildren(
      ...(waiting.length > 0
        ? [
            button(t('request.next', { count: waiting.length }), 'primary', () => {
              const [next] = without(ended)
              if (next) open(next)
              else back()
            }),
          ]
        : []),
      button(t('common.done'), waiting.length > 0 ? 'plain' : 'primary', back),
    )
    if (had) element.querySelector('button')?.focus({ preventScroll: true })
  }
  refresh()
  return { element, refresh }
}
