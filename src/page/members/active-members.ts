import { call, type Member, type Session } from '../calls/api.ts'
import { t } from '../language/text.ts'
import { button, div, h, ul, textField } from '../shell/element.ts'
import { announce } from '../shell/frame.ts'
import { exactText, nameOf, plainDigits } from '../shell/text.ts'
import { administratorLine, isAdmin } from './administrator.ts'

const typingMs = 200

const shownText = (shown: number, total: number, find: string): string => {
  if (total === 0) return t(find ? 'members.noneFound' : 'members.noOthers')
  return total > shown ? t('members.showing', { shown, total }) : ''
}

type Take = (member: Member, move: 'hold' | 'promote', item: HTMLElement) => unknown

const activeRow = (member: Member, take: Take): HTMLElement => {
  const item = h('li', 'person')
  const name = nameOf(member)
  item.append(
    h(
      'p',
      {},
      h('a', { href: `#member=${encodeURIComponent(member.user_id)}` }, exactText(name)),
      h('span', 'who', exactText(member.mobile)),
      h('span', 'who', exactText(member.email)),
      administratorLine(member),
    ),
    div(
      'links',
      button(t('members.hold'), 'quiet', () => take(member, 'hold', item), t('members.holdName', { name })),
      !isAdmin(member) &&
        button(
          t('members.promote'),
          'quiet',
          () => take(member, 'promote', item),
          t('members.promoteName', { name }),
        ),
    ),
  )
  return item
}

/** The active members. They are fetched when the list is opened, and only the first are shown: an organization can be large. */
export const activeMembers = ({ org_id: org }: Session, take: Take) => {
  const list = ul('people')
  const status = h('p', 'aside')
  const again = h('div')
  const input = textField('find', '', { type: 'search' })
  const field = div('field', h('label', { for: 'find' }, t('members.search')), input)

  let latest = 0
  const load = async (): Promise<void> => {
    latest += 1
    const mine = latest
    const find = plainDigits(input.value.trim())
    const wanted = { state: 'active', ...(find && { find }) } as const
    const found = await call('listMembers', wanted, { org }).catch(() => undefined)
    if (mine !== latest) return
    again.replaceChildren(...(found ? [] : [button(t('common.tryAgain'), 'plain', load)]))
    if (!found) {
      status.textContent = t('common.cantReadNow')
      return
    }
    const { members, total } = found
    list.replaceChildren(...members.map((member) => activeRow(member, take)))
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
    'active',
    h('summary', 'row', t('members.active')),
    h('p', 'aside', t('members.activeWhy')),
    status,
    again,
    list,
  )
  element.addEventListener('toggle', () => {
    if (element.open) void load()
  })
  return { element, refresh: () => void (element.open && load()) }
}
