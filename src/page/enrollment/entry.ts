import { call, Refused } from '../calls/api.ts'
import { proveOwner, type Proven } from '../calls/proof.ts'
import { forgetKey } from '../calls/sessions.ts'
import { t } from '../language/text.ts'
import { button } from '../shell/element.ts'
import { nameOrganization, sentenceFor, setBusy, tellNext } from '../shell/frame.ts'
import { type Prove, showPendingDevice } from './pending-device.ts'
import { type Key, isOver, standingOf } from './standing.ts'

export type Ways = {
  /** Replaces the screen. */
  change: (next: () => void) => void
  /** The device is signed in. */
  done: () => void
  /** The way on for a person who cannot sign in. */
  back: () => void
  /** Whether the phone is signed in to another organization, so that `back` leads to the requests. */
  isIn: boolean
}

/** The screen that says why a device cannot sign in, and what to do. */
const screenFor = (refused: Refused, key: Key, ways: Ways): (() => void) | undefined => {
  const { device } = refused.data
  const wayBack = (): HTMLElement =>
    button(t(ways.isIn ? 'common.allRequests' : 'enrollment.signIn'), 'plain', ways.back)
  if (refused.code !== 'device_pending' || !device) return standingOf(refused, key, wayBack)
  const prove = createEntry(ways, key.credential)
  return () => showPendingDevice(device, { prove, done: ways.done, wayBack: ways.isIn && wayBack() })
}

/** The way from a key to a session: with this key or, without one, with any that the phone offers. */
export const createEntry =
  (ways: Ways, credential?: string): Prove =>
  async (problem, work, stillPending) => {
    problem.say('')
    setBusy(true)
    let proven: Proven | undefined
    try {
      proven = await proveOwner(credential)
      await work(proven.proof)
      // Otherwise busy until the next screen: the sessions are still to be read.
      if (ways.isIn) setBusy(false)
    } catch (error) {
      setBusy(false)
      if (!(error instanceof Refused && proven)) return problem.say(sentenceFor(error))
      const { device, organization, logo } = error.data
      if (device && stillPending?.(device)) return
      // The answer that opened the session was lost.
      if (error.code === 'device_active') {
        tellNext(error.message)
        return ways.back()
      }
      const key = { rpId: proven.rpId, credential: proven.proof.response.id }
      if (isOver(error)) forgetKey(key.credential)
      const screen = screenFor(error, key, ways)
      if (!screen) return problem.say(sentenceFor(error))
      ways.change(screen)
      nameOrganization(
        typeof organization === 'string'
          ? { organization, logo: typeof logo === 'string' ? logo : null }
          : undefined,
      )
    }
  }

/** Signs in with this key or, without one, with any that the phone offers. */
export const signIn = (ways: Ways, problem: Parameters<Prove>[0], credential?: string): Promise<void> =>
  createEntry(ways, credential)(problem, async (proof) => {
    await call('openSession', proof)
    ways.done()
  })
