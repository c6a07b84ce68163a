import { type Answered, call, type Session } from '../calls/api.ts'
import { t } from '../language/text.ts'
import { h, ul } from '../shell/element.ts'
import type { View } from '../shell/frame.ts'
import { showReading } from '../shell/reading.ts'
import { exactText, nameOf } from '../shell/text.ts'

const card = ({ name, members }: Answered<'listOwnGroups'>['groups'][number]): HTMLElement =>
  h(
    'li',
    'member',
    h('h2', {}, exactText(`@${name}`)),
    ul(
      'people',
      ...members.map((member) =>
        h(
          'li',
          'person',
          exactText(nameOf(member)),
          h('span', 'who', exactText(member.mobile)),
          member.asleep && h('span', 'who', t('groups.asleep')),
        ),
      ),
    ),
  )

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
