import { planRequest, redactedUrl } from '../../client/request.ts'
import { fieldsOf } from '../../contract/describe.ts'
import type { Operation } from '../../contract/operation.ts'
import { safeJson, safeLine } from '../../core/safe-text.ts'
import { usageError } from '../../core/errors.ts'
import type { Context } from '../context/context.ts'
import { withoutSecrets } from '../program/command-line.ts'
import { inTypedNames } from './typed-names.ts'

const hidden = '***'

/** Prints the request without its secrets. JSON output includes `facts` too. */
export const showDryRun = async (
  operation: Operation,
  input: Record<string, unknown>,
  extra: Record<string, unknown>,
  context: Context,
  facts: object = {},
): Promise<void> => {
  const { baseUrl } = await context.settings()
  const { checkShownFields } = await import('../../client/shown-fields.ts')
  try {
    checkShownFields(operation, input)
  } catch (error) {
    throw inTypedNames(operation, error)
  }
  const shown = { ...input }
  const more = { ...extra }
  for (const { name, meta } of fieldsOf(operation))
    for (const fields of [shown, more]) if (meta.secret && fields[name] !== undefined) fields[name] = hidden
  const plan = planRequest(baseUrl.value, operation, shown, more)
  await showPlan(plan, { facts, withKey: !operation.open }, context)
}

type Plan = {
  method: string
  url: string
  headers?: Record<string, string>
  body?: Record<string, unknown>
}

/** Prints a request, without values whose names look secret. */
export const showPlan = async (
  { method, url, headers = {}, body }: Plan,
  { facts = {}, withKey = true }: { facts?: object; withKey?: boolean },
  context: Context,
): Promise<void> => {
  const shown = {
    method,
    url: redactedUrl(url),
    headers: withoutSecrets(headers) as Record<string, string>,
    ...(body !== undefined && { body: withoutSecrets(body) }),
  }
  const output = await context.output()
  const { output: format } = context.globals
  if (format === 'id')
    throw usageError('--dry-run cannot be combined with -o id', '-o json shows the request')
  if (output.machine || (format !== undefined && format !== 'table'))
    return output.show({ status: 'dry_run', message: 'Nothing was sent', data: { ...facts, ...shown } })
  const named = Object.entries({ ...(withKey && { 'x-api-key': hidden }), ...shown.headers })
  const lines = [
    `${method} ${safeLine(shown.url)}`,
    ...named.map(([name, value]) => `${name}: ${safeLine(value)}`),
    ...(shown.body === undefined ? [] : ['', safeJson(shown.body, 2)]),
  ]
  context.io.stdout.write(`${lines.join('\n')}\n`)
  output.note('Nothing was sent.')
}
