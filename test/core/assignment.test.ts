import { describe, expect, test } from 'vitest'
import { assign, type LineOfPeople } from '../../src/core/assignment.ts'

type Case = { lines: LineOfPeople[]; agreed: string[]; counts: boolean[][] }

/** Every way to give people lines, one after the other. */
const isPossible = (
  { lines, agreed, counts }: Case,
  at = 0,
  left = lines.map(({ need }) => need),
): boolean => {
  if (left.every((need) => need === 0)) return true
  if (at === agreed.length) return false
  return (
    isPossible({ lines, agreed, counts }, at + 1, left) ||
    lines.some(
      ({ people }, line) =>
        left[line]! > 0 &&
        counts[at]![line]! &&
        people.includes(agreed[at]!) &&
        isPossible({ lines, agreed, counts }, at + 1, left.with(line, left[line]! - 1)),
    )
  )
}

const solve = ({ lines, agreed, counts }: Case) =>
  assign(
    lines,
    agreed.map((id, at) => ({ id, counts: (line) => counts[at]![line]! })),
  )

/** Whether it finds an assignment exactly if there is one, and one that is right. */
const isRight = (one: Case): boolean => {
  const assignment = solve(one)
  if (!assignment) return !isPossible(one)
  const all = assignment.flat()
  return (
    isPossible(one) &&
    new Set(all).size === all.length &&
    one.lines.every(
      ({ people, need }, line) =>
        assignment[line]!.length === need &&
        assignment[line]!.every((id) => people.includes(id) && one.counts[one.agreed.indexOf(id)]![line]),
    )
  )
}

/** The same numbers in each run. */
const numbersFrom = (seed: number) => (below: number) => {
  seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0
  return Math.floor((seed / 2 ** 32) * below)
}

const ids = ['1', '2', '3', '4', '5', '6']

const randomCase = (random: (below: number) => number): Case => {
  const lines = Array.from({ length: 1 + random(4) }, () => {
    const people = ids.filter(() => random(2) === 0)
    return { people, need: 1 + random(Math.max(1, Math.min(3, people.length))) }
  })
  const agreed = ids.filter(() => random(4) > 0)
  return { lines, agreed, counts: agreed.map(() => lines.map(() => random(8) > 0)) }
}

describe('people who agreed', () => {
  test('are found for every line exactly if there is any way, in 10,000 requests', () => {
    const random = numbersFrom(7)
    const cases = Array.from({ length: 10_000 }, () => randomCase(random))
    expect(cases.filter((one) => !isRight(one))).toEqual([])
    const assigned = cases.filter((one) => solve(one)).length
    expect(assigned).toBeGreaterThan(2_000)
    expect(assigned).toBeLessThan(8_000)
  })

  test('satisfy one line each, however many ask for them', () => {
    const line = { people: ['1'], need: 1 }
    const counts = [[true, true]]
    expect(solve({ lines: [line], agreed: ['1'], counts })).toEqual([['1']])
    expect(solve({ lines: [line, line], agreed: ['1'], counts })).toBeUndefined()
  })

  test('are found among many lines that each could fill', () => {
    const people = Array.from({ length: 200 }, (_, at) => String(at))
    const lines = Array.from({ length: 10 }, () => ({ people, need: 20 }))
    const counts = people.map(() => lines.map(() => true))
    const started = performance.now()
    expect(solve({ lines, agreed: people, counts })?.flat()).toHaveLength(200)
    expect(solve({ lines, agreed: people.slice(1), counts })).toBeUndefined()
    expect(performance.now() - started).toBeLessThan(2_000)
  })
})
