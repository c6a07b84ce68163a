import { call, Refused, type Session } from '../calls/api.ts'
import type { Mutes } from '../calls/api.ts'
import { nodes, t } from '../language/text.ts'
import { button, h } from '../shell/element.ts'
import { problemLine, sentenceFor, show, showOutcome } from '../shell/frame.ts'
import { openList } from '../shell/open-list.ts'
import { exactText } from '../shell/text.ts'
import { timeText } from '../shell/time.ts'
import { unmute } from './unmute.ts'

type Mute = Mutes['mutes'][number]

const row = (session: Session, mute: Mute): HTMLElement => {
  const { mute_id, credential, requester, until } = mute
  const problem = problemLine()
  const item = h('li', { class: 'member' })
  const lift = (): Promise<void> =>
    problem.attempt(
      async () => {
        await unmute(mute_id, session)
        showOutcome(item, t('mutes.unmuted'))
      },
      (error) =>
        error instanceof Refused && error.status === 404
          ? showOutcome(item, t('mutes.over'))
          : problem.say(sentenceFor(error)),
    )
  item.append(
    h(
      'h3',
      {},
      requester === null
        ? exactText(credential)
        : nodes('mutes.agentOfTools', { name: exactText(requester) }),
    ),
    h('p', { class: 'who' }, t('mutes.until', { time: timeText(until) })),
    problem.element,
    button(t('mutes.unmute'), 'plain', lift, {
      'aria-label': t('mutes.unmuteName', { name: requester ?? credential }),
    }),
  )
  return item
}

const showList = (session: Session, { mutes }: Mutes): void =>
  void show(
    t('mutes.title'),
    h('a', { class: 'back', href: '#' }, t('common.allRequests')),
    h('h1', {}, t('mutes.title')),
    h('p', { class: 'aside' }, t(mutes.length > 0 ? 'mutes.what' : 'mutes.none')),
    mutes.length > 0 && h('ul', { class: 'cards' }, ...mutes.map((one) => row(session, one))),
  )

/** The requesters that this person reported in one organization, while their mutes last. */
export const openMutes = (session: Session, isHere: () => boolean): Promise<void> =>
  openList({
    drawing: 'bell',
    title: t('mutes.title'),
    read: () => call('listOwnMutes', {}, { org: session.org_id }),
    isHere,
    show: (found) => showList(session, found),
  })
