import { call, type Session } from '../calls/api.ts'
import { t } from '../language/text.ts'
import { type Away, awayText, dayText } from '../language/time.ts'
import { button, div, h, labelled } from '../shell/element.ts'
import { problemLine, type View } from '../shell/frame.ts'
import { showReading, type Screen } from '../shell/reading.ts'
import { signed } from '../shell/signed.ts'

const dayMs = 86_400_000
/** What the service accepts. It would refuse more only after the check of the device. */
const mostDays = { own: 30, ofOthers: 3 }

/** A day of this phone, as its date field has it. Swedish dates are ISO 8601. */
const dayAfter = (days: number): string => new Date(Date.now() + days * dayMs).toLocaleDateString('sv')

/** When a day begins on this phone. */
const startOf = (day: string): string => new Date(`${day}T00:00`).toISOString()

/**
 * When a person is away, and the fields that change it, which this device signs. `of`: another member, for an administrator.
 */
export const awayForm = (
  away: Away | null,
  { session, screen, of }: { session: Session; screen: Screen; of?: { user_id: string } },
): HTMLElement => {
  const problem = problemLine()
  const [from, until] = (['from', 'until'] as const).map((name, days) =>
    h('input', {
      type: 'date',
      id: `away-${name}`,
      value: dayAfter(days),
      min: dayAfter(days),
    }),
  ) as [HTMLInputElement, HTMLInputElement]
  const keep = (wanted: { from?: string; until?: string; end?: true }, said: string): Promise<void> =>
    screen.act(problem, async () => {
      await signed('signAway', session, { ...wanted, ...of })
      screen.tell(said)
    })
  const set = (): unknown => {
    if (!from.value || until.value <= from.value) return screen.refuse(problem, t('away.order'))
    const wanted = { from: startOf(from.value), until: startOf(until.value) }
    const days = of ? mostDays.ofOthers : mostDays.own
    // A day that has begun starts now.
    const latest = new Date(Math.max(Date.now(), Date.parse(wanted.from)) + days * dayMs).toISOString()
    if (wanted.until > latest) {
      return screen.refuse(problem, t('away.tooLong', { days, date: dayText(latest) }))
    }
    return keep(wanted, t('away.kept'))
  }
  return h(
    'section',
    'content',
    h('p', {}, away ? awayText(away) : t('away.none')),
    away && button(t('away.end'), 'plain', () => keep({ end: true }, t('away.ended'))),
    div('pair', labelled(t('away.from'), from), labelled(t('away.until'), until)),
    problem.element,
    button(t('away.set'), of ? 'plain' : 'primary', set),
  )
}

/** When this person is away. */
export const showAway = (session: Session): View =>
  showReading({
    title: t('away.title'),
    read: () => call('getAway', {}, { org: session.org_id }),
    draw: ({ away }, screen) => [h('p', 'aside', t('away.what')), awayForm(away, { session, screen })],
  })
