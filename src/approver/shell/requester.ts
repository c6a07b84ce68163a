import type { Pending } from '../calls/api.ts'
import { nodes, t } from '../language/text.ts'
import { h } from './element.ts'
import { exactText } from './text.ts'

type Origin = Pending['origin']

const credentialText = (credential: Origin['credential']): Node | string => {
  if (credential === null) return t('requester.none')
  const { kind, consented_by } = credential
  if (kind === 'token') return t('requester.token')
  const name = h('strong', {}, exactText(credential.name))
  return kind === 'agent'
    ? nodes('requester.agent', { name, person: exactText(consented_by ?? '') })
    : nodes('requester.key', { name })
}

/** Who asks, in one line for what the service verified and another for what the requester says of itself. */
export const requesterLines = ({ credential, claimed_name }: Origin): HTMLElement[] => [
  h('span', { class: 'who' }, credentialText(credential)),
  ...(claimed_name === null
    ? []
    : [h('span', { class: 'who' }, nodes('requester.callsItself', { name: exactText(claimed_name) }))]),
]
