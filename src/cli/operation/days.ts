import { weekdays } from '../../core/weekdays.ts'

const wholeNames = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']

/** The position of a day in the week; `mon` and `monday` are the same. -1 for anything else. */
const position = (day: unknown): number =>
  typeof day === 'string' && day.length >= 3
    ? wholeNames.findIndex((name) => name.startsWith(day.trim().toLowerCase()))
    : -1

/** `mon-fri`, `fri-mon`: every day from the first to the last, across the end of the week if necessary. */
const span = (word: unknown): unknown[] => {
  const text = typeof word === 'string' ? word.trim() : ''
  if (/^daily$/i.test(text)) return [...weekdays]
  const [, from, to] = /^([a-z]{3,9})-([a-z]{3,9})$/i.exec(text) ?? []
  const [first, last] = from === undefined ? [position(word), position(word)] : [position(from), position(to)]
  if (first < 0 || last < 0) return [word]
  return Array.from({ length: ((last - first + 7) % 7) + 1 }, (_, i) => weekdays[(first + i) % 7]!)
}

/** Days as people write them (`mon-fri`, `mon,wed`, `daily`), as the service takes them. What is not a day is kept. */
export const expandDays = (days: unknown): unknown => {
  const words: unknown = typeof days === 'string' ? days.split(',') : days
  if (!Array.isArray(words)) return days
  return [...new Set(words.flatMap(span))].toSorted((a, b) => position(a) - position(b))
}

/** The first entry that is not a day. */
export const strangeDay = (days: unknown): unknown =>
  Array.isArray(days) ? days.find((day) => position(day) < 0) : undefined

/** Time slots whose days are written as ranges, as the service takes them. */
export const expandSlots = (slots: unknown): unknown =>
  Array.isArray(slots)
    ? slots.map((slot: unknown) =>
        typeof slot === 'object' && slot !== null && 'days' in slot
          ? { ...slot, days: expandDays(slot.days) }
          : slot,
      )
    : slots
