import { type Answered, call, type Member, type Session } from '../calls/api.ts'
import { askFirst } from '../devices/own-device.ts'
import { nodes, t } from '../language/text.ts'
import { button, div, h, labelled, pair, put, textField, ul, way } from '../shell/element.ts'
import { announce, problemLine, type View } from '../shell/frame.ts'
import { showReading, type Screen } from '../shell/reading.ts'
import { signed, unless } from '../shell/signed.ts'
import { exactText, nameOf, plainDigits } from '../shell/text.ts'
import { dateText } from '../language/time.ts'

export const isAdmin = ({ role }: Pick<Session | Member, 'role'>): boolean =>
  role === 'admin' || role === 'operator'

/** Who a member is, below their name. */
export const memberLines = (member: Member): (Node | false)[] => [
  h('p', 'who', exactText(member.mobile)),
  member.email !== '' && h('p', 'who', exactText(member.email)),
  isAdmin(member) && h('p', 'who', t('members.administrator')),
]

const done = {
  accept: 'members.accepted',
  reject: 'members.rejected',
  hold: 'members.held',
  promote: 'members.promoted',
  link: 'members.linked',
} as const

type Move = keyof typeof done

/** The same for a member on hold. */
const ofHeld: { [move in Move]?: 'members.lifted' | 'members.ended' } = {
  accept: 'members.lifted',
  reject: 'members.ended',
}

const already: Partial<Record<Move, string>> = {
  accept: 'user_active',
  reject: 'user_rejected',
  hold: 'user_pending',
  promote: 'user_admin',
}

/** Whether a member gets the link that registers their phone, or what an administrator must do instead. */
const linkSaid = ({ channel, next }: NonNullable<Answered<'moveMember'>['enrollment']>): string =>
  channel
    ? t('members.linkSent', { channel: channel === 'push' ? 'other' : channel })
    : t('refused.link_not_sent', { next: next ?? '' })

/** Changes a member, and says so; this device signs it. */
export const moveMember = async (
  member: Member,
  move: Move,
  { session, screen }: Pick<Around, 'session' | 'screen'>,
): Promise<void> => {
  const target = { user_id: member.user_id, move }
  const moved = await signed('moveMember', session, target).catch(unless(already[move]))
  const key = (member.held_at !== null && ofHeld[move]) || done[move]
  const said = nodes(key, { name: exactText(nameOf(member)) })
  screen.tell(said, ...(moved?.enrollment ? [' ', linkSaid(moved.enrollment)] : []))
}

type Around = { session: Session; screen: Screen; changed: () => void }

/** What changes a member, at once or after a question, and where it says what went wrong. */
const moves = (member: Member, around: Around) => {
  const { screen } = around
  const problem = problemLine()
  const take = async (move: Move): Promise<void> => {
    await moveMember(member, move, around)
    around.changed()
  }
  return {
    problem,
    now: (move: Move): Promise<void> => screen.act(problem, () => take(move)),
    ask: (item: HTMLElement, move: Move, label: string, question: string): void =>
      askFirst(item, { lines: [question], label, work: () => take(move), done: screen.refresh }),
  }
}

const waitingRow = (member: Member, around: Around): HTMLElement => {
  const name = nameOf(member)
  const item = h('li', 'member')
  const { problem, now, ask } = moves(member, around)
  const onHold = member.held_at !== null
  const accept = (): Promise<void> => now('accept')
  const label = t(onHold ? 'members.end' : 'members.reject')
  const question = t(onHold ? 'members.endQuestion' : 'members.rejectQuestion', { name })
  const reject = (): void => ask(item, 'reject', label, question)
  put(
    item,
    h('h3', {}, exactText(name)),
    ...memberLines(member),
    h(
      'p',
      'who',
      member.held_at === null
        ? t('members.since', { date: dateText(member.updated_at) })
        : h('strong', {}, t('members.heldSince', { date: dateText(member.held_at) })),
    ),
    problem.element,
    pair(
      name,
      button(t(onHold ? 'members.liftHold' : 'members.accept'), 'primary', accept),
      button(label, 'danger', reject),
    ),
  )
  return item
}

const typingMs = 200

const shownText = (shown: number, total: number, find: string): string => {
  if (total === 0) return t(find ? 'members.noneFound' : 'members.noOthers')
  return total > shown ? t('members.showing', { shown, total }) : ''
}

const activeRow = (member: Member, around: Around): HTMLElement => {
  const name = nameOf(member)
  const { problem, now, ask } = moves(member, around)
  const hold = (): Promise<void> => now('hold')
  const promote = (): void =>
    ask(item, 'promote', t('members.promote'), t('members.promoteQuestion', { name }))
  const item: HTMLElement = h(
    'li',
    'person',
    h('a', { href: `#member=${encodeURIComponent(member.user_id)}` }, exactText(name)),
    ...memberLines(member),
    problem.element,
    div(
      'links',
      button(t('members.hold'), 'quiet', hold, t('members.holdName', { name })),
      !isAdmin(member) && button(t('members.promote'), 'quiet', promote, t('members.promoteName', { name })),
    ),
  )
  return item
}

/** The active members. They are fetched when the list is opened, and only the first are shown: an organization can be large. */
const activeMembers = (around: Around) => {
  const { org_id: org } = around.session
  const list = ul('people')
  const status = h('p', 'aside')
  const again = h('div')
  const input = textField('find', '', { type: 'search' })
  const field = labelled(t('members.search'), input)

  let latest = 0
  const load = async (): Promise<void> => {
    latest += 1
    const mine = latest
    const find = plainDigits(input.value.trim())
    const wanted = { state: 'active', ...(find && { find }) } as const
    const found = await call('listMembers', wanted, { org }).catch(() => undefined)
    if (mine !== latest) return
    put(again, !found && button(t('common.tryAgain'), 'plain', load))
    if (!found) {
      status.textContent = t('common.cantReadNow')
      return
    }
    const { members, total } = found
    list.replaceChildren(...members.map((member) => activeRow(member, around)))
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

/** Waiting members first, active ones in a disclosure. The device signs each change. */
export const showMembers = (session: Session): View => {
  let refreshActive: (() => void) | undefined
  const changed = (): void => refreshActive?.()
  return showReading({
    title: t('members.title'),
    read: () => call('listMembers', {}, { org: session.org_id }),
    draw: ({ members, total }, screen) => {
      const more = total - members.length
      return [
        h('p', 'aside', t('members.onlyExpected')),
        h(
          'section',
          'waiting',
          h('h2', {}, t('members.waiting')),
          ul('cards', ...members.map((one) => waitingRow(one, { session, screen, changed }))),
          total === 0 && h('p', 'aside', t('members.noneWaiting')),
          more > 0 && h('p', 'aside', t('members.andMore', { count: more })),
        ),
      ]
    },
    below: (screen) => {
      if (!isAdmin(session)) return document.createDocumentFragment()
      const active = activeMembers({ session, screen, changed })
      refreshActive = active.refresh
      return div(
        'content',
        active.element,
        ul(
          'rows',
          way('activity', false, t('history.activity')),
          way('member-mutes', false, t('mutes.title')),
        ),
      )
    },
  })
}
