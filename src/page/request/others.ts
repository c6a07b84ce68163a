import { call, type Outcome, type Session } from '../calls/api.ts'

const lookEveryMs = 3000

/** Shows what the others answer, while this person looks at the screen. */
export const followOthers = async (
  screen: HTMLElement,
  before: Outcome,
  { session, show }: { session: Session; show: (now: Outcome) => void },
): Promise<void> => {
  const { request_id } = before
  const seen = JSON.stringify(before)
  while (screen.isConnected) {
    await new Promise((resolve) => setTimeout(resolve, lookEveryMs))
    if (document.hidden) continue
    const now = await call('getOwnRequest', { request_id }, { org: session.org_id }).catch(() => undefined)
    if (now && screen.isConnected && JSON.stringify(now) !== seen) return show(now)
  }
}
