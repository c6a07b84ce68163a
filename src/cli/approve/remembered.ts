import type { ApprovalRecord } from '../../contract/approval.ts'
import type { Context } from '../context/context.ts'
import { maskPhone } from '../terminal/mask.ts'
import { openMemory } from '../context/disk-cache.ts'

const most = 100

/** What this machine knows of a request that it made through a tool server. The phone is masked: it is no secret of svc. */
export type Remembered = Pick<
  ApprovalRecord,
  'request_id' | 'action' | 'approver_mobile' | 'requested_at' | 'expires_at'
>

/** The requests of a profile to one tool server, newest first. Tool servers list none. */
export const openRemembered = async (context: Context, url: string) => {
  const { profile } = await context.settings()
  const memory = openMemory<Remembered[]>(context.io, ['requests', profile.value, url])
  const all = (): Remembered[] => memory.read()?.value ?? []
  return {
    all,
    find: (request_id: string): Remembered | undefined => all().find((one) => one.request_id === request_id),
    add: ({ request_id, action, approver_mobile, requested_at, expires_at }: ApprovalRecord): void => {
      const fresh = {
        request_id,
        action,
        approver_mobile: maskPhone(approver_mobile),
        requested_at,
        expires_at,
      }
      const others = all().filter((one) => one.request_id !== request_id)
      memory.keep([fresh, ...others].slice(0, most))
    },
  }
}
