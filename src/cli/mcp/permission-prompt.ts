import * as z from 'zod/mini'
import { usageError } from '../../core/errors.ts'
import { approveToolCall, blockedReason } from '../approve/tool-call.ts'
import type { Context } from '../context/context.ts'

/** The answers that Claude Code understands. */
export type Permission =
  | { behavior: 'allow'; updatedInput: Record<string, unknown> }
  | { behavior: 'deny'; message: string }

const request = z.object({
  tool_name: z.string().check(z.minLength(1)),
  input: z.record(z.string(), z.json()),
  tool_use_id: z.optional(z.string()),
})

/**
 * Decides about one call: everything but an approval that was used up denies it. Throws a usage error if the profile has no
 * approver, because every call would be denied.
 */
export const createPermissionPrompt = async (
  context: Context,
): Promise<(input: unknown, signal: AbortSignal) => Promise<Permission>> => {
  const { defaultMobile } = await context.settings()
  if (!defaultMobile)
    throw usageError(
      'The permission prompt has no approver: default_mobile is not set',
      'svc profile set default_mobile=+12025550101',
    )
  return async (input, signal) => {
    const { data, success } = request.safeParse(input)
    if (!success)
      return {
        behavior: 'deny',
        message: 'svc blocked this call: it has no tool_name and no input that svc can read.',
      }
    const io = { ...context.io, signal: AbortSignal.any([context.io.signal, signal]) }
    try {
      const call = { server: 'Claude Code', tool: data.tool_name, input: data.input, cwd: io.cwd }
      await approveToolCall(call, {}, { ...context, io })
      return { behavior: 'allow', updatedInput: data.input }
    } catch (error) {
      return { behavior: 'deny', message: blockedReason(error) }
    }
  }
}
