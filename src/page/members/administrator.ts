import type { Member, Session } from '../calls/api.ts'
import { t } from '../language/text.ts'
import { h } from '../shell/element.ts'

export const isAdmin = ({ role }: Pick<Session | Member, 'role'>): boolean =>
  role === 'admin' || role === 'operator'

/** Says that a member is an administrator. */
export const administratorLine = (member: Member): HTMLElement | false =>
  isAdmin(member) && h('span', 'who', t('members.administrator'))
