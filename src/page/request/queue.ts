import type { PendingRequest } from '../calls/feed.ts'
import { t } from '../language/text.ts'
import { button, div, put } from '../shell/element.ts'
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
  const goOn = (): void => {
    const [next] = without(ended)
    if (next) open(next)
    else back()
  }
  const refresh = (): void => {
    const { length } = without(ended)
    if (length === shown) return
    shown = length
    const had = element.contains(document.activeElement)
    put(
      element,
      shown > 0 && button(t('request.next', { count: shown }), 'primary', goOn),
      button(t('common.done'), shown > 0 ? 'plain' : 'primary', back),
    )
    if (had) element.querySelector('button')?.focus({ preventScroll: true })
  }
  refresh()
  return { element, refresh }
}
