import type { View } from '../shell/frame.ts'
import { call, type Devices, type Session } from '../calls/api.ts'
import { t } from '../language/text.ts'
import { details, h, link, ul } from '../shell/element.ts'
import { showReading, type Screen } from '../shell/reading.ts'
import { exactText, nameOf } from '../shell/text.ts'
import { compareText, type Device, deviceLines, isActive, stateText, timesOf } from './device-text.ts'
import { answersFor, deviceItem } from './own-device.ts'

/** The new device of a member who lost theirs. */
const recoveryRow = (device: Devices['recoveries'][number], session: Session, screen: Screen): HTMLElement =>
  h(
    'li',
    'member',
    h('h3', {}, exactText(nameOf(device.member))),
    ...[
      exactText(device.member.mobile),
      exactText(device.name),
      compareText(device) && h('strong', {}, compareText(device)),
      timesOf(device)[0],
      device.active_from === null ? '' : stateText(device),
    ].map((line) => line && h('p', 'who', line)),
    answersFor(device, { session, screen }, device.active_from === null),
  )

const removedRow = (device: Device): HTMLElement =>
  h('li', 'person', h('p', {}, exactText(device.name), h('span', 'who', deviceLines(device).join(' '))))

/** Revoked devices, which people rarely look for. */
export const removedDevices = (devices: readonly Device[]): HTMLElement | false => {
  const removed = devices.filter(({ state }) => state === 'revoked')
  return (
    removed.length > 0 &&
    details(t('devices.removedOnes', { count: removed.length }), ul('people', ...removed.map(removedRow)))
  )
}

/** The devices of this person and, for an administrator, new devices of members who lost theirs. This device signs each change. */
export const showDevices = (session: Session, ended: () => void): View => {
  // What had to be decided came first, and keeps its place when it is decided: a second tap must not meet another button.
  const first = new Set<string>()
  let wasAsked = false
  return showReading({
    title: t('devices.title'),
    read: () => call('listOwnDevices', {}, { org: session.org_id }),
    draw: ({ devices, added, recoveries }, screen) => {
      const isAsked = recoveries.some(({ active_from }) => active_from === null)
      wasAsked ||= isAsked
      for (const { id, state } of devices) if (state === 'pending') first.add(id)
      const kept = devices
        .filter(({ state }) => state === 'active' || state === 'pending')
        .toSorted((one, other) => Number(first.has(other.id)) - Number(first.has(one.id)))
      const active = devices.filter(isActive)
      const lost =
        recoveries.length > 0 &&
        h(
          'section',
          'waiting',
          h('h2', {}, t('devices.lost')),
          isAsked && h('p', 'aside', t('devices.lostWhy')),
          ul('cards', ...recoveries.map((device) => recoveryRow(device, session, screen))),
        )
      return [
        wasAsked && lost,
        kept.some((one) => compareText(one) !== '') && h('p', 'aside', t('devices.onlyOwn')),
        ul(
          'cards',
          ...kept.map((device) =>
            deviceItem(device, { session, screen, isLast: active.length === 1, added, ended }),
          ),
        ),
        kept.length === 1 && h('p', 'aside', t('devices.suggestSecond')),
        link('#add-device', kept.length === 1 ? 'primary' : 'plain', t('devices.add')),
        removedDevices(devices),
        !wasAsked && lost,
      ]
    },
  })
}
