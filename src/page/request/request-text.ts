import { conditionList } from './conditions.ts'
import { call } from '../calls/api.ts'
import { button, div, h, put } from '../shell/element.ts'
import { problemLine } from '../shell/frame.ts'
import type { PendingRequest } from '../calls/feed.ts'
import { isOwn, ownFields } from './own-fields.ts'
import { isLong, longText } from './reading.ts'
import { deniedBefore, peopleLines, reportedText } from './people.ts'
import { requesterLines } from '../shell/requester.ts'
import { exactLine, exactNames, exactText, framed, headline } from '../shell/text.ts'
import { whenText } from '../language/time.ts'
import { labelKey } from '../language/message.ts'
import { isKey, nodes, t } from '../language/text.ts'

export const line = (label: Node | string, ...value: (Node | string)[]): HTMLElement =>
  div('line', h('dt', {}, label), h('dd', {}, ...value))

type Field = NonNullable<PendingRequest['subject']>['fields'][number]

/** In the language of the page, unless it is a name in the data. */
const fieldLabel = (label: string): Node | string => {
  const key = labelKey(label)
  return key !== undefined && isKey(key) ? t(key) : longText(label)
}

/** Each word of a command has a frame, which shows what is one word; long ones are folded, as quoted for a shell. */
export const fieldLine = ({ label, value, before }: Field, argv?: readonly string[]): HTMLElement =>
  before === undefined
    ? line(
        fieldLabel(label),
        ...(argv && label === 'Command' && !isLong(value)
          ? [h('bdi', { dir: 'ltr' }, ...argv.flatMap((word) => [framed(word), ' ']))]
          : [longText(value)]),
      )
    : line(fieldLabel(label), h('del', {}, longText(before)), ' ', h('ins', {}, longText(value)))

/** The words of a command; undefined for any other subject. */
export const argvOf = (subject: PendingRequest['subject']): readonly string[] | undefined =>
  (subject?.data as { argv?: readonly string[] } | undefined)?.argv

type Shown = Pick<NonNullable<PendingRequest['subject']>, 'data' | 'fields'>

const plainLines = ({ fields }: Shown): HTMLElement[] => fields.map((field) => fieldLine(field))

/** As it is signed, on demand. While it is closed, it has no text that would have to be read. */
const exactLines = (subject: Shown): HTMLElement => {
  const content = div('')
  const part = h('details', {}, h('summary', {}, t('request.showAll')), content)
  part.addEventListener('toggle', () => put(content, part.open && h('dl', {}, ...plainLines(subject))))
  return part
}

/** The fields of a subject that svc itself wrote, in words and as they are signed. */
const ownLines = (subject: Shown): HTMLElement[] => {
  const { from, lines } = ownFields(subject)
  return [
    ...plainLines({ ...subject, fields: subject.fields.slice(0, from) }),
    ...lines.map(([label, ...value]) => line(label, ...value)),
    ...(lines.length > 0 ? [line(t('field.exact'), exactLines(subject))] : []),
  ]
}

type Asked = Pick<PendingRequest, 'action' | 'subject' | 'reason' | 'origin'>

const subjectLines = (request: Asked): HTMLElement[] => {
  const { subject } = request
  if (!subject) return []
  if (isOwn(request)) return ownLines(subject)
  const lines = (fields: Field[]): HTMLElement[] => fields.map((field) => fieldLine(field, argvOf(subject)))
  if (subject.type !== 'tool_call') return lines(subject.fields)
  // Apart from our own labels, whatever their names are.
  const chosen = subject.fields.filter(({ label }) => labelKey(label) === undefined)
  return [
    ...lines(subject.fields.filter((field) => !chosen.includes(field))),
    ...(chosen.length > 0 ? [line(t('request.arguments'), h('dl', 'parts given', ...lines(chosen)))] : []),
  ]
}

/** The fields of the subject, then the words of the requester: also those that the headline has in one line. */
export const requestLines = (request: Asked): HTMLElement[] => {
  const { action, subject, reason } = request
  return [
    ...subjectLines(request),
    ...(action === headline({ action, subject }) && !action.includes('\n')
      ? []
      : [line(t('request.inTheirWords'), longText(action))]),
    ...(reason === null ? [] : [line(t('request.reason'), longText(reason))]),
  ]
}

type From = Pick<PendingRequest, 'origin' | 'requested_at'>

/** When and from where it was requested. */
export const originLines = ({ origin, requested_at }: From): (HTMLElement | false)[] => {
  const { address, network, via } = origin
  const from =
    address !== null && network !== null ? t('requester.addressInNetwork', { address, network }) : address
  return [
    line(t('requester.requested'), whenText(requested_at)),
    from !== null && line(t('requester.from'), from),
    via !== 'api' && line(t('requester.through'), t(via === 'tools' ? 'requester.tools' : 'requester.rule')),
  ]
}

const earlierDenial = (earlier: NonNullable<PendingRequest['earlier_denial']>): HTMLElement =>
  h(
    'p',
    'warning',
    deniedBefore(earlier),
    ...(earlier.note === undefined ? [] : [' ', nodes('history.note', { note: exactText(earlier.note) })]),
  )

const firstTime = ({ origin: { credential } }: Pick<PendingRequest, 'origin'>): HTMLElement => {
  const kind = credential?.kind === 'key' || credential?.kind === 'agent' ? credential.kind : 'other'
  return h('span', 'who', h('strong', {}, t('requester.firstTime', { kind })))
}

/** In an emergency, whom nobody asks, and who was told. */
export const breakGlassText = ({
  reason,
  skipped,
  told,
}: NonNullable<PendingRequest['break_glass']>): HTMLElement =>
  div(
    'problem emergency',
    h('p', {}, nodes('request.breakGlass', { reason: exactText(reason) })),
    h('p', {}, nodes('request.notAsked', { skipped: exactNames(skipped) })),
    h('p', {}, nodes('request.told', { told: exactNames(told) })),
  )

/** From here on, a headline is a text, and not in bold type. */
const longTitle = 160

/**
 * The request: the headline, who asks, and the fields of the subject that will be signed; then the requester's words. Where it
 * came from and what is checked comes last. `signed` ends with what must be read.
 */
export const requestText = (request: PendingRequest): { element: HTMLElement; signed: HTMLElement } => {
  const words = requestLines(request)
  const { earlier_denial: earlier } = request
  const title = headline(request)
  const signed = div(
    'signed',
    // Nothing verified stands for a text, also not what is said below of who wrote it.
    request.subject?.type === 'text' && h('p', 'who', t('request.inTheirWords')),
    h('h1', title.length > longTitle ? 'action long-title' : 'action', exactLine(title)),
    request.break_glass && breakGlassText(request.break_glass),
    // Before the claimed name, so that foreign text comes last.
    div('asker', request.first_time === true && firstTime(request), ...requesterLines(request.origin)),
    request.reported && h('p', 'warning', reportedText(request.reported)),
    earlier && earlierDenial(earlier),
    words.length > 0 && h('dl', {}, ...words),
  )
  const people = peopleLines(request.lines ?? [])
  const facts = h(
    'dl',
    'facts',
    people.length > 0 && line(t('request.approvers'), ...people),
    ...originLines(request),
    line(t('request.checked'), conditionList(request)),
  )
  return { element: h('section', 'paper', signed, facts), signed }
}

/** The changes that a request asks for together, read on demand; each can be opened. Nothing for any other request. */
export const rowList = ({ request_id, session, subject }: PendingRequest): HTMLElement | false => {
  if (subject?.data['operation'] !== 'batch') return false
  const list = div('rows')
  const problem = problemLine()
  const read = () =>
    problem.attempt(async () => {
      const from = list.childElementCount
      const { rows, left } = await call('listRequestRows', { request_id, from }, { org: session.org_id })
      for (const { summary, ...row } of rows)
        list.append(h('details', {}, h('summary', {}, exactLine(summary)), h('dl', {}, ...ownLines(row))))
      put(more, left > 0 && button(t('request.more', { count: left }), 'quiet', read))
    })
  const more = div('actions', button(t('request.showAll'), 'quiet', read))
  return div('rows', list, problem.element, more)
}
