import type { Pending } from '../calls/api.ts'
import { nodes, t } from '../language/text.ts'
import { h, picture } from './element.ts'
import { framed } from './text.ts'

type Origin = Pending['origin']

/** Before foreign text, so that nothing in it looks or sounds like a badge. */
const badge = (isVerified: boolean): HTMLElement =>
  h(
    'span',
    { class: isVerified ? 'badge good' : 'badge' },
    picture(isVerified ? 'check' : 'barred'),
    t(isVerified ? 'requester.verified' : 'requester.unverified'),
  )

const line = (text: Node | string, mark?: HTMLElement, pattern?: HTMLElement | false): HTMLElement =>
  h('span', 'who', pattern, mark, mark && ' ', text)

/**
 * A pattern for each key, by which a person recognizes it: the name of a key is chosen freely, and this is not. From the number
 * of the key alone, which the service assigns.
 */
const patternOf = (id: string): HTMLElement => {
  let bits = Number.parseInt(id, 10) + 1
  for (let round = 0; round < 4; round++) bits = Math.imul(bits ^ (bits >>> 15), 0x2c1b3c6d)
  let path = ''
  // Three columns of five; the other two mirror the first two.
  for (let at = 0; at < 15; at++)
    if ((bits >>> at) & 1)
      for (const x of new Set([at % 3, 4 - (at % 3)])) path += `M${x} ${Math.floor(at / 3)}h1v1h-1z`
  const fill = `hsl(${(bits >>> 15) % 360} 70% 32%)`
  const drawing = h('svg', { viewBox: '0 0 5 5' }, h('path', { d: path, fill }))
  return h('span', { class: 'pattern', 'aria-hidden': 'true' }, drawing)
}

const kinds = { key: 'requester.key', agent: 'requester.agent', member: 'requester.member' } as const

const credentialLine = ({ credential, id }: Origin): HTMLElement => {
  if (credential === null) return line(t('requester.none'))
  const { kind } = credential
  const text =
    kind === 'token'
      ? t('requester.token')
      : nodes(kinds[kind], { name: h('strong', {}, framed(credential.name)) })
  return line(text, badge(true), kind !== 'member' && patternOf(id))
}

/** The name apart from the id and the number, so that it cannot imitate those of another person. */
const ownerLines = ({ owner, kind }: NonNullable<Origin['credential']>): HTMLElement[] => {
  if (owner === undefined) return []
  const { confirmed, twin, name, user_id: id, mobile } = owner
  const person = nodes(confirmed ? 'requester.connected' : 'requester.owned', { person: framed(name) })
  return [
    // A member at the page is the credential itself.
    ...(kind === 'member' ? [] : [line(person, badge(confirmed))]),
    line(t('requester.person', { id, mobile })),
    ...(twin ? [line(t('requester.twin'))] : []),
  ]
}

/** What a program says that it is. */
export const claimedLine = (name: string): HTMLElement =>
  line(nodes('requester.callsItself', { name: framed(name) }), badge(false))

/** Who asks: lines for what the service verified, then one for what the requester says of itself. */
export const requesterLines = (origin: Origin): HTMLElement[] => [
  credentialLine(origin),
  ...(origin.credential ? ownerLines(origin.credential) : []),
  ...(origin.claimed_name === null ? [] : [claimedLine(origin.claimed_name)]),
]
