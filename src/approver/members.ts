import { activeMembers } from './active-members.ts'
import { call, type Member, type Members, type Moved, type Session } from './api.ts'
import { button, h } from './element.ts'
import { problemLine, show, showOutcome } from './frame.ts'
import { exactText, nameOf } from './text.ts'
import { assert } from './webauthn.ts'

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
