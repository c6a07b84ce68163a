import { call, type Member, type Members, type Moved, type Session } from '../calls/api.ts'
import { button, h } from '../shell/element.ts'
import { announce, problemLine, show, showOutcome } from '../shell/frame.ts'
import { exactText, nameOf, plainDigits } from '../shell/text.ts'
import { assert } from '../calls/webauthn.ts'
import { nodes, t } from '../language/text.ts'

type Move = 'accept' | 'reject' | 'hold' | 'promote'

const done = {
  accept: 'members.accepted',
  reject: 'members.rejected',
  hold: 'members.held',
  promote: 'members.promoted',
} as const

/** Whether an accepted member gets the link that registers their phone, or what an administrator must do instead. */
const linkSaid = ({ enrollment }: Moved): string => {
  if (!enrollment) return ''
  const { channel, next } = enrollment
  if (!channel) return ' ' + t('members.linkNotSent', { next: next ?? '' })
  return ' ' + t('members.linkSent', { channel: channel === 'push' ? 'other' : channel })
}

export const isAdmin = ({ role }: Session): boolean => role === 'admin' || role === 'operator'

export const nobody: Members = { members: [], total: 0 }

const typingMs = 200

const shownText = (shown: number, total: number, find: string): string => {
  if (total === 0) return t(find ? 'members.noneFound' : 'members.noOthers')
  return total > shown ? t('members.showing', { shown, total }) : ''
}

/** The active members. They are fetched when the list is opened, and only the first are shown: an organization can be large. */
const activeMembers = (take: (member: Member, move: 'hold' | 'promote', item: HTMLElement) => unknown) => {
  const list = h('ul', { class: 'people' })
  const status = h('p', { class: 'aside' })
  const input = h('input', { id: 'find', type: 'search', dir: 'auto', autocomplete: 'off', maxlength: 60 })
  const field = h('div', { class: 'field' }, h('label', { for: 'find' }, t('members.search')), input)

  const row = (member: Member): HTMLElement => {
    const item = h('li', { class: 'person' })
    item.append(
      h('p', {}, exactText(nameOf(member)), h('span', { class: 'who' }, exactText(member.mobile))),
      button(t('members.hold'), 'quiet', () => take(member, 'hold', item), {
        'aria-label': t('members.holdName', { name: nameOf(member) }),
      }),
      button(t('members.promote'), 'quiet', () => take(member, 'promote', item), {
        'aria-label': t('members.promoteName', { name: nameOf(member) }),
      }),
    )
    return item
  }

  let latest = 0
  const load = async (): Promise<void> => {
    latest += 1
    const mine = latest
    const find = plainDigits(input.value.trim())
    const found = await call('listMembers', { state: 'active', ...(find && { find }) }).catch(() => undefined)
    if (mine !== latest) return
    if (!found) {
      status.textContent = `${t('common.unreachableTitle')}. ${t('common.openAgain')}`
      return
    }
    const { members, total } = found
    list.replaceChildren(...members.map(row))
    if (total > members.length) status.before(field)
    status.textContent = shownText(members.length, total, find)
    if (find) announce(t('members.found', { count: total }))
  }

  let timer = 0
  input.addEventListener('input', () => {
    clearTimeout(timer)
    timer = setTimeout(() => void load(), typingMs)
  })
  const element = h(
    'details',
    { class: 'active' },
    h('summary', { class: 'row' }, t('members.active')),
    h('p', { class: 'aside' }, t('members.activeWhy')),
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
      showOutcome(item, nodes(done[move], { name: exactText(nameOf(member)) }), linkSaid(moved))
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
        button(t('members.accept'), 'primary', () => take(member, 'accept', item)),
        button(t('members.reject'), 'danger', () => take(member, 'reject', item)),
      ),
    )
    return item
  }
  const active = activeMembers((member, move, item) => take(member, move, item))
  const more = waiting.total - waiting.members.length

  list.append(...waiting.members.map(row))
  show(
    t('members.title'),
    h('a', { class: 'back', href: '#' }, t('common.allRequests')),
    h('h1', {}, t('members.title')),
    h('p', { class: 'aside' }, t('members.onlyExpected')),
    h(
      'section',
      { class: 'waiting' },
      h('h2', {}, t('members.waiting')),
      list,
      h('p', { class: 'aside nobody' }, t('members.noneWaiting')),
      more > 0 && h('p', { class: 'aside' }, t('members.andMore', { count: more })),
    ),
    active.element,
  )
}
