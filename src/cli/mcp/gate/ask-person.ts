import type { Ask } from '../../../contract/approval-gateway.ts'
import { SvcError } from '../../../core/errors.ts'
import { safeLine } from '../../../core/safe-text.ts'
import { summaryOf } from '../../../receipt/subject-text.ts'
import type { Backend } from '../../approve/backend.ts'
import { consumedApproval } from '../../approve/consumed-approval.ts'
import { checkSeparated } from '../../approve/separation.ts'
import type { Context } from '../../context/context.ts'
import { resolveOrgNow } from '../../context/organization.ts'
import type { GetConsumed } from './held-calls.ts'

/** Throws if the key of the gate could influence who approves. `svc approve run` still accepts a key with every scope. */
export const requireSeparated = async (context: Context): Promise<void> => {
  const [message, hint] = (await checkSeparated(context)) ?? []
  if (message === undefined) return
  throw new SvcError('usage', 'not_separated', 'The requesting key can influence who approves', {
    hint: hint?.replace(/^hint: /, ''),
  })
}

/** As much of a name as the service accepts. */
const requesterOf = (client: string | undefined): string =>
  [...safeLine(client ?? '').trim()].slice(0, 100).join('') || 'svc mcp gate'

type Asking = {
  backend: Backend
  org: string | undefined
  /** The name that the client gave itself. */
  client(): string | undefined
}

/** Asks a person with the service of the profile. */
export const askPerson =
  (context: Context, { backend, org, client }: Asking): GetConsumed =>
  async (subject, { to, timeout, factors }, { progress, signal, recheck }) => {
    await requireSeparated(context)
    const { io } = context
    const own = { ...context, io: { ...io, signal: AbortSignal.any([io.signal, signal]) } }
    const ask: Ask = {
      action: summaryOf(subject),
      subject,
      approver_mobile: to,
      lifetime_s: timeout,
      requester: requesterOf(client()),
      ...(factors && { factors }),
      ...(org !== undefined && { org_id: (await resolveOrgNow(org, own)).id }),
    }
    const nothing = 'the call was not forwarded'
    await consumedApproval(ask, { backend, progress, nothing, allowUnseparated: false, org, recheck }, own)
  }
