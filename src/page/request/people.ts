import type { Pending } from '../calls/api.ts'
import { locale, nodes, t } from '../language/text.ts'
import { div, h } from '../shell/element.ts'
import { momentText } from '../language/time.ts'
import { exactLine, exactNames, exactText, joined } from '../shell/text.ts'

/** Who denied the same before. */
export const deniedBefore = ({ name, own, at }: NonNullable<Pending['earlier_denial']>): Node =>
  own
    ? nodes('request.youDeniedBefore', { when: momentText(at) })
    : nodes('request.deniedBefore', { name: exactLine(name), when: momentText(at) })

/** Who reported the requester. */
export const reportedText = ({ name, own }: NonNullable<Pending['reported']>): Node | string =>
  own ? t('request.youReported') : nodes('request.reportedBy', { name: exactLine(name) })

type Line = NonNullable<Pending['lines']>[number]

/** `Ada Lovelace (approved)`, with the name as it is. */
const answered = ({ name, answer, quiet }: Line['people'][number]): Node => {
  const said =
    answer === 'pending'
      ? quiet && t('request.notNotified')
      : t('history.decided', { decision: answer === 'approved' ? answer : 'other' })
  return h('span', {}, exactText(name), said && h('em', {}, ` (${said})`))
}

/** Who must approve, line by line, and because of which rules; nothing if only one person is asked, and by name. */
export const peopleLines = (lines: readonly Line[]): Node[] =>
  lines.length < 2 && (lines[0]?.people.length ?? 0) < 2 && !lines[0]?.rules.length
    ? []
    : lines.map(({ group, need, people, rules }) =>
        div(
          'of',
          ...(group === null ? [] : [exactText(`@${group}`), ': ']),
          group === null && people.length === 1
            ? answered(people[0]!)
            : nodes('request.lineOf', { need: String(need), people: joined(people.map(answered), 'unit') }),
          ...rules.map((rule) => nodes('request.because', { rule: exactText(rule) })),
        ),
      )

/** What other people answered. */
export const othersText = (status: string, by: readonly string[]): Node => {
  const names = exactNames(by, 'conjunction')
  if (status !== 'approved') return nodes('request.deniedBy', { name: names })
  return by.length > 1
    ? nodes('request.approvedByAll', { names })
    : nodes('request.approvedBy', { name: names })
}

const mostNamed = 3

type Progress = Pending['progress']

/** Whose answers are missing. */
export const waitingLines = (
  progress: Progress,
  key: 'request.waitingFor' | 'request.alsoWaitingFor' | 'request.alsoAsked' = 'request.waitingFor',
): Node[] => {
  const { waiting = [] } = progress ?? {}
  const more = waiting.length - mostNamed
  const named = waiting.slice(0, mostNamed).map((name) => exactText(name))
  const others = more > 0 ? [`+${more.toLocaleString(locale())}`] : []
  return waiting.length > 0 ? [nodes(key, { people: joined([...named, ...others], 'unit') })] : []
}

/** Why the reader is asked, and how far it is with the others. */
export const progressLines = (progress: Progress): (Node | string)[] => {
  if (!progress) return []
  const { groups, approved, needed } = progress
  const kind = groups.length > 0 ? 'group' : 'other'
  const names = exactNames(groups.map((name) => `@${name}`))
  // One more yes is enough, and it can be that of the reader.
  const isLast = needed - approved === 1
  return [
    nodes('request.progress', { kind, groups: names, approved, needed }),
    ' ',
    ...waitingLines(progress, isLast ? 'request.alsoAsked' : 'request.alsoWaitingFor'),
  ]
}
