import { call, type Devices, type Session } from '../calls/api.ts'
import { button, h } from '../shell/element.ts'
import { problemLine, show, showOutcome } from '../shell/frame.ts'
import { exactText, nameOf } from '../shell/text.ts'
import { dateText } from '../shell/time.ts'
import { assert } from '../calls/webauthn.ts'
import { nodes, t } from '../language/text.ts'

type Device = Devices['devices'][number]
type Recovery = Devices['recoveries'][number]
type Move = 'approve' | 'refuse'

export const noDevices: Devices = { device_id: '', devices: [], recoveries: [] }

/** How many new devices this person can approve or refuse now. */
export const countWaiting = ({ devices, recoveries }: Devices): number =>
  devices.filter(({ state }) => state === 'pending').length +
  recoveries.filter(({ active_from }) => active_from === null).length

const stateText = ({ id, state, active_from }: Device, own: string): string => {
  if (id === own) return t('devices.thisDevice')
  if (active_from !== null && state === 'pending')
    return t('devices.becomesActive', { date: dateText(active_from) })
  return t(`devices.${state}`)
}

const outcomeOf = ({ name }: Device, what: Move, active_from: string | null): Node => {
  const named = { name: exactText(name) }
  if (what === 'refuse') return nodes('devices.refusedNow', named)
  return active_from === null
    ? nodes('devices.approvedNow', named)
    : nodes('devices.approvedLater', { ...named, date: dateText(active_from) })
}

/** The devices of this person and, for an administrator, new devices of members who lost theirs. This device signs each change. */
export const showDevices = (session: Session, { device_id, devices, recoveries }: Devices): void => {
  const problem = problemLine()

  const move = (device: Device, what: Move, item: HTMLElement): Promise<void> => {
    item.append(problem.element)
    return problem.attempt(async () => {
      const target = { device_id: device.id, move: what }
      const { challenge } = await call('beginDeviceMove', target)
      const response = await assert(session.rp_id, challenge, session.credential_id)
      const { active_from } = await call('moveDevice', { ...target, challenge, response })
      showOutcome(item, outcomeOf(device, what, active_from))
    })
  }
  const answers = (device: Device, item: HTMLElement, canApprove: boolean): HTMLElement =>
    h(
      'div',
      { class: 'pair', role: 'group', 'aria-label': device.name },
      canApprove && button(t('common.approve'), 'primary', () => move(device, 'approve', item)),
      button(t('common.refuse'), 'danger', () => move(device, 'refuse', item)),
    )
  const ownRow = (device: Device): HTMLElement => {
    const item = h('li', { class: 'member' })
    item.append(h('h3', {}, exactText(device.name)), h('p', { class: 'who' }, stateText(device, device_id)))
    if (device.state === 'pending') item.append(answers(device, item, device.proof === 'device'))
    return item
  }
  const recoveryRow = (device: Recovery): HTMLElement => {
    const item = h('li', { class: 'member' })
    item.append(
      h('h3', {}, exactText(nameOf(device.member))),
      h(
        'p',
        { class: 'who' },
        exactText(device.member.mobile),
        ', ',
        exactText(device.name),
        device.active_from === null ? '' : `, ${stateText(device, device_id)}`,
      ),
      answers(device, item, device.active_from === null),
    )
    return item
  }
  show(
    t('devices.title'),
    h('a', { class: 'back', href: '#' }, t('common.allRequests')),
    h('h1', {}, t('devices.title')),
    h('p', { class: 'aside' }, t('devices.onlyOwn')),
    h('ul', { class: 'cards' }, ...devices.filter(({ state }) => state !== 'refused').map(ownRow)),
    recoveries.length > 0 &&
      h(
        'section',
        { class: 'waiting' },
        h('h2', {}, t('devices.lost')),
        h('p', { class: 'aside' }, t('devices.lostWhy')),
        h('ul', { class: 'cards' }, ...recoveries.map(recoveryRow)),
      ),
  )
}
