import { call, type Session } from '../calls/api.ts'
import { type Device, deviceLines, isActive, timesOf } from '../devices/device-text.ts'
import { removedDevices } from '../devices/devices.ts'
import { type Added, askFirst, moveDevice } from '../devices/own-device.ts'
import { decisionList } from '../history/history.ts'
import { nodes, t } from '../language/text.ts'
import { button, div, h, ul } from '../shell/element.ts'
import { problemLine, type View } from '../shell/frame.ts'
import { showReading, type Screen } from '../shell/reading.ts'
import { exactText, nameOf } from '../shell/text.ts'
import { memberLines, moveMember } from './members.ts'

type Around = { session: Session; screen: Screen; name: string; isLast: boolean; added: Added | undefined }

const deviceRow = (device: Device, { session, screen, name, isLast, added }: Around): HTMLElement => {
  const item = h('li', 'member')
  const remove = (): void =>
    askFirst(item, {
      lines: [
        ...timesOf(device),
        t('members.removeDevice', { name }),
        ...(isLast ? [t('members.removeLast')] : []),
      ],
      label: t('devices.remove'),
      added,
      // An administrator confirms with it that none remains: the person gets a link for a new one.
      work: async (withAdded) =>
        void (await moveDevice(
          session,
          device.id,
          isLast || withAdded ? 'remove_last' : 'remove',
          withAdded,
        )),
      done: () => {
        screen.tell(nodes('devices.removedNow', { name: exactText(device.name) }))
        return screen.refresh()
      },
    })
  const waits = device.state === 'pending' && device.active_from === null && device.proof === 'admin'
  item.append(
    h('h3', {}, exactText(device.name)),
    ...deviceLines(device).map((line) => h('p', 'who', line)),
    waits ? h('p', 'who', t('members.waitsForApproval')) : '',
    waits ? h('a', { class: 'button quiet', href: '#devices' }, t('members.toDevices')) : '',
    device.state === 'active'
      ? div(
          'links',
          button(t('devices.remove'), 'quiet', remove, t('devices.removeName', { name: device.name })),
        )
      : '',
  )
  return item
}

/** For an administrator: the devices of a member, of which they remove a lost one, and what the member was asked. */
export const showMember = (session: Session, user_id: string): View => {
  const org = session.org_id
  return showReading({
    title: t('members.member'),
    back: { href: '#members', text: t('members.title') },
    read: async () => {
      const [person, page] = await Promise.all([
        call('listMemberDevices', { user_id }, { org }),
        call('listDecisions', { user_id }, { org }),
      ])
      return { ...person, page }
    },
    draw: ({ member, devices, added, page }, screen) => {
      const name = nameOf(member)
      const kept = devices.filter(({ state }) => state === 'active' || state === 'pending')
      const active = devices.filter(isActive)
      const problem = problemLine()
      const sendLink = () => problem.attempt(() => moveMember(member, 'link', { session, screen }))
      return [
        h('h2', {}, exactText(name)),
        ...memberLines(member),
        h('h2', {}, t('devices.title')),
        kept.length === 0 && h('p', 'aside', t('members.noDevices')),
        ul(
          'cards',
          ...kept.map((device) =>
            deviceRow(device, {
              session,
              screen,
              name,
              isLast: active.length === 1 && isActive(device),
              added: added.find(({ by }) => by === device.id),
            }),
          ),
        ),
        removedDevices(devices),
        ...(active.length === 0 && member.state === 'active'
          ? [
              h('p', 'aside', t('members.sendLinkWhy')),
              problem.element,
              button(t('members.sendLink'), 'plain', sendLink),
            ]
          : []),
        h('h2', {}, t('members.decisions')),
        page.decisions.length === 0 && h('p', 'aside', t('members.noDecisions')),
        ...decisionList(page, (before) => call('listDecisions', { user_id, before }, { org }), false),
      ]
    },
  })
}
