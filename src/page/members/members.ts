import { call, type Member, type Members, type Session } from '../calls/api.ts'
import { askFirst } from '../devices/own-device.ts'
import { t } from '../language/text.ts'
import { button, div, h, ul, pair } from '../shell/element.ts'
import { problemLine, type View } from '../shell/frame.ts'
import { showReading, type Screen } from '../shell/reading.ts'
import { exactText, nameOf } from '../shell/text.ts'
import { dateText } from '../language/time.ts'
import { activeMembers } from './active-members.ts'
import { isAdmin } from './administrator.ts'
import { type MemberMove, moveMember } from './move.ts'

export const nobody: Members = { members: [], total: 0 }

type Around = { session: Session; screen: Screen; changed: () => void }

/** Makes a change, and shows its result above the list. */
const take = async (
  member: Member,
  move: MemberMove,
  { session, screen, changed }: Around,
): Promise<void> => {
  screen.tell(...(await moveMember(session, member, move)))
  changed()
}

const waitingRow = (member: Member, around: Around): HTMLElement => {
  const name = nameOf(member)
  const item = h('li', 'member')
  const problem = problemLine()
  const accept = (): Promise<void> => around.screen.act(problem, () => take(member, 'accept', around))
  const reject = (): void =>
    askFirst(item, {
      lines: [t('members.rejectQuestion', { name })],
      label: t('members.reject'),
      work: () => take(member, 'reject', around),
      done: around.screen.refresh,
    })
  item.append(
    h('h3', {}, exactText(name)),
    h('p', 'who', exactText(member.mobile)),
    member.email ? h('p', 'who', exactText(member.email)) : '',
    h('p', 'who', t('members.since', { date: dateText(member.updated_at) })),
    problem.element,
    pair(name, button(t('members.accept'), 'primary', accept), button(t('members.reject'), 'danger', reject)),
  )
  return item
}

/** Waiting members first, active ones in a disclosure. The device signs each change. */
export const showMembers = (session: Session): View => {
  let refreshActive: (() => void) | undefined
  const changed = (): void => refreshActive?.()
  return showReading({
    title: t('members.title'),
    read: () => call('listMembers', {}, { org: session.org_id }),
    draw: ({ members, total }, screen) => {
      const more = total - members.length
      return [
        h('p', 'aside', t('members.onlyExpected')),
        h(
          'section',
          'waiting',
          h('h2', {}, t('members.waiting')),
          ul('cards', ...members.map((one) => waitingRow(one, { session, screen, changed }))),
          total === 0 && h('p', 'aside', t('members.noneWaiting')),
          more > 0 && h('p', 'aside', t('members.andMore', { count: more })),
        ),
      ]
    },
    below: (screen) => {
      if (!isAdmin(session)) return document.createDocumentFragment()
      const problem = problemLine()
      const active = activeMembers(session, (member, move, item) => {
        item.append(problem.element)
        return screen.act(problem, () => take(member, move, { session, screen, changed }))
      })
      refreshActive = active.refresh
      return div(
        'content',
        active.element,
        ul(
          'rows',
          h('li', {}, h('a', { class: 'row', href: '#activity' }, t('history.activity'))),
          h('li', {}, h('a', { class: 'row', href: '#member-mutes' }, t('mutes.title'))),
        ),
      )
    },
  })
}
