import { call, type Devices, type Session } from '../calls/api.ts'
import { button, h } from '../shell/element.ts'
import { problemLine, show, showOutcome } from '../shell/frame.ts'
import { exactText, nameOf } from '../shell/text.ts'
import { assert } from '../calls/webauthn.ts'

type Device = Devices['devices'][number]
type Recovery = Devices['recoveries'][number]
type Move = 'approve' | 'refuse'

export const noDevices: Devices = { device_id: '', devices: [], recoveries: [] }

/** The previous state, if the service does not answer. */
export const readDevices = (known: Devices): Promise<Devices> => call('listOwnDevices', {}).catch(() => known)

/** How many new devices this person can approve or refuse now. */
export const countWaiting = ({ devices, recoveries }: Devices): number =>
  devices.filter(({ state }) => state === 'pending').length +
  recoveries.filter(({ active_from }) => active_from === null).length

const stateText = ({ id, state, active_from }: Device, own: string): string => {
  if (id === own) return 'This device'
  if (active_from !== null && state === 'pending')
    return `Becomes active on ${new Date(active_from).toLocaleString()}`
  return { active: 'Active', pending: 'Not active yet', revoked: 'Revoked', refused: 'Refused' }[state]
}

const outcomes: Record<Move, string> = {
  approve: 'Approved.',
  refuse: 'Refused. This device can’t approve anything.',
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
      const later =
        what === 'approve' && active_from !== null
          ? ` It becomes active on ${new Date(active_from).toLocaleString()}.`
          : ''
      showOutcome(item, exactText(device.name), `: ${outcomes[what]}${later}`)
    })
  }
  const answers = (device: Device, item: HTMLElement, canApprove: boolean): HTMLElement =>
    h(
      'div',
      { class: 'pair', role: 'group', 'aria-label': device.name },
      canApprove && button('Approve', 'primary', () => move(device, 'approve', item)),
      button('Refuse', 'plain', () => move(device, 'refuse', item)),
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
    'Devices',
    h('a', { class: 'back', href: '#' }, 'All requests'),
    h('h1', {}, 'Devices'),
    h('p', { class: 'aside' }, 'Approve only a device that you just registered yourself.'),
    h('ul', { class: 'cards' }, ...devices.filter(({ state }) => state !== 'refused').map(ownRow)),
    recoveries.length > 0 &&
      h(
        'section',
        { class: 'waiting' },
        h('h2', {}, 'Members who lost their device'),
        h('p', { class: 'aside' }, 'Approve only after you’ve talked to the person.'),
        h('ul', { class: 'cards' }, ...recoveries.map(recoveryRow)),
      ),
  )
}
