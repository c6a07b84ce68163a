import type { Pending } from '../calls/api.ts'
import { nodes, t } from '../language/text.ts'
import { h, picture } from './element.ts'
import { exactLine } from './text.ts'

type Origin = Pending['origin']
type Line = { text: Node | string; badge?: HTMLElement }

/** Before foreign text, so that nothing in it looks or sounds like a badge. */
const badge = (isVerified: boolean): HTMLElement =>
  h(
    'span',
    { class: isVerified ? 'badge good' : 'badge' },
    picture(isVerified ? 'check' : 'barred'),
    t(isVerified ? 'requester.verified' : 'requester.unverified'),
  )

/** A frame shows where a name begins and ends, whatever is in it. */
const framed = (name: string): HTMLElement => h('span', 'framed', exactLine(name))

const kinds = { key: 'requester.key', agent: 'requester.agent', member: 'requester.member' } as const

const credentialLine = (credential: Origin['credential']): Line => {
  if (credential === null) return { text: t('requester.none') }
  const { kind } = credential
  const text =
    kind === 'token'
      ? t('requester.token')
      : nodes(kinds[kind], { name: h('strong', {}, framed(credential.name)) })
  return { badge: badge(true), text }
}

/** The name apart from the id and the number, so that it cannot imitate those of another person. */
const ownerLines = ({ owner, kind }: NonNullable<Origin['credential']>): Line[] => {
  if (owner === undefined) return []
  const { confirmed, twin, name, user_id: id, mobile } = owner
  const person = nodes(confirmed ? 'requester.connected' : 'requester.owned', { person: framed(name) })
  return [
    // A member at the page is the credential itself.
    ...(kind === 'member' ? [] : [{ badge: badge(confirmed), text: person }]),
    { text: t('requester.person', { id, mobile }) },
    ...(twin ? [{ text: t('requester.twin') }] : []),
  ]
}

const shown = ({ badge: mark, text }: Line): HTMLElement => h('span', 'who', mark, mark && ' ', text)

/** What a program says that it is. */
export const claimedLine = (name: string): HTMLElement =>
  shown({ badge: badge(false), text: nodes('requester.callsItself', { name: framed(name) }) })

/** Who asks: lines for what the service verified, then one for what the requester says of itself. */
export const requesterLines = ({ credential, claimed_name }: Origin): HTMLElement[] => [
  ...[credentialLine(credential), ...(credential ? ownerLines(credential) : [])].map(shown),
  ...(claimed_name === null ? [] : [claimedLine(claimed_name)]),
]
