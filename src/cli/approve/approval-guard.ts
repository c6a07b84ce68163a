import type { Client, RawRequest } from '../../client/client.ts'
import { SvcError } from '../../core/errors.ts'
import { isRecord } from '../../core/is-record.ts'
import type { ApprovalGuard, Change, Context } from '../context/context.ts'

/** `org delete` is listed as itself or by its group: `org`. */
const isListed = (listed: readonly string[], words: string): boolean =>
  listed.some((entry) => words === entry || words.startsWith(`${entry} `))

/** The error codes for an approval that does not satisfy the rule. */
const notForRules = new Set(['unknown_approval', 'other_subject', 'already_used'])

/** A call that a rule holds; a request for an approval has the field itself. */
const isAboutReason = (error: unknown): boolean =>
  error instanceof SvcError && isRecord(error.data?.reason) && error.issues?.[0]?.field === 'reason'

/** Holds back the commands that a profile lists under `require_approval` until a person approves this run. */
export const createApprovalGuard = (context: Context): ApprovalGuard => {
  let approved: Promise<string | undefined> | undefined
  let id: string | undefined
  let asked = false

  const requireApproved = async (change: Change): Promise<void> => {
    const { requireApproval } = await context.settings()
    const all = [change.cli, context.command?.words ?? ''].flat()
    // A request for an approval requires none itself.
    if (all[0]!.startsWith('approve ') || !all.some((words) => isListed(requireApproval, words))) return
    approved ??= import('./approve-first.ts').then(({ askFirst }) => askFirst(change, context))
    id = await approved
  }

  const requireRaw = async (request: RawRequest): Promise<void> => {
    const { requireApproval, baseUrl } = await context.settings()
    if (requireApproval.length === 0) return
    const { operationAt, rawLine, redactedPath } = await import('../operation/raw-operation.ts')
    const operation = operationAt(request.method, request.path, baseUrl.value)
    if ((operation?.effect ?? request.effect) === 'read') return
    // A route that is not in the table could be any of the listed ones.
    await requireApproved({
      cli: operation?.cli ?? requireApproval[0]!,
      line: rawLine(request),
      bound: async () => {
        const { boundBody } = await import('../operation/approval-subject.ts')
        const { method, path, body } = request
        return boundBody(`${method} ${redactedPath(path)}`, body === undefined ? {} : JSON.parse(body))
      },
    })
  }

  /** Sends once with another approval, or without one. */
  const sendWith = async <T>(approval: string | undefined, send: () => Promise<T>): Promise<T> => {
    const before = id
    id = approval
    try {
      return await send()
    } finally {
      id = before
    }
  }

  /** If a rule requires a reason, none was given, and somebody is at the terminal: asks for it, and sends again. */
  const withReason = async <T>(send: () => Promise<T>): Promise<T> => {
    for (;;)
      try {
        return await send()
      } catch (error) {
        const isGiven = context.reason !== undefined && !asked
        const prompt = isAboutReason(error) && !isGiven ? await context.prompt() : undefined
        if (!prompt) throw error
        const { askReason } = await import('./demanded.ts')
        asked = true
        context.reason = await askReason(prompt, error as SvcError, context)
      }
  }

  /** If a rule of the organization requires an approval: waits for it and sends the same call again with it. */
  const afterApproval = async <T>(error: unknown, send: () => Promise<T>): Promise<T> => {
    if (!(error instanceof SvcError) || error.code !== 'approval_required') throw error
    const { awaitRequired } = await import('./approve-first.ts')
    return sendWith(await awaitRequired(context, error), send)
  }

  /**
   * An approval that the profile required satisfies no rule of the organization: sends the call without it, and then waits for
   * the approval that the rule requires.
   */
  const afterRefusal = async <T>(error: unknown, send: () => Promise<T>): Promise<T> => {
    const isOther = error instanceof SvcError && notForRules.has(error.code)
    if (id === undefined || !isOther) return afterApproval(error, send)
    return sendWith(undefined, async () => {
      try {
        return await send()
      } catch (ruled) {
        return await afterApproval(ruled, send)
      }
    })
  }

  const guard = (client: Client): Client => ({
    ...client,
    call: async (operation, input, options) => {
      if (operation.effect === 'read') return client.call(operation, input, options)
      await requireApproved({ cli: operation.cli })
      const call = () => client.call(operation, input, options)
      const send = operation.effect === 'notifies' ? call : () => withReason(call)
      const answer = await send().catch((error: unknown) => afterRefusal(error, send))
      context.changed = true
      return answer
    },
    raw: async (request, options) => {
      await requireRaw(request)
      const answer = await client.raw(request, options)
      if (request.effect !== 'read' && answer.status < 300) context.changed = true
      return answer
    },
  })

  const approveTogether: ApprovalGuard['approveTogether'] = async (...all) =>
    (await import('./approve-batch.ts')).approveBatch(...all, context)

  return { requireApproved, approveTogether, guard, approval: () => id }
}
