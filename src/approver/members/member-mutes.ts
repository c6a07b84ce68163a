import { call, Refused, type OrganizationMutes, type Session } from '../calls/api.ts'
import { assert } from '../calls/webauthn.ts'
import { nodes, t } from '../language/text.ts'
import { button, h } from '../shell/element.ts'
import { problemLine } from '../shell/frame.ts'
import { showReading, type Screen } from '../shell/reading.ts'
import { exactText, nameOf } from '../shell/text.ts'
import { dateText } from '../shell/time.ts'
import type { View } from '../shell/view.ts'

type Mute = OrganizationMutes['mutes'][number]

const row = (
  { mute_id, user_id, member, credential, requester, until }: Mute,
  { org_id: org, rp_id, credential_id }: Session,
  screen: Screen,
): HTMLElement => {
  const problem = problemLine()
  const name = requester ?? credential
  const lift = async (): Promise<void> => {
    await problem.attempt(async () => {
      const { challenge } = await call('beginUnmute', { mute_id, user_id }, { org })
      const response = await assert(rp_id, challenge, credential_id)
      await call('unmute', { mute_id, user_id, challenge, response }, { org }).catch((error: unknown) => {
        // It has ended: by its time, or by an earlier tap whose answer was lost.
        if (!(error instanceof Refused && error.status === 404)) throw error
      })
      screen.tell(nodes('members.unmuted', { name: exactText(name) }))
    })
    await screen.refresh()
  }
  return h(
    'li',
    { class: 'member' },
    h('h2', {}, exactText(credential)),
    requester !== null && h('p', { class: 'who' }, nodes('common.saysItIs', { name: exactText(requester) })),
    h('p', { class: 'who' }, nodes('members.mutedBy', { name: exactText(nameOf(member)) })),
    h('p', { class: 'who' }, t('members.mutedUntil', { date: dateText(until) })),
    problem.element,
    button(t('members.unmute'), 'plain', lift, { 'aria-label': t('members.unmuteName', { name }) }),
  )
}

/** For an administrator: the requesters that members have reported, while they cannot ask. */
export const showMemberMutes = (session: Session): View =>
  showReading({
    title: t('members.mutes'),
    back: { href: '#members', text: t('members.title') },
    read: () => call('listOrganizationMutes', {}, { org: session.org_id }),
    draw: ({ mutes }, screen) => [
      h('p', { class: 'aside' }, t(mutes.length === 0 ? 'members.noMutes' : 'members.mutesWhy')),
      h('ul', { class: 'cards' }, ...mutes.map((mute) => row(mute, session, screen))),
    ],
  })
