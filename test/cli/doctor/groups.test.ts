import { describe, expect, test } from 'vitest'
import { reviewGroups } from '../../../src/cli/doctor/groups.ts'

const found = (members: string[], asleep: string[]) =>
  reviewGroups([{ name: 'sre', members, asleep }], 1).map(({ state, message, next }) => [
    state,
    message,
    next,
  ])

describe('the groups of an organization', () => {
  test('are not mentioned if there are none', () => {
    expect(reviewGroups([], 1)).toEqual([])
  })

  test('are fine if everybody can be asked', () => {
    expect(found(['3', '7'], [])).toEqual([['ok', 'everybody in the groups can be asked', undefined]])
  })

  test('are reported with the members who are asleep', () => {
    expect(found(['3', '7'], ['7'])).toEqual([
      [
        'warn',
        'user 7 of @sre cannot be asked: on hold, or without an active device',
        'svc user enroll 7 --org 1',
      ],
    ])
  })

  test.each([
    ['is asleep', ['3'], ['3']],
    ['has left', [], []],
  ])('are reported if everybody %s', (_, members, asleep) => {
    expect(found(members, asleep)).toEqual([
      ['warn', 'nobody in @sre can be asked', 'svc group get sre --org 1, then svc group add'],
    ])
  })
})
