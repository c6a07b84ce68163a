import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Ask } from '../../contract/approval-gateway.ts'
import { SvcError, usageError } from '../../core/errors.ts'
import { sha256 } from '../../core/ids.ts'
import { safeLine } from '../../core/safe-text.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import { whereLine } from '../operation/confirm.ts'
import type { Change, Context } from '../context/context.ts'
import { findOrg, resolveOrg } from '../context/organization.ts'
import { configDir } from '../context/private-file.ts'
import { reserveFile } from '../terminal/output-file.ts'
import type { Backend } from './backend.ts'
import { consumedApproval } from './consumed-approval.ts'
import { openBackend } from './open-backend.ts'
import { notApproved, withdraw } from './get-approval.ts'
import { createProgress, type Progress } from './progress.ts'
import { waitFor } from './wait.ts'

const seconds = 120
/** A service accepts 500 characters; a longer command is cut and identified by its hash. */
const mostLength = 500

const shortened = (line: string, where: string): string => {
  const whole = safeLine(`${line}, ${where}`)
  if (whole.length <= mostLength) return whole
  const rest = ` … (SHA-256 of the whole: ${sha256(whole)}), ${safeLine(where)}`
  return `${whole.slice(0, mostLength - rest.length).replace(/[\uD800-\uDBFF]$/, '')}${rest}`
}

/** Uses the service; if it cannot show people the action, the tool server of the profile. */
const openRequesting = async (context: Context, ask: Ask): Promise<Backend> => {
  const [{ hasApprovals }, { mcpUrl }, client] = await Promise.all([
    import('../../client/rest-gateway.ts'),
    context.settings(),
    context.client(),
  ])
  // Ignores a tool server from the environment: the profile decides how an approval is requested.
  const elsewhere = mcpUrl?.source === 'profile' && !(await hasApprovals(client))
  const through = elsewhere ? 'tools' : 'service'
  return openBackend(context, { through, requester: ask.requester })
}

/** Progress on stderr, whatever the output format of the command is. */
const createPlainProgress = ({ io, globals: { reveal = false } }: Context, backend: Backend): Progress =>
  createProgress({ io, globals: { reveal } }, backend.secondsLeft)

const saveReceipt = async (id: string, receipt: string, context: Context): Promise<void> => {
  const folder = join(configDir(context.io), 'receipts')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const file = reserveFile(join(folder, `${id.replaceAll(/[^\w-]/g, '_')}.json`), 'receipt', context.io)
  file.write(`${receipt}\n`)
  ;(await context.output()).warn(`Receipt saved in ${file.path}`)
}

/**
 * Requests an approval of exactly this command from the approver of the profile, and waits. Returns the id of the request if
 * the service that gets the write has that request, for its audit log. Throws without an approval; nothing was sent then.
 */
export const askFirst = async (
  { cli, line, org, bound }: Change,
  context: Context,
): Promise<string | undefined> => {
  const { command } = context
  const settings = await context.settings()
  const { approver, profile, org: own } = settings
  const words = command?.words ?? [cli].flat()[0]
  if (approver === undefined)
    throw usageError(
      `Profile "${profile.value}" requires an approval for svc ${words}, but has no approver`,
      `svc profile set ${shellQuote(profile.value)} default_mobile=+12025550101`,
    )
  const what = line ?? (await command?.line()) ?? `svc ${words}`
  const organization = org === undefined ? undefined : await findOrg(String(org), context)
  const exactly = await bound?.()
  const subject =
    exactly && (await import('../operation/approval-subject.ts')).requestSubject(exactly, organization)
  const ask: Ask = {
    ...(subject && { subject }),
    action: shortened(what, await whereLine(context, org)),
    reason: `Profile ${profile.value} requires an approval for this command`,
    approver_mobile: approver,
    lifetime_s: seconds,
    requester: settings.requestFrom?.value,
    org_id: own && (await resolveOrg(own.value, context)).id,
  }
  const backend = await openRequesting(context, ask)
  const progress = createPlainProgress(context, backend)
  try {
    const { id, receipt } = await consumedApproval(
      ask,
      // `require_approval` protects against this command line, not against the owner of its key.
      {
        backend,
        progress,
        nothing: 'nothing was sent',
        allowUnseparated: true,
        org: undefined,
        reusable: true,
      },
      context,
    )
    if (backend.namesRequests) return id
    await saveReceipt(id, receipt, context)
    return undefined
  } finally {
    await backend.close()
  }
}

/** The requests that the service has created because a rule of the organization requires an approval. */
const requestsIn = ({ data }: SvcError): string[] =>
  (Array.isArray(data?.requests) ? data.requests : [])
    .map((one: { request_id?: unknown } | null) => one?.request_id)
    .filter((id): id is string => typeof id === 'string' && /^[\w-]{1,64}$/.test(id))

/**
 * Waits until one of the approvers that the service has notified approves, and returns the id of that request, with which the
 * call is repeated. Throws without an approval; nothing was changed then.
 */
export const awaitRequired = async (context: Context, required: SvcError): Promise<string> => {
  const ids = requestsIn(required)
  if (ids.length === 0) throw required
  const { io, globals } = context
  const output = await context.output()
  output.warn(`${safeLine(required.message)}. Waiting for: ${ids.join(', ')}`)
  const backend = await openBackend(context, { through: 'service' })
  const progress = createPlainProgress(context, backend)
  const open = new Set(ids)
  const done = new AbortController()
  const signal = AbortSignal.any([io.signal, done.signal])
  try {
    const first = await Promise.all(ids.map((id) => backend.gateway.status(id)))
    const waits = first.map(async (record) => {
      if (record.status === 'pending') progress.waiting(record)
      const decided = await waitFor(backend, record, { progress, signal, globals })
      if (decided.status !== 'pending') open.delete(decided.request_id)
      progress.decided(decided)
      if (decided.status !== 'approved')
        throw notApproved(decided, 'the service requires an approval, and nothing was changed')
      return decided.request_id
    })
    return await Promise.any(waits).catch((error: AggregateError) => {
      // A denial says more than an expired request.
      throw error.errors.find((one) => one instanceof SvcError && one.code === 'denied') ?? error.errors[0]
    })
  } catch (error) {
    progress.end()
    await Promise.all([...open].map((id) => withdraw(id, backend, context)))
    if (io.signal.aborted)
      throw new SvcError('interrupted', 'interrupted', 'Interrupted; nothing was changed')
    throw error
  } finally {
    done.abort()
    progress.end()
    await backend.close()
  }
}
