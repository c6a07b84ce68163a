/** Of a day of January 2024, which began with a Monday. */
const weekday = (day: number, locale: string): string =>
  new Date(2024, 0, day).toLocaleDateString(locale, { weekday: 'short' })

/** `Office hours (Mon-Fri 09:00-17:30)`, as the service writes it, with the weekdays in the language of the page. */
export const hoursText = (text: string, locale: string): string => {
  const at = text.lastIndexOf('(') + 1
  if (at === 0 || locale.startsWith('en')) return text
  const days = [1, 2, 3, 4, 5, 6, 7].map((day) => [weekday(day, 'en'), weekday(day, locale)] as const)
  const ofDay = new Map([...days, ['daily', `${days[0]![1]}-${days[6]![1]}`]])
  return text.slice(0, at) + text.slice(at).replaceAll(/[a-z]+/gi, (word) => ofDay.get(word) ?? word)
}

/** The form of the word before a time: Spanish and Portuguese have a singular for one o'clock. */
export const hourForm = (time: string): 'one' | 'other' => (/^0?1\D/.test(time) ? 'one' : 'other')
