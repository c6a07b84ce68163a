import { expect, test } from 'vitest'
import { progressFor, progressOf, progressText } from '../../src/contract/line-progress.ts'

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
  rules: [],
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

test('somebody who is asked alone and by name needs no reason', () => {
  expect(progressFor('Ada', [line(1, ['Ada'])])).toBeUndefined()
})

test('somebody who is asked reads for which group, and waits for the others', () => {
  const lines = [
    { ...line(2, ['Ada'], ['Bob', 'approved'], ['Eve']), group: 'sre' },
    { ...line(1, ['Dan'], ['Eve']), group: 'dba' },
  ]
  expect(progressFor('Ada', lines)).toEqual({
    groups: ['sre'],
    approved: 1,
    needed: 3,
    waiting: ['Eve', 'Dan'],
  })
  expect(progressFor('Eve', lines)).toMatchObject({ groups: ['sre', 'dba'], waiting: ['Ada', 'Dan'] })
  expect(progressFor('Ada', [{ ...line(1, ['Ada']), group: 'solo' }])).toEqual({
    groups: ['solo'],
    approved: 0,
    needed: 1,
    waiting: [],
  })
})
