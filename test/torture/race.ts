import type { Result, Torture } from './torture.ts'

/** What a race has counted so far. */
export type Tally = Pick<Result, 'count' | 'failures' | 'hits'> & {
  examples: string[]
  hit(what: string, times?: number): void
  wrong(example: string, times?: number): void
}

const examplesAtMost = 5

export const createTally = (): Tally => {
  const tally: Tally = {
    count: 0,
    failures: 0,
    hits: {},
    examples: [],
    hit: (what, times = 1) => void (tally.hits[what] = (tally.hits[what] ?? 0) + times),
    wrong: (example, times = 1) => {
      tally.failures += times
      if (times > 0 && tally.examples.length < examplesAtMost) tally.examples.push(example)
    },
  }
  return tally
}

/** A row that runs a race on the real service, and then on one with broken handlers as its control. */
export const race = <Broken>(
  { name, must }: Pick<Torture, 'name' | 'must'>,
  kind: (tally: Tally, n: number, broken?: Broken) => Promise<void>,
  { n, control, broken }: { n: number; control: number; broken: Broken },
): Torture => ({
  name,
  must,
  run: async () => {
    const honest = createTally()
    await kind(honest, n)
    const other = createTally()
    await kind(other, control, broken)
    const { count, failures, hits, examples } = honest
    return { count, failures, hits, examples, control: other.failures }
  },
})
