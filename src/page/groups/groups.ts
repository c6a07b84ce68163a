import { call, type Groups, type Session } from '../calls/api.ts'
import { nodes, t } from '../language/text.ts'
import { h, ul } from '../shell/element.ts'
import type { View } from '../shell/frame.ts'
import { showReading } from '../shell/reading.ts'
import { exactText } from '../shell/text.ts'

type Group = Groups['groups'][number]

const memberOf = ({ name, asleep }: Group['members'][number]): HTMLElement =>
  h('li', 'who', asleep ? nodes('groups.asleep', { name: exactText(name) }) : exactText(name))

const card = ({ name, members }: Group): HTMLElement =>
  h('li', 'member', h('h2', {}, `@${name}`), ul('people', ...members.map(memberOf)))

/** The groups of approvers that this person is in; for an administrator, all of the organization. */
export const showGroups = (session: Session): View =>
  showReading({
    title: t('groups.title'),
    read: () => call('listOwnGroups', {}, { org: session.org_id }),
    draw: ({ groups }) => [
      h('p', 'aside', t(groups.length === 0 ? 'groups.none' : 'groups.what')),
      ul('cards', ...groups.map(card)),
    ],
  })
