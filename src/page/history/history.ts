import { call, type Decisions, type OrganizationDecisions, type Session } from '../calls/api.ts'
import { t } from '../language/text.ts'
import { button, div, h, ul } from '../shell/element.ts'
import { problemLine, type View } from '../shell/frame.ts'
import { showReading } from '../shell/reading.ts'
import { decisionRow } from './decision-rows.ts'

type Page = Decisions | OrganizationDecisions

/** A list of decided requests. Older pages are read on demand. */
export const decisionList = (
  first: Page,
  read: (before: string) => Promise<Page>,
  isNamed = true,
): (Node | false)[] => {
  const list = ul('cards')
  const problem = problemLine()
  const more = div('actions')
  const add = ({ decisions, next }: Page): void => {
    list.append(...decisions.map((one) => decisionRow(one, isNamed)))
    more.replaceChildren(
      ...(next === null
        ? []
        : [
            button(t('history.older'), 'plain', () =>
              problem.attempt(async () => {
                const last = list.lastElementChild
                add(await read(next))
                // The button is gone; whoever tapped it goes on with what it brought.
                last?.nextElementSibling?.querySelector('a')?.focus({ preventScroll: true })
                // The list goes on; a new drawing would begin again.
                list.classList.add('editing')
              }),
            ),
          ]),
    )
  }
  add(first)
  return [list, problem.element, more]
}

/** The decisions of a person, by the organization if they have several. */
export const historyTitle = ({ organization }: Session, sessions: readonly Session[]): string =>
  sessions.length > 1 ? t('history.titleIn', { organization }) : t('history.title')

/** What this person was asked and what became of it, newest first. */
export const showHistory = (session: Session, sessions: readonly Session[]): View => {
  const org = session.org_id
  const read = (before?: string) => call('listOwnDecisions', { before }, { org })
  return showReading({
    title: historyTitle(session, sessions),
    read: () => read(),
    draw: (page) =>
      page.decisions.length === 0 ? [h('p', 'aside', t('history.none'))] : decisionList(page, read),
  })
}

/** For administrators: what everybody in the organization was asked. */
export const showActivity = ({ org_id: org }: Session): View => {
  const read = (before?: string) => call('listDecisions', { before }, { org })
  return showReading({
    title: t('history.activity'),
    back: { href: '#members', text: t('members.title') },
    read: () => read(),
    draw: (page) =>
      page.decisions.length === 0
        ? [h('p', 'aside', t('history.noneOfAnybody'))]
        : [h('p', 'aside', t('history.filter')), ...decisionList(page, read)],
  })
}
