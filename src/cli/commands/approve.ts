import type { Command } from 'commander'
import { registerEitherWay } from '../approve/either-way.ts'
import { registerHealth } from '../approve/health.ts'
import { registerInbox } from '../approve/inbox.ts'
import { registerRequest } from '../approve/request.ts'
import { registerRun } from '../approve/run.ts'
import { registerTools } from '../approve/tools.ts'
import { registerVerify } from '../approve/verify.ts'
import { registerWait } from '../approve/wait.ts'
import { noteScopes } from '../command-scope.ts'
import type { Context } from '../context.ts'

/** `svc approve`: what does more than one call of the service. */
export const registerApprove = (group: Command, context: Context): void => {
  registerRequest(group, context)
  registerEitherWay(group, context)
  registerWait(group, context)
  registerRun(group, context)
  registerInbox(group, context)
  registerVerify(group, context)
  registerTools(group, context)
  registerHealth(group, context)
  noteScopes(group, { request: 'ask', wait: 'ask or read', run: 'ask', inbox: 'ask or read' })
}
