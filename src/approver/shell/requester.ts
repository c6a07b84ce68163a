import type { Pending } from '../calls/api.ts'
import { nodes, t } from '../language/text.ts'
import { h } from './element.ts'
import { exactText } from './text.ts'

type Origin = Pending['origin']

const credentialText = (credential: Origin['credential']): Node | string => {
  if (credential === null) return t('requester.none')
  const { kind } = credential
  return kind === 'token'
    ? t('requester.token')
    : nodes(`requester.${kind}`, { name: h('strong', {}, exactText(credential.name)) })
}

/** The name apart from the id and the number, so that it cannot imitate those of another person. */
const ownerTexts = (owner: NonNullable<Origin['credential']>['owner']): (Node | string)[] =>
  owner === undefined
    ? []
    : [
        nodes(owner.confirmed ? 'requester.connected' : 'requester.owned', { person: exactText(owner.name) }),
        t('requester.person', { id: owner.user_id, mobile: owner.mobile }),
        ...(owner.twin ? [t('requester.twin')] : []),
      ]

/** Who asks: lines for what the service verified, then one for what the requester says of itself. */
export const requesterLines = ({ credential, claimed_name }: Origin): HTMLElement[] =>
  [
    credentialText(credential),
    ...ownerTexts(credential?.owner),
    ...(claimed_name === null ? [] : [nodes('requester.callsItself', { name: exactText(claimed_name) })]),
  ].map((text) => h('span', { class: 'who' }, text))
