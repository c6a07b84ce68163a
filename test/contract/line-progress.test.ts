import { expect, test } from 'vitest'
import { progressOf, progressText } from '../../src/contract/line-progress.ts'

const person = (name: string, answer: 'pending' | 'approved') => ({
  user_id: name,
  name,
  mobile: '+1••••••0101',
  answer,
  answered_at: null,
})
const line = (need: number, ...people: [string, ('pending' | 'approved')?][]) => ({
  group: null,
  need,
  people: people.map(([name, answer = 'pending']) => person(name, answer)),
})

test('a request of one person has no progress', () => {
  expect(progressOf([line(1, ['Ada'])])).toBeUndefined()
  expect(progressOf(undefined)).toBeUndefined()
})

test('nobody is waited for whose line has enough', () => {
  const lines = [line(1, ['Ada', 'approved'], ['Bob']), line(1, ['Eve'])]
  expect(progressText(lines)).toBe('1 of 2 approved; waiting for Eve')
})

test('one yes counts once, also for somebody in two lines', () => {
  const lines = [line(1, ['Ada'], ['Bob', 'approved']), line(1, ['Bob', 'approved'])]
  expect(progressText(lines)).toBe('1 of 2 approved; waiting for Ada')
})

test('a third yes does not count on a line that needs two', () => {
  const lines = [line(2, ['Ada', 'approved'], ['Bob', 'approved'], ['Eve', 'approved']), line(1, ['Dan'])]
  expect(progressText(lines)).toBe('2 of 3 approved; waiting for Dan')
})
