import { call, type Member, type Members, type Moved, type Session } from '../calls/api.ts'
import { button, h } from '../shell/element.ts'
import { announce, problemLine, show, showOutcome } from '../shell/frame.ts'
import { exactText, nameOf } from '../shell/text.ts'
import { assert } from '../calls/webauthn.ts'

type Move = 'accept' | 'reject' | 'hold' | 'promote'

const done: Record<Move, string> = {
  accept: 'is accepted',
  reject: 'is rejected',
  hold: 'is on hold',
  promote: 'is an administrator',
}

const words = { sms: 'SMS', email: 'e-mail', push: 'push' }

/** Whether an accepted member gets the link that registers their phone, or what an administrator must do instead. */
const linkSaid = ({ enrollment }: Moved): string => {
  if (!enrollment) return ''
  if (enrollment.channel) return ` A link to register a phone is on its way by ${words[enrollment.channel]}.`
  return ` No link could be sent. Next: ${enrollment.next}`
}

export const isAdmin = ({ role }: Session): boolean => role === 'admin' || role === 'operator'

export const nobody: Members = { members: [], total: 0 }

/** Empty unless the person is an administrator; `known` if the service does not answer. */
export const waitingMembers = async (session: Session, known: Members): Promise<Members> =>
  isAdmin(session) ? await call('listMembers', {}).catch(() => known) : nobody

const typingMs = 200

const shownText = (shown: number, total: number, find: string): string => {
  if (total === 0) return find ? 'No one found.' : 'No other members.'
  return total > shown ? `Showing ${shown} of ${total}.` : ''
}

/** The active members. They are fetched when the list is opened, and only the first are shown: an organization can be large. */
const activeMembers = (take: (member: Member, move: 'hold' | 'promote', item: HTMLElement) => unknown) => {
  const list = h('ul', { class: 'people' })
  const status = h('p', { class: 'aside' })
  const input = h('input', { id: 'find', type: 'search', autocomplete: 'off', maxlength: 60 })
  const field = h(
    'div',
    { class: 'field' },
    h('label', { for: 'find' }, 'Search by name or last digits'),
    input,
  )

  const row = (member: Member): HTMLElement => {
    const item = h('li', { class: 'person' })
    item.append(
      h('p', {}, exactText(nameOf(member)), h('span', { class: 'who' }, exactText(member.mobile))),
      button('Hold', 'quiet', () => take(member, 'hold', item), { 'aria-label': `Hold ${nameOf(member)}` }),
      button('Make admin', 'quiet', () => take(member, 'promote', item), {
        'aria-label': `Make admin ${nameOf(member)}`,
      }),
    )
    return item
  }

  let latest = 0
  const load = async (): Promise<void> => {
    latest += 1
    const mine = latest
    const find = input.value.trim()
    const found = await call('listMembers', { state: 'active', ...(find && { find }) }).catch(() => undefined)
    if (mine !== latest) return
    if (!found) {
      status.textContent = 'Can’t reach the service. Open this again when you’re online.'
      return
    }
    const { members, total } = found
    list.replaceChildren(...members.map(row))
    if (total > members.length) status.before(field)
    status.textContent = shownText(members.length, total, find)
    if (find) announce(total === 1 ? '1 found' : `${total} found`)
  }

  let timer = 0
  input.addEventListener('input', () => {
    clearTimeout(timer)
    timer = setTimeout(() => void load(), typingMs)
  })
  const element = h(
    'details',
    { class: 'active' },
    h('summary', { class: 'row' }, 'Active members'),
    h('p', { class: 'aside' }, 'A member on hold can’t approve anything until you accept them again.'),
    status,
    list,
  )
  element.addEventListener('toggle', () => {
    if (element.open) void load()
  })
  return { element, refresh: () => void (element.open && load()) }
}

/** Waiting members first, active ones in a disclosure. The device signs each change. */
export const showMembers = (session: Session, waiting: Members): void => {
  const problem = problemLine()
  const list = h('ul', { class: 'cards' })

  const take = (member: Member, move: Move, item: HTMLElement): Promise<void> => {
    item.append(problem.element)
    return problem.attempt(async () => {
      const { user_id } = member
      const { challenge } = await call('beginMemberMove', { user_id, move })
      const response = await assert(session.rp_id, challenge, session.credential_id)
      const moved = await call('moveMember', { user_id, move, challenge, response })
      showOutcome(item, exactText(nameOf(member)), ` ${done[move]}.${linkSaid(moved)}`)
      settle(member, moved)
    })
  }
  const settle = (before: Member, now: Member): void => {
    const at = waiting.members.indexOf(before)
    if (at >= 0) {
      waiting.members.splice(at, 1)
      waiting.total -= 1
    }
    if (now.state === 'pending') {
      waiting.members.push(now)
      waiting.total += 1
      list.append(row(now))
    }
    if (now.state === 'active') active.refresh()
  }
  const row = (member: Member): HTMLElement => {
    const name = nameOf(member)
    const item = h('li', { class: 'member' })
    item.append(
      h('h3', {}, exactText(name)),
      h('p', { class: 'who' }, exactText(member.mobile)),
      h(
        'div',
        { class: 'pair', role: 'group', 'aria-label': name },
        button('Accept', 'primary', () => take(member, 'accept', item)),
        button('Reject', 'plain', () => take(member, 'reject', item)),
      ),
    )
    return item
  }
  const active = activeMembers((member, move, item) => take(member, move, item))
  const more = waiting.total - waiting.members.length

  list.append(...waiting.members.map(row))
  show(
    'Members',
    h('a', { class: 'back', href: '#' }, 'All requests'),
    h('h1', {}, 'Members'),
    h(
      'p',
      { class: 'aside' },
      'Accept only people you expect. You confirm each decision with your face, fingerprint or PIN.',
    ),
    h(
      'section',
      { class: 'waiting' },
      h('h2', {}, 'Waiting to join'),
      list,
      h('p', { class: 'aside nobody' }, 'No one is waiting.'),
      more > 0 && h('p', { class: 'aside' }, `And ${more} more.`),
    ),
    active.element,
  )
}
