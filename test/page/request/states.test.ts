import { expect, test } from 'vitest'
import { createStates, type Event, type State } from '../../../src/page/request/states.ts'

const events: Event[] = ['choose', 'send', 'settle', 'look', 'pending', 'end']
const ways: Record<State, Event[]> = {
  reading: [],
  checking: ['choose'],
  sending: ['choose', 'send'],
  looking: ['look'],
  unsure: ['choose', 'send', 'look'],
  over: ['end'],
}

const reached = (...by: Event[]) => {
  const states = createStates()
  for (const event of by) expect(states.on(event)).toBe(true)
  return states
}

test.each<[State, Partial<Record<Event, State>>]>([
  ['reading', { choose: 'checking', settle: 'reading', look: 'looking', end: 'over' }],
  ['checking', { send: 'sending', settle: 'reading', look: 'looking', end: 'over' }],
  ['sending', { settle: 'reading', look: 'unsure', end: 'over' }],
  ['looking', { pending: 'reading', end: 'over' }],
  ['unsure', { pending: 'reading', end: 'over' }],
  ['over', {}],
])('from %s, these events lead on, and no other', (from, leads) => {
  for (const event of events) {
    const states = reached(...ways[from])
    expect(states.is(from)).toBe(true)
    expect(states.on(event)).toBe(event in leads)
    expect(states.is(leads[event] ?? from)).toBe(true)
  }
})
