import { call, type Session } from '../calls/api.ts'
import { createCode, createCopy } from '../enrollment/hand-over.ts'
import { t } from '../language/text.ts'
import { button, div, h, link, put, ul } from '../shell/element.ts'
import { problemLine, type View } from '../shell/frame.ts'
import { showReading } from '../shell/reading.ts'
import { signed } from '../shell/signed.ts'
import { clockText } from '../shell/text.ts'
import { countDown, deadline } from '../language/time.ts'
import { deviceItem } from './own-device.ts'

/** Adds a device of the same person from this one: a link to open there, and the new device to approve here. */
export const showAddDevice = (session: Session, ended: () => void): View => {
  let stop: (() => void) | undefined
  const problem = problemLine()
  const place = div('content')
  /** The devices that the page knows, and those that it knew when the link was made. */
  let known = 0
  let before = Infinity
  /** The devices that waited for a decision while this screen was open. */
  const waited = new Set<string>()
  /** The focus goes on to the text, or without one to the heading. */
  const say = (text: string, ...next: HTMLElement[]): void => {
    const had = place.contains(document.activeElement)
    const line = text !== '' && h('p', { tabindex: -1 }, text)
    put(place, line, ...next)
    if (had) (line || document.querySelector('h1'))?.focus()
  }

  const offer = (label: string, kind: 'primary' | 'plain' = 'primary'): HTMLElement =>
    button(label, kind, () =>
      problem.attempt(async () => showLink(await signed('createDeviceLink', session, {}))),
    )
  const showLink = ({ url, expires_in_ms }: { url: string; expires_in_ms: number }): void => {
    stop?.()
    before = known
    const left = h('p', 'aside')
    say(t('devices.openThere'), createCode(url, t('devices.codeAlt')), left, createCopy(url))
    stop = countDown(deadline(expires_in_ms), (ms) => {
      left.textContent = t('common.timeLeft', { time: clockText(ms) })
      if (ms === 0) say(t('devices.linkOver'), offer(t('devices.newLink')))
    })
  }
  place.append(h('p', {}, t('devices.addWhy')), offer(t('devices.createLink')))

  const view = showReading({
    title: t('devices.add'),
    back: { href: '#devices', text: t('devices.title') },
    read: () => call('listOwnDevices', {}, { org: session.org_id }),
    draw: ({ devices }, screen) => {
      known = devices.length
      // The link works once, and was used.
      if (known > before) {
        before = Infinity
        stop?.()
        say('', offer(t('devices.newLink'), 'plain'))
      }
      const pending = devices.filter(({ state }) => state === 'pending')
      if (pending.length === 0)
        return devices.some(({ id, state }) => state === 'active' && waited.has(id))
          ? [link('#devices', 'primary', t('common.done'))]
          : []
      for (const { id } of pending) waited.add(id)
      return [
        h('p', {}, t('devices.onlyOwn')),
        ul('cards', ...pending.map((one) => deviceItem(one, { session, screen, isLast: false, ended }))),
      ]
    },
    below: () => div('content', problem.element, place),
  })
  return {
    ...view,
    leave: () => {
      stop?.()
      view.leave?.()
    },
  }
}
