import type { Session } from '../calls/api.ts'
import type { PendingRequest } from '../calls/feed.ts'
import { showInbox } from '../inbox/inbox.ts'
import { t } from '../language/text.ts'
import { showGone } from '../request/result.ts'
import type { Queue } from '../request/queue.ts'
import { showRequest } from '../request/request.ts'
import { requestInAddress, screenInAddress } from '../shell/address.ts'
import { button } from '../shell/element.ts'
import { hasScreen, nameOrganization, setBusy, type View } from '../shell/frame.ts'
import { showNotice, words } from '../shell/notice.ts'
import { noticeableMs } from '../shell/reading.ts'
import type { screens, Ways as FurtherWays } from './further.ts'

type Ways = Parameters<typeof showInbox>[2] &
  FurtherWays & {
    /** Reads the sessions and requests again. */
    refresh: () => void
    queue: Queue
  }

let further: typeof screens | undefined

/** Reads the file of the further screens, during which the screen before stays. */
const loadFurther = (loaded: () => void): View => {
  let left = false
  const load = async (): Promise<void> => {
    try {
      further = (await import('./further.ts')).screens
    } catch {
      // Some browsers remember that the file was missing, and a page of an older version never gets its own again.
      if (!left)
        showNotice(
          words('common.noConnection', 'common.cantReadNow', 'clock'),
          button(t('common.tryAgain'), 'primary', () => location.reload()),
        )
      return
    }
    if (!left) loaded()
  }
  setBusy(true)
  setTimeout(() => {
    if (!left && !hasScreen()) showNotice(words('common.loading', 'common.moment', 'clock'))
  }, noticeableMs)
  void load()
  return { leave: () => void (left = true) }
}

/** Shows the screen of the address: a request, one about this organization, or the requests. */
export const screenAt = (here: Session, requests: readonly PendingRequest[], ways: Ways): View => {
  const wanted = requestInAddress()
  const request = wanted !== undefined && requests.find(({ request_id }) => request_id === wanted)
  nameOrganization(request ? request.session : here)
  if (request) return showRequest(request, requests, ways.queue)
  if (wanted !== undefined) return showGone(wanted, ways)
  const [name, id] = screenInAddress()
  if (name === '') return showInbox(here, requests, ways)
  if (!further) return loadFurther(ways.again)
  return Object.hasOwn(further, name) ? further[name]!(here, ways, id) : showInbox(here, requests, ways)
}
