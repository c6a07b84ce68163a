import { fieldsIn } from '../../client/answer-data.ts'
import type { Answer } from '../../client/client.ts'
import { approval } from '../../contract/approval.ts'
import { review } from '../../contract/review.ts'
import type { Operation } from '../../contract/operation.ts'
import { SvcError } from '../../core/errors.ts'
import type { Context } from '../context/context.ts'
import type { Extension, Extensions } from '../operation/operation-command.ts'
import { defineCommand, together, type Typed } from '../program/define-command.ts'
import { answerTexts, listTexts } from './request-cells.ts'
import { registerInbox } from './inbox.ts'
import { sayReview, showBelow } from './messages.ts'
import { registerRequest } from './request.ts'
import { registerRun } from './run.ts'
import { registerVerify } from './verify.ts'
import { registerWait } from './wait.ts'

/** `svc approve health`: checks the tool server without a credential. */
const registerHealth = defineCommand({
  name: 'health',
  summary: 'Check the health of the tool server',
  examples: ['svc approve health'],
  action: async (_, context) => {
    const { mcpUrl, baseUrl, cacert } = await context.settings()
    const { origin } = new URL(mcpUrl?.value ?? baseUrl.value)
    const { getJson, readHealth } = await import('../context/open-client.ts')
    const data = await getJson(context, `${origin}/health`, cacert?.value)
    const health = readHealth(data)
    if (health === 'unhealthy')
      throw new SvcError('failed', 'unhealthy', `${origin} reports that it is not healthy`, {
        hint: 'Check its log. svc serve reports this while it cannot write, for example because its disk is full',
      })
    if (health === 'unknown')
      throw new SvcError('failed', 'unexpected_answer', `${origin}/health does not report a health status`, {
        hint: 'Check the address: svc profile show --explain',
      })
    const output = await context.output()
    await output.report('Healthy', data)
  },
})

/** `svc approve tools`: lists the tools of a tool server. */
const registerTools = defineCommand({
  name: 'tools',
  summary: 'List the tools of the tool server at SVC_MCP_URL',
  examples: ['SVC_MCP_URL=https://host.example/mcp svc approve tools'],
  action: async (_, context) => {
    const { withTools } = await import('./tool-server.ts')
    await withTools(context, async ({ tools }) => {
      const output = await context.output()
      await output.report('Tools', await tools.list(), { columns: ['name', 'title', 'description'] })
    })
  },
})

const aboutOneRequest = new Set<Operation>([approval.getApproval, approval.withdrawApproval])

/** Requires the status of this very request: a script would take any other for the decision. */
const requireAbout = (answer: Pick<Answer, 'envelope'>, requestedId: unknown): void => {
  const { request_id, status } = fieldsIn(answer)
  if (request_id === requestedId && typeof status === 'string') return
  throw new SvcError('failed', 'unexpected_answer', 'The service did not return the status of this request', {
    detail: 'The decision is unknown. This is not an approval.',
    hint: 'svc profile show --explain shows the address in use',
  })
}

const byService = async (operation: Operation, typed: Typed, context: Context): Promise<void> => {
  const { runOperation } = await import('../operation/run-operation.ts')
  let record: Record<string, unknown> = {}
  await runOperation(operation, typed, context, {
    texts: operation === approval.listApprovals ? listTexts : answerTexts,
    afterShown: (answer) => {
      record = fieldsIn(answer)
    },
    check: aboutOneRequest.has(operation)
      ? (answer, { request_id }) => requireAbout(answer, request_id)
      : undefined,
  })
  if (operation === approval.getApproval) await showBelow(context, record)
  if (operation === review.reviewApproval) await sayReview(context, record)
}

type ByTools = (typed: Typed, context: Context) => Promise<void>

/** Uses the REST API; with --mcp, or if the service has no approvals, the tools, if they can do it. */
const extend = (operation: Operation, tools?: ByTools): Extension => ({
  options: tools ? { '--mcp': 'Use the tool server at SVC_MCP_URL' } : {},
  action: async (typed, context) => {
    if (tools && typed.options['mcp']) return tools(typed, context)
    try {
      await byService(operation, typed, context)
    } catch (error) {
      const { lacksApprovals, noApprovals } = await import('./open-backend.ts')
      if (!(await lacksApprovals(error, context))) throw error
      const settings = await context.settings()
      if (tools && settings.mcpUrl) return tools(typed, context)
      const { message, detail = '', hint } = noApprovals(settings, tools ? undefined : 'service')
      throw (error as SvcError).with({ detail: `${message}. ${detail}`.trimEnd(), hint })
    }
  },
})

/** `svc approve submit|status|list|withdraw`, some of which a tool server can serve too. */
export const eitherWay: Extensions = new Map(
  (
    [
      [approval.createApproval, async (...call) => (await import('./by-tools.ts')).submitByTools(...call)],
      [approval.getApproval, async (...call) => (await import('./by-tools.ts')).statusByTools(...call)],
      [approval.listApprovals],
      [approval.withdrawApproval],
      [approval.consumeApproval],
      [review.reviewApproval],
    ] as [Operation, ByTools?][]
  ).map(([operation, tools]) => [operation, extend(operation, tools)]),
)

/** First in the help, before the commands of the table. */
export const registerFirst = together(registerRequest, registerRun)

/** The other commands of `svc approve` that make more than one call. */
export const registerApprove = together(
  registerWait,
  registerInbox,
  registerVerify,
  registerTools,
  registerHealth,
)
