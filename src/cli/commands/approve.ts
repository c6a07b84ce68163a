import type { Command } from 'commander'
import { registerHealth } from '../approve/health.ts'
import { registerInbox } from '../approve/inbox.ts'
import { registerRequest } from '../approve/request.ts'
import { registerRun } from '../approve/run.ts'
import { registerStatus } from '../approve/status.ts'
import { registerTools } from '../approve/tools.ts'
import { registerVerify } from '../approve/verify.ts'
import { registerWait } from '../approve/wait.ts'
import type { Context } from '../context.ts'

/** `svc approve`: what does more than one call of the service. */
export const registerApprove = (group: Command, context: Context): void => {
  registerRequest(group, context)
  registerStatus(group, context)
  registerWait(group, context)
  registerRun(group, context)
  registerInbox(group, context)
  registerVerify(group, context)
  registerTools(group, context)
  registerHealth(group, context)
}
