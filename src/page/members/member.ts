import { awayForm } from '../away/away.ts'
import { call, type Session } from '../calls/api.ts'
import { isActive } from '../devices/device-text.ts'
import { removedDevices } from '../devices/devices.ts'
import { deviceItem } from '../devices/own-device.ts'
import { decisionList } from '../history/history.ts'
import { t } from '../language/text.ts'
import { button, h, ul } from '../shell/element.ts'
import { problemLine, type View } from '../shell/frame.ts'
import { showReading } from '../shell/reading.ts'
import { exactText, nameOf } from '../shell/text.ts'
import { memberLines, moveMember } from './members.ts'

/** For an administrator: the devices of a member, of which they remove a lost one, and what the member was asked. */
export const showMember = (session: Session, user_id: string): View => {
  const org = session.org_id
  const of = { user_id }
  return showReading({
    title: t('members.member'),
    back: { href: '#members', text: t('members.title') },
    read: async () => {
      const [person, page, { away }] = await Promise.all([
        call('listMemberDevices', of, { org }),
        call('listDecisions', of, { org }),
        call('getAway', of, { org }),
      ])
      return { ...person, page, away }
    },
    draw: ({ member, devices, added, page, away }, screen) => {
      const name = nameOf(member)
      const kept = devices.filter(({ state }) => state === 'active' || state === 'pending')
      const active = devices.filter(isActive)
      const isMember = member.state === 'active'
      const needsLink = isMember && active.length === 0
      const problem = problemLine()
      const sendLink = () =>
        problem.attempt(async () => {
          await moveMember(member, 'link', { session, screen })
          send.remove()
        })
      const send = button(t('members.sendLink'), 'plain', sendLink)
      return [
        h('h2', {}, exactText(name)),
        ...memberLines(member),
        h('h2', {}, t('devices.title')),
        kept.length === 0 && h('p', 'aside', t('members.noDevices')),
        ul(
          'cards',
          ...kept.map((device) =>
            deviceItem(device, {
              session,
              screen,
              owner: name,
              isLast: active.length === 1 && isActive(device),
              added,
            }),
          ),
        ),
        removedDevices(devices),
        needsLink && h('p', 'aside', t('members.sendLinkWhy')),
        needsLink && problem.element,
        needsLink && send,
        isMember && h('h2', {}, t('away.title')),
        isMember && h('p', 'aside', t('away.ofMember')),
        isMember && awayForm(away, { session, screen, of }),
        h('h2', {}, t('members.decisions')),
        page.decisions.length === 0 && h('p', 'aside', t('members.noDecisions')),
        ...decisionList(page, (before) => call('listDecisions', { user_id, before }, { org }), false),
      ]
    },
  })
}
