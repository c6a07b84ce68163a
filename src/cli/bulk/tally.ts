import { grouped } from './progress.ts'

/** As much of a long list of errors as a person reads. */
const mostLines = 20
/** Of errors that are alike, once there are more than that. */
const mostAlike = 3

type Kind<T> = { first: T[]; count: number }

/**
 * Counts errors, and keeps the first of each kind: 5,000 rows without a plus are one mistake. `like` is the same text for
 * errors of one kind, whatever numbers are in it.
 */
export const createTally = <T>(like: (item: T) => string) => {
  const first: T[] = []
  const kinds = new Map<string, Kind<T>>()
  let count = 0
  return {
    add: (item: T): void => {
      count += 1
      if (first.length < mostLines) first.push(item)
      const name = like(item).replace(/\d+/g, '0')
      const kind = kinds.get(name)
      if (kind) {
        kind.count += 1
        if (kind.first.length < mostAlike) kind.first.push(item)
      } else if (kinds.size < mostLines) kinds.set(name, { first: [item], count: 1 })
    },
    get count() {
      return count
    },
    /** What is shown, and how many are neither shown nor alike. `more` stands behind the last of each kind. */
    report: (): { shown: { item: T; more: string }[]; left: number } => {
      if (count <= mostLines) return { shown: first.map((item) => ({ item, more: '' })), left: 0 }
      const shown: { item: T; more: string }[] = []
      let left = count
      for (const { first: alike, count: all } of kinds.values()) {
        if (shown.length + alike.length > mostLines) break
        left -= all
        const more = all > alike.length ? ` (and ${grouped(all - alike.length)} more like this)` : ''
        shown.push(...alike.map((item, i) => ({ item, more: i === alike.length - 1 ? more : '' })))
      }
      return { shown, left }
    },
  }
}
