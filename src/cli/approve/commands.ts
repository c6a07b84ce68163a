import type { Command } from 'commander'
import { registerHealth, registerTools } from './tool-commands.ts'
import { registerInbox } from './inbox.ts'
import { registerRequest } from './request.ts'
import { registerRun } from './run.ts'
import { registerVerify } from './verify.ts'
import { registerWait } from './wait.ts'
import type { Context } from '../context/context.ts'

/** `svc approve`: what does more than one call of the service. */
export const registerApprove = (group: Command, context: Context): void => {
  registerRequest(group, context)
  registerWait(group, context)
  registerRun(group, context)
  registerInbox(group, context)
  registerVerify(group, context)
  registerTools(group, context)
  registerHealth(group, context)
}
