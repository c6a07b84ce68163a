import type { Session } from '../calls/api.ts'
import { button } from '../shell/element.ts'
import type { PendingRequest } from '../calls/feed.ts'
import { nameOrganization, showNotice, type View } from '../shell/frame.ts'
import { readOutcome } from '../calls/outcome.ts'
import type { Ways } from '../enrollment/entry.ts'
import { anotherOrganization } from '../enrollment/another-organization.ts'
import { signedOutCards } from '../enrollment/signed-out.ts'
import type { Queue } from './queue.ts'
import { showMissing, showOutcome } from './result.ts'
import { t } from '../language/text.ts'

export const isWanted = ({ request_id }: PendingRequest, wanted: string): boolean => request_id === wanted

type Surroundings = {
  sessions: readonly Session[]
  /** Reads the lists again. */
  refresh: () => void
  /** Shows the request once it is in a list. */
  again: () => void
  queue: Queue
  /** To organizations that the phone is not signed in to. */
  reentry: Ways
}

const showLoading = (line: string, back: () => void): void =>
  void showNotice({
    drawing: 'clock',
    title: t('request.loading'),
    lines: [line],
    actions: [button(t('common.allRequests'), 'primary', back)],
  })

/** A request that is in no list: it has ended, or its notification arrived before the list. */
export const showGone = (
  wanted: string,
  { sessions, refresh, again, queue, reentry }: Surroundings,
): View => {
  const { back } = queue
  let follow: (() => void) | undefined
  let left = false
  const look = async (): Promise<void> => {
    for (const one of sessions) {
      const outcome = await readOutcome(wanted, one, {
        over: () => left,
        failed: () => showLoading(t('request.loadingOffline'), back),
      })
      if (left) return
      if (outcome?.status === 'pending') return refresh()
      if (!outcome) continue
      nameOrganization(one)
      follow = showOutcome(outcome, { session: one, queue })
      return
    }
    showMissing(back).append(...signedOutCards(sessions, reentry), anotherOrganization(sessions, reentry))
  }
  showLoading(t('common.moment'), back)
  void look()
  return {
    update: (requests) => {
      if (requests.some((one) => isWanted(one, wanted))) again()
      else follow?.()
    },
    announces: () => follow !== undefined,
    leave: () => (left = true),
  }
}
