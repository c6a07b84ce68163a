import type { Labels, Sample } from './exposition.ts'

/** Counts values by upper bounds, which must ascend. */
export const createHistogram = (bounds: readonly number[]) => {
  const counts = Array.from({ length: bounds.length + 1 }, () => 0)
  let sum = 0
  return {
    observe: (value: number): void => {
      let bucket = 0
      while (bucket < bounds.length && value > bounds[bucket]!) bucket += 1
      counts[bucket]! += 1
      sum += value
    },
    samples: (labels: Labels = {}): Sample[] => {
      let below = 0
      const buckets = counts.map((count, i): Sample => {
        below += count
        const le = i < bounds.length ? String(bounds[i]) : '+Inf'
        return { suffix: '_bucket', labels: { ...labels, le }, value: below }
      })
      return [...buckets, { suffix: '_sum', labels, value: sum }, { suffix: '_count', labels, value: below }]
    },
  }
}

export type Histogram = ReturnType<typeof createHistogram>
