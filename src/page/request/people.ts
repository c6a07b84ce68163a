import type { Outcome } from '../calls/api.ts'
import { locale, nodes, t } from '../language/text.ts'
import { div, h } from '../shell/element.ts'
import { exactText } from '../shell/text.ts'

type Line = NonNullable<Outcome['lines']>[number]
type Asked = Line['people'][number]

/** `Ada Lovelace, Grace Hopper`, each name as it is. */
const listed = <P>(people: readonly P[], shown: (one: P) => Node[]): Node => {
  const parts = new Intl.ListFormat(locale(), { type: 'unit', style: 'short' }).formatToParts(
    people.map((_, at) => String(at)),
  )
  return h(
    'span',
    {},
    ...parts.flatMap(({ type, value }): (Node | string)[] =>
      type === 'element' ? shown(people[Number(value)]!) : [value],
    ),
  )
}

const named = ({ name }: Pick<Asked, 'name'>): Node[] => [exactText(name)]

const answered = (one: Asked): Node[] =>
  one.answer === 'pending'
    ? named(one)
    : [
        ...named(one),
        h(
          'em',
          {},
          ` (${t('history.decided', { decision: one.answer === 'approved' ? 'approved' : 'other' })})`,
        ),
      ]

/** Who must approve besides, line by line; nothing if only one person is asked. */
export const peopleLines = (lines: readonly Line[]): Node[] =>
  lines.length < 2 && (lines[0]?.people.length ?? 0) < 2
    ? []
    : lines.map(({ group, need, people }) =>
        div(
          'of',
          ...(group === null ? [] : [`@${group}: `]),
          nodes('request.lineOf', { need: String(need), people: listed(people, answered) }),
        ),
      )

/** Those of a line that lacks a yes who have not answered. */
export const waitingLines = (lines: readonly Line[]): Node[] => {
  const open = lines.filter(
    ({ need, people }) => people.filter(({ answer }) => answer === 'approved').length < need,
  )
  const waiting = open.flatMap((line) => line.people).filter(({ answer }) => answer === 'pending')
  const people = [...new Map(waiting.map((one) => [one.user_id, one])).values()]
  return people.length === 0 ? [] : [nodes('request.waitingFor', { people: listed(people, named) })]
}
