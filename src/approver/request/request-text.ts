import { conditionList } from './conditions.ts'
import { h } from '../shell/element.ts'
import type { PendingRequest } from '../calls/feed.ts'
import { exactText, headline, requesterText } from '../shell/text.ts'
import { t } from '../language/text.ts'

const line = (label: string, ...value: (Node | string)[]): HTMLElement =>
  h('div', { class: 'line' }, h('dt', {}, label), h('dd', {}, ...value))

type Field = NonNullable<PendingRequest['subject']>['fields'][number]

const fieldLine = ({ label, value, before }: Field): HTMLElement =>
  before === undefined
    ? line(label, exactText(value))
    : line(label, h('del', {}, exactText(before)), ' ', h('ins', {}, exactText(value)))

type Asked = Pick<PendingRequest, 'action' | 'subject' | 'reason' | 'requester' | 'verified_as'>

/** The fields of the subject, then the claims of the requester. */
export const requestLines = ({ action, subject, reason, ...who }: Asked): HTMLElement[] => [
  ...(subject?.fields ?? []).map(fieldLine),
  ...(action === headline({ action, subject }) ? [] : [line(t('request.inTheirWords'), exactText(action))]),
  ...(reason === null ? [] : [line(t('request.reason'), exactText(reason))]),
  line(t('request.requester'), requesterText(who)),
]

/** The request: the headline and fields of the subject that will be signed, then the claims of the requester. */
export const requestText = (request: PendingRequest): HTMLElement => {
  return h(
    'section',
    { class: 'paper' },
    h('h1', { class: 'action' }, exactText(headline(request))),
    h('dl', {}, ...requestLines(request), line(t('request.checked'), conditionList(request))),
  )
}
