import type { Ask } from '../../contract/approval-gateway.ts'
import { SvcError } from '../../core/errors.ts'
import { digestOf, textSubject } from '../../receipt/subject.ts'
import type { Context } from '../context/context.ts'
import { getApproval, type Asking } from './get-approval.ts'
import type { Approval } from './proof.ts'

type Consuming = Asking & {
  /** Also accepts a tool server, which cannot use an approval up. */
  reusable?: boolean | undefined
  /** Runs between the approval and its use. Throws if what was approved is no longer what would be done. */
  recheck?: () => void | Promise<void>
}

/**
 * Requests an approval, waits, verifies the receipt, and uses the approval up, so that it permits one action. Throws in every
 * other case; nothing may be done then.
 */
export const consumedApproval = async (
  ask: Ask,
  { recheck, reusable = false, ...asking }: Consuming,
  context: Context,
): Promise<Approval> => {
  const { gateway } = asking.backend
  if (!gateway.consume && !reusable)
    throw new SvcError('failed', 'not_once', `A tool server cannot use up an approval: ${asking.nothing}`, {
      hint: 'Use the REST API: svc profile login --ask',
    })
  const approval = await getApproval(ask, asking, context)
  await recheck?.()
  await gateway.consume?.(approval.id, digestOf((ask.subject ?? textSubject(ask.action)).data))
  return approval
}
