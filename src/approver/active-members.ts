import { call, type Member } from './api.ts'
import { button, h } from './element.ts'
import { announce } from './frame.ts'
import { exactText, nameOf } from './text.ts'

const typingMs = 200

const shownText = (shown: number, total: number, find: string): string => {
  if (total === 0) return find ? 'No one found.' : 'No other members.'
  return total > shown ? `Showing ${shown} of ${total}.` : ''
}

/** The active members. They are fetched when the list is opened, and only the first are shown: an organization can be large. */
export const activeMembers = (
  take: (member: Member, move: 'hold' | 'promote', item: HTMLElement) => unknown,
) => {
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
