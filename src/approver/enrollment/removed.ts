import { call, type Newcomer } from '../calls/api.ts'
import { button, h, picture } from '../shell/element.ts'
import { problemLine, show } from '../shell/frame.ts'
import { assert } from '../calls/webauthn.ts'

/** For a phone that is no longer active. Its owner can still refuse a device that somebody else registered. */
export const showRemoved = (rpId = '', newcomers: readonly Newcomer[] = []): void => {
  const problem = problemLine()
  const refuse = ({ id: device_id }: Newcomer, item: HTMLElement): Promise<void> =>
    problem.attempt(async () => {
      const { challenge } = await call('beginDeviceRefusal', { device_id })
      const response = await assert(rpId, challenge)
      await call('refuseNewDevice', { device_id, challenge, response })
      item.replaceChildren(
        h(
          'p',
          { class: 'outcome', role: 'status' },
          'Refused. This device can’t approve anything. Tell your administrator.',
        ),
      )
    })
  const row = (newcomer: Newcomer): HTMLElement => {
    const item = h('li', { class: 'member' })
    const when =
      newcomer.active_from === null
        ? 'is waiting for approval'
        : `becomes active on ${new Date(newcomer.active_from).toLocaleString()}`
    item.append(
      h('p', {}, `A new device ${when}. If you did not register it, refuse it.`),
      button('Refuse', 'primary', () => refuse(newcomer, item)),
    )
    return item
  }
  show(
    'This phone was removed',
    h(
      'div',
      { class: 'notice' },
      picture('phone', 'still'),
      h('h1', {}, 'This phone was removed'),
      h('p', {}, 'This phone is no longer registered and can’t approve anything.'),
      h('p', {}, 'If it’s yours, ask your administrator for a new link.'),
    ),
    newcomers.length > 0 && h('ul', { class: 'cards' }, ...newcomers.map(row)),
    problem.element,
  )
}
