import { type Answered, call, type Session } from '../calls/api.ts'
import { nodes, t } from '../language/text.ts'
import { button, h, ul } from '../shell/element.ts'
import { problemLine, type View } from '../shell/frame.ts'
import { showReading, type Screen } from '../shell/reading.ts'
import { exactText, nameOf } from '../shell/text.ts'
import { dateText } from '../language/time.ts'
import { unmute } from './unmute.ts'

/** A mute of this person, or of the member that it names. */
type Mute = Answered<'listOwnMutes'>['mutes'][number] &
  Partial<Pick<Answered<'listOrganizationMutes'>['mutes'][number], 'member'>>

const row = (mute: Mute, session: Session, screen: Screen): HTMLElement => {
  const { mute_id, credential, requester, until, member } = mute
  const problem = problemLine()
  const name = requester ?? credential
  const lift = (): Promise<void> =>
    screen.act(problem, async () => {
      await unmute({ mute_id, ...(member && { user_id: member.user_id }) }, session)
      screen.tell(nodes('mutes.unmutedName', { name: exactText(name) }))
    })
  return h(
    'li',
    'member',
    h(
      'h2',
      {},
      requester === null
        ? exactText(credential)
        : nodes('mutes.agentOfTools', { name: exactText(requester) }),
    ),
    member && h('p', 'who', nodes('mutes.by', { name: exactText(nameOf(member)) })),
    h('p', 'who', t('mutes.until', { date: dateText(until) })),
    problem.element,
    button(t('mutes.unmute'), 'plain', lift, t('mutes.unmuteName', { name })),
  )
}

const listOf =
  (session: Session, none: 'mutes.none' | 'mutes.noneOfMembers', why: 'mutes.what' | 'mutes.ofMembersWhy') =>
  ({ mutes }: { mutes: Mute[] }, screen: Screen) => [
    h('p', 'aside', t(mutes.length === 0 ? none : why)),
    ul('cards', ...mutes.map((one) => row(one, session, screen))),
  ]

/** The requesters that this person reported in one organization, while their mutes last. */
export const showMutes = (session: Session): View =>
  showReading({
    title: t('mutes.title'),
    read: () => call('listOwnMutes', {}, { org: session.org_id }),
    draw: listOf(session, 'mutes.none', 'mutes.what'),
  })

/** The same of all members, for an administrator. */
export const showMemberMutes = (session: Session): View =>
  showReading({
    title: t('mutes.title'),
    back: { href: '#members', text: t('members.title') },
    read: () => call('listOrganizationMutes', {}, { org: session.org_id }),
    draw: listOf(session, 'mutes.noneOfMembers', 'mutes.ofMembersWhy'),
  })
