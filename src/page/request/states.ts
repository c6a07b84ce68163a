/**
 * What the screen of a request goes through, by state and event. An event that a state does not name changes nothing: a second
 * tap, for example, or the result of a check whose request has ended meanwhile.
 */
const table = {
  /** The person reads, and can answer. A check that was withdrawn can still report so. */
  reading: { choose: 'checking', settle: 'reading', look: 'looking', end: 'over' },
  /** The device checks its owner. Nothing was sent. */
  checking: { send: 'sending', settle: 'reading', look: 'looking', end: 'over' },
  /** The answer is on its way. */
  sending: { settle: 'reading', look: 'unsure', end: 'over' },
  /** The request may have ended, and the service is asked how. */
  looking: { pending: 'reading', end: 'over' },
  /** The same, after an answer was sent: nobody knows whether it arrived. */
  unsure: { pending: 'reading', end: 'over' },
  /** Its result is shown, or another screen. */
  over: {},
} as const satisfies Record<string, Record<string, string>>

export type State = keyof typeof table
export type Event = 'choose' | 'send' | 'settle' | 'look' | 'pending' | 'end'

export const createStates = () => {
  let now: State = 'reading'
  return {
    is: (...states: State[]): boolean => states.includes(now),
    /** Returns false if the event changes nothing. */
    on: (event: Event): boolean => {
      const next = (table[now] as Partial<Record<Event, State>>)[event]
      if (next === undefined) return false
      now = next
      return true
    },
  }
}
