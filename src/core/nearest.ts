/** Whether one insertion, deletion, substitution or swap of neighbours turns `a` into `b`; two if either is longer than five. */
const close = (a: string, b: string): boolean => {
  const rows = Array.from({ length: a.length + 1 }, (_, i) =>
    Array.from({ length: b.length + 1 }, (_, j) => (i === 0 ? j : i)),
  )
  for (let i = 1; i <= a.length; i++)
    for (let j = 1; j <= b.length; j++) {
      const change = rows[i - 1]![j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const swap = swapped ? rows[i - 2]![j - 2]! + 1 : Infinity
      rows[i]![j] = Math.min(rows[i - 1]![j]! + 1, rows[i]![j - 1]! + 1, change, swap)
    }
  return rows[a.length]![b.length]! <= (Math.max(a.length, b.length) > 5 ? 2 : 1)
}

const bare = (name: string): string => name.toLowerCase().replace(/[_-]/g, '')

/** The known name that is most similar to `name`; undefined if none is similar. */
export const nearest = (name: string, known: readonly string[]): string | undefined =>
  // A long name is not a typing error, and comparing it is slow.
  name.length > 40 ? undefined : known.find((one) => bare(one) === bare(name) || close(name, one))
