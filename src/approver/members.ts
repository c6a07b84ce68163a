import { call, Refused, type Member, type Session } from './api.ts'
import { button, h } from './element.ts'
import { announce, problemLine, setBusy, show } from './frame.ts'
import { exactText } from './text.ts'
import { assert, CheckFailed } from './webauthn.ts'

type Move = 'accept' | 'reject' | 'hold'
type Kind = 'primary' | 'plain' | 'quiet'

const moves: readonly { move: Move; label: string; done: string; kind: Kind }[] = [
  { move: 'accept', label: 'Accept', done: 'is accepted', kind: 'primary' },
  { move: 'reject', label: 'Reject', done: 'is rejected', kind: 'plain' },
  { move: 'hold', label: 'Hold', done: 'is put on hold', kind: 'quiet' },
]

// Who waits already need not be put on hold.
const movesFor = ({ state }: Member) => moves.filter(({ move }) => move !== 'hold' || state !== 'pending')

const isAdmin = ({ role }: Session): boolean => role === 'admin' || role === 'operator'

/** Nobody for who is no admin; `known` when the service does not say. */
export const waitingMembers = async (session: Session, known: Member[]): Promise<Member[]> =>
  isAdmin(session) ? await call('listWaitingMembers', {}).catch(() => known) : []

const nameOf = ({ first_name, last_name, mobile }: Member): string =>
  `${first_name} ${last_name}`.trim() || mobile

/** An admin accepts or rejects who waits; each move is a check of the device over that very move. */
export const showMembers = (session: Session, members: Member[]): void => {
  const problem = problemLine()
  const outcome = h('p', { class: 'outcome', role: 'status' })
  const list = h('ul', { class: 'cards' })

  const settle = (): void => {
    if (!list.children.length) list.replaceWith(h('p', { class: 'aside' }, 'Nobody waits to join.'))
  }
  const take = async (member: Member, { move, done }: (typeof moves)[number], item: HTMLElement) => {
    problem.say('')
    setBusy(true)
    try {
      const { user_id } = member
      const { challenge } = await call('beginMemberMove', { user_id, move })
      const response = await assert(session.rp_id, challenge, session.credential_id)
      await call('moveMember', { user_id, move, challenge, response: response as never })
      members.splice(members.indexOf(member), 1)
      item.remove()
      outcome.replaceChildren(exactText(nameOf(member)), ` ${done}.`)
      settle()
    } catch (error) {
      const known = error instanceof CheckFailed || error instanceof Refused
      problem.say(known ? error.message : 'The service does not answer. Tap again when you are online.')
    } finally {
      setBusy(false)
    }
  }
  const row = (member: Member): HTMLElement => {
    const name = nameOf(member)
    const item = h('li', { class: 'member' })
    item.append(
      h('h2', {}, exactText(name)),
      h('p', { class: 'who' }, exactText(member.mobile)),
      h(
        'div',
        { class: 'pair', role: 'group', 'aria-label': name },
        ...movesFor(member).map((move) => button(move.label, move.kind, () => take(member, move, item))),
      ),
    )
    return item
  }
  list.append(...members.map(row))
  show(
    'Who waits to join',
    h('a', { class: 'back', href: '#' }, 'All requests'),
    h('h1', {}, 'Who waits to join'),
    h('p', { class: 'aside' }, 'Accept only people whom you expect. Each answer asks for your check.'),
    outcome,
    problem.element,
    list,
  )
  settle()
  announce('')
}
