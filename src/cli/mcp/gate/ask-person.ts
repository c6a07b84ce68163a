import { ask } from '../../../asking/ask.ts'
import type { Backend } from '../../../asking/backend.ts'
import { safeLine } from '../../../core/safe-text.ts'
import { summaryOf } from '../../../receipt/subject-text.ts'
import { separated } from '../../approve/separation.ts'
import type { Context } from '../../context/context.ts'
import { resolveOrgNow } from '../../context/organization.ts'
import type { GetConsumed } from './held-calls.ts'

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
  async (subject, { to, reason, timeout, factors }, { progress, signal, recheck }) => {
    const { io } = context
    const own = { ...context, io: { ...io, signal: AbortSignal.any([io.signal, signal]) } }
    const wanted = {
      action: summaryOf(subject),
      subject,
      lifetime_s: timeout,
      requester: requesterOf(client()),
      ...(reason !== undefined && { reason }),
      ...(factors && { factors }),
      ...(org !== undefined && { org_id: (await resolveOrgNow(org, own)).id }),
    }
    await ask(
      wanted,
      { ...(to.length > 0 && { approvers: to }) },
      {
        backend,
        progress: { ...progress, warn: (await context.output()).warn },
        signal: own.io.signal,
        nothing: 'the call was not forwarded',
        proof: 'required',
        once: 'always',
        separated: await separated(context),
        recheck,
      },
    )
  }
