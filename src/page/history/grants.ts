import { call, type Decisions, type Session } from '../calls/api.ts'
import { nodes, t } from '../language/text.ts'
import { dateText } from '../language/time.ts'
import { button, h, ul } from '../shell/element.ts'
import { problemLine } from '../shell/frame.ts'
import type { Screen } from '../shell/reading.ts'
import { unless } from '../shell/signed.ts'
import { exactLine, exactText, framed, joined } from '../shell/text.ts'

type Grant = Decisions['grants'][number]

const row = (
  { request_id, credential, what, varying, used, uses, ends_at }: Grant,
  { org_id: org }: Session,
  screen: Screen,
): HTMLElement => {
  const problem = problemLine()
  const end = (): Promise<void> =>
    screen.act(problem, async () => {
      // It may have ended by its time.
      await call('endOwnGrant', { request_id }, { org }).catch(unless('not_found'))
      screen.tell(t('history.allowedEnded'))
    })
  return h(
    'li',
    'member',
    h('h3', {}, exactLine(what)),
    h('p', 'who', exactText(credential)),
    h(
      'p',
      {},
      varying.length === 0
        ? t('history.allowedSame')
        : nodes('history.allowedOther', { parts: joined(varying.map(framed), 'conjunction') }),
    ),
    h('p', 'who', t('history.allowedUses', { used, uses, date: dateText(ends_at) })),
    problem.element,
    button(t('history.end'), 'danger', end, t('history.endName', { what })),
  )
}

/** What this person allowed again and that has not ended. */
export const grantList = (grants: readonly Grant[], session: Session, screen: Screen): HTMLElement | false =>
  grants.length > 0 &&
  h(
    'section',
    'content',
    h('h2', {}, t('history.allowed')),
    ul('cards', ...grants.map((one) => row(one, session, screen))),
  )
