import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod/mini'
import { ask, awaitHeld, type Approval, type Wanted } from '../../asking/ask.ts'
import type { Backend } from '../../asking/backend.ts'
import { approvalLine } from '../../contract/approval-line.ts'
import { readLines } from '../../contract/approvers.ts'
import { askedText, becauseText } from '../../contract/line-progress.ts'
import { SvcError, usageError } from '../../core/errors.ts'
import { sha256 } from '../../core/ids.ts'
import { safeJson, safeLine } from '../../core/safe-text.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import { whereLine } from '../operation/confirm.ts'
import type { Change, Context } from '../context/context.ts'
import { findOrg, resolveOrg } from '../context/organization.ts'
import { configDir } from '../context/private-file.ts'
import { reserveFile } from '../terminal/output-file.ts'
import { openBackend } from './open-backend.ts'
import { createProgress } from './progress.ts'

const seconds = 120
/** A service accepts 500 characters; a longer command is cut and identified by its hash. */
const mostLength = 500

const shortened = (line: string, where: string): string => {
  const whole = safeLine(`${line}, ${where}`)
  if (whole.length <= mostLength) return whole
  const rest = ` … (SHA-256 of the whole: ${sha256(whole)}), ${safeLine(where)}`
  return `${whole.slice(0, mostLength - rest.length).replace(/[\uD800-\uDBFF]$/, '')}${rest}`
}

/** How a command asks: with its progress on stderr, whatever its output format is. */
const askingIn = ({ io, globals: { reveal = false } }: Context, backend: Backend) => ({
  backend,
  progress: createProgress({ io, globals: { reveal } }, backend),
  signal: io.signal,
})

const saveReceipt = async ({ id, record }: Approval, context: Context): Promise<void> => {
  const folder = join(configDir(context.io), 'receipts')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const file = reserveFile(join(folder, `${id.replaceAll(/[^\w-]/g, '_')}.json`), 'receipt', context.io)
  file.write(`${safeJson(record.attestation, 2)}\n`)
  ;(await context.output()).warn(`Receipt saved in ${file.path}`)
}

/** Whether the service refused a request because it names nobody, and no rule does. */
const isAboutApprovers = (error: unknown): boolean =>
  error instanceof SvcError && error.issues?.some(({ field }) => field === 'approvers') === true

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
  const what = line ?? (await command?.line()) ?? `svc ${words}`
  const organization = org === undefined ? undefined : await findOrg(String(org), context)
  const exactly = await bound?.()
  const subject =
    exactly && (await import('../operation/approval-subject.ts')).requestSubject(exactly, organization)
  const wanted: Wanted = {
    ...(subject && { subject }),
    action: shortened(what, await whereLine(context, org)),
    reason: `Profile ${profile.value} requires an approval for this command`,
    lifetime_s: seconds,
    requester: settings.requestFrom?.value,
    org_id: own && (await resolveOrg(own.value, context)).id,
  }
  // Ignores a tool server from the environment: the profile decides how an approval is requested.
  const through = settings.mcpUrl?.source === 'profile' ? undefined : 'service'
  const backend = await openBackend(context, { through, requester: wanted.requester })
  try {
    // `require_approval` protects against this command line, not against the owner of its key, so any key may ask.
    const approval = await ask(
      wanted,
      approver === undefined
        ? {}
        : { approvers: readLines({ value: approver, name: 'default_mobile of the profile' }) },
      {
        ...askingIn(context, backend),
        nothing: 'nothing was sent',
        proof: 'required',
        once: 'if-possible',
        separated: 'any-key',
        submit: (_, send) =>
          send().catch((error: unknown) => {
            if (approver !== undefined || !isAboutApprovers(error)) throw error
            throw usageError(
              `Profile "${profile.value}" requires an approval for svc ${words}, but has no approver`,
              `svc profile set ${shellQuote(profile.value)} default_mobile=+12025550101`,
            )
          }),
      },
    )
    if (!backend.tools) return approval.id
    await saveReceipt(approval, context)
    return undefined
  } finally {
    await backend.close()
  }
}

/** The request that the service has created because a rule of the organization requires an approval. */
const requestIn = ({ data }: SvcError): { request_id: string; lines: unknown } | undefined => {
  const { request_id: id, lines } = (data?.request ?? {}) as { request_id?: unknown; lines?: unknown }
  return typeof id === 'string' && /^[\w-]{1,64}$/.test(id) ? { request_id: id, lines } : undefined
}

/** ` by 2 of @dba because of rule people`; empty if the service does not say it. */
const byWhom = (lines: unknown): string => {
  const { data } = z.array(approvalLine).safeParse(lines)
  if (data === undefined || data.length === 0) return ''
  const because = becauseText([...new Set(data.flatMap(({ rules }) => rules))])
  return ` by ${askedText(data)}${because === undefined ? '' : ` ${because}`}`
}

/** Waits until everybody approves a request that the service has made. Throws without an approval. */
export const awaitRequest = async (
  context: Context,
  { request_id: id, lines }: { request_id: string; lines?: unknown },
): Promise<void> => {
  const output = await context.output()
  output.warn(`This requires an approval${byWhom(lines)}: ${id}`)
  const backend = await openBackend(context, { through: 'service' })
  await awaitHeld(id, { ...askingIn(context, backend), nothing: 'this was not changed' })
}

/**
 * Waits until everybody whom the service has notified approves, and returns the id of the request, with which the call is
 * repeated. Throws without an approval; nothing was changed then.
 */
export const awaitRequired = async (context: Context, required: SvcError): Promise<string> => {
  const request = requestIn(required)
  if (request === undefined) throw required
  await awaitRequest(context, request)
  return request.request_id
}
