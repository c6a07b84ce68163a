import { call, type Devices, type Session } from '../calls/api.ts'
import { nodes, t } from '../language/text.ts'
import { button, div, h, link, pair, put, textField, ul } from '../shell/element.ts'
import { problemLine } from '../shell/frame.ts'
import type { Screen } from '../shell/reading.ts'
import { signed, unless } from '../shell/signed.ts'
import { exactText } from '../shell/text.ts'
import { dateText } from '../language/time.ts'
import { compareText, type Device, deviceLines, timesOf } from './device-text.ts'

const already = {
  approve: 'device_active',
  refuse: 'device_refused',
  remove: 'device_revoked',
  remove_last: 'device_revoked',
}

/** Changes a device; this device signs it. Returns when the device becomes active, or null. */
export const moveDevice = async (
  session: Session,
  device_id: string,
  move: keyof typeof already,
  withAdded = false,
): Promise<string | null> => {
  const target = { device_id, move, ...(withAdded && { with_added: true }) }
  const moved = await signed('moveDevice', session, target).catch(unless(already[move]))
  return moved?.state === 'pending' ? moved.active_from : null
}

type Surroundings = {
  session: Session
  screen: Screen
  /** Whether no other device of the person is active. */
  isLast: boolean
  added?: readonly Added[]
  /** The name of the member whose device it is; left out by its owner. */
  owner?: string
  /** This device was removed. */
  ended?: () => void
}

/** What a device added and works now. */
export type Added = Devices['added'][number]

type Question = {
  /** What tells it from others. */
  facts?: readonly string[]
  lines: readonly string[]
  /** What can be taken away with it. */
  added?: Added | undefined
  /** Whether it stays: the device that signs does not lock its person out. */
  stays?: boolean
  /** What the button says. */
  label: string
  work: (withAdded: boolean) => Promise<void>
  /** Runs once the work has succeeded. */
  done: (withAdded: boolean) => unknown
}

const kindOf = ({ devices, agents }: Added): 'devices' | 'agents' | 'other' =>
  agents.length === 0 ? 'devices' : devices.length === 0 ? 'agents' : 'other'

/** From now on, the item is edited; `end` brings back what it was, with the focus where it was. */
const edit = (item: HTMLElement) => {
  const before = [...item.childNodes]
  const focused = document.activeElement as HTMLElement | null
  const end = (): void => {
    item.classList.remove('editing')
    item.replaceChildren(...before)
    focused?.focus({ preventScroll: true })
  }
  item.classList.add('editing')
  return { end, heading: before[0] }
}

/** Asks before something is taken away. The screen does not change while it asks. */
export const askFirst = (item: HTMLElement, question: Question): void => {
  const { facts = [], lines, added, stays, label, work, done } = question
  const problem = problemLine()
  const { end, heading } = edit(item)
  const box = h('input', { type: 'checkbox' })
  const go = button(label, 'danger', async () => {
    let isDone = false
    await problem.attempt(async () => {
      await work(box.checked)
      isDone = true
    })
    if (!isDone) return
    end()
    await done(box.checked)
  })
  const things = added && [
    ...added.devices.map(({ name }) => nodes('devices.addedDevice', { name: exactText(name) })),
    ...added.agents.map(({ name }) => nodes('devices.addedAgent', { name: exactText(name) })),
  ]
  const cancel = button(t('common.cancel'), 'plain', end)
  put(
    item,
    heading,
    ...facts.map((line) => h('p', 'who', line)),
    ...lines.map((line) => h('p', {}, line)),
    things && h('p', {}, t(stays ? 'devices.addedStays' : 'devices.addedWith')),
    things && ul('plain-list', ...things.map((thing) => h('li', {}, thing))),
    added && !stays && h('p', {}, t('devices.addedEnds', { what: kindOf(added) })),
    added && !stays && h('label', 'result', box, t('devices.withAdded')),
    problem.element,
    // The focus skips the question, so the buttons bring it along.
    pair([...facts, ...lines].join(' '), go, cancel),
  )
  // A second Enter must not take it away.
  cancel.focus()
}

const rename = (device: Device, item: HTMLElement, { session, screen }: Surroundings): void => {
  const problem = problemLine()
  const { end } = edit(item)
  const field = textField('name', device.name)
  const save = async (): Promise<void> => {
    const name = field.value.trim()
    problem.say(name ? '' : t('devices.nameMissing'))
    if (!name) return field.focus()
    await problem.attempt(async () => {
      await call('renameOwnDevice', { device_id: device.id, name }, { org: session.org_id })
      end()
      screen.tell(nodes('devices.renamed', { name: exactText(name) }))
    })
    await screen.refresh()
  }
  const form = h(
    'form',
    'field',
    h('label', { for: 'name' }, t('devices.name')),
    field,
    problem.element,
    div('pair', button(t('common.save'), 'primary', save), button(t('common.cancel'), 'plain', end)),
  )
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    void save()
  })
  item.replaceChildren(form)
  field.focus()
}

/** What the outcome of a move is called. */
const outcomeOf = ({ name }: Device, what: 'approve' | 'refuse', active_from: string | null): Node => {
  const named = { name: exactText(name) }
  if (what === 'refuse') return nodes('devices.refusedNow', named)
  return active_from === null
    ? nodes('devices.approvedNow', named)
    : nodes('devices.approvedLater', { ...named, date: dateText(active_from) })
}

/** Approve and Refuse for a pending device. */
export const answersFor = (
  device: Device,
  { session, screen }: Pick<Surroundings, 'session' | 'screen'>,
  canApprove: boolean,
): HTMLElement => {
  const problem = problemLine()
  const answer = (what: 'approve' | 'refuse'): Promise<void> =>
    screen.act(problem, async () => {
      screen.tell(outcomeOf(device, what, await moveDevice(session, device.id, what)))
    })
  return h(
    'div',
    {},
    problem.element,
    pair(
      device.name,
      canApprove && button(t('common.approve'), 'primary', () => answer('approve')),
      button(t('common.refuse'), 'danger', () => answer('refuse')),
    ),
  )
}

/** A device of the person or of a member, with what can be done with it. */
export const deviceItem = (device: Device, around: Surroundings): HTMLElement => {
  const { id, name, state, proof, active_from } = device
  const { session, screen, isLast, added, owner, ended } = around
  const isThis = id === session.device_id
  const item = h('li', { class: 'member', 'data-of': id })
  const question =
    owner === undefined
      ? t(isThis ? 'devices.removeThis' : 'devices.removeOther')
      : t('members.removeDevice', { name: owner })
  const remove = (): void =>
    askFirst(item, {
      facts: timesOf(device),
      lines: [
        question,
        ...(isLast ? [t(owner === undefined ? 'devices.removeLast' : 'members.removeLast')] : []),
      ],
      label: t('devices.remove'),
      added: added?.find(({ by }) => by === id),
      stays: isThis,
      // An administrator confirms with what it added that none remains: the person gets a link for a new one.
      work: async (withAdded) =>
        void (await moveDevice(
          session,
          id,
          isLast || (owner !== undefined && withAdded) ? 'remove_last' : 'remove',
          withAdded,
        )),
      done: (withAdded) => {
        if (isThis) return ended?.()
        const said = withAdded ? 'devices.removedWithAdded' : 'devices.removedNow'
        screen.tell(nodes(said, { name: exactText(name) }))
        return screen.refresh()
      },
    })
  item.append(
    h(owner === undefined ? 'h2' : 'h3', {}, exactText(name)),
    ...deviceLines(device, owner === undefined ? session.device_id : undefined).map((line) =>
      h('p', 'who', line === compareText(device) ? h('strong', {}, line) : line),
    ),
  )
  if (state === 'active')
    item.append(
      div(
        'links',
        owner === undefined &&
          button(
            t('devices.rename'),
            'quiet',
            () => rename(device, item, around),
            t('devices.renameName', { name }),
          ),
        button(t('devices.remove'), 'quiet', remove, t('devices.removeName', { name })),
      ),
    )
  else if (owner === undefined) item.append(answersFor(device, around, proof === 'device'))
  else if (active_from === null && proof === 'admin')
    item.append(
      h('p', 'who', t('members.waitsForApproval')),
      link('#devices', 'quiet', t('members.toDevices')),
    )
  return item
}
