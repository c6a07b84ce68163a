import { curlLine, type PrintableRequest } from '../../client/curl.ts'
import { planRequest } from '../../client/request.ts'
import { fieldsOf } from '../../contract/describe.ts'
import type { Operation } from '../../contract/operation.ts'
import { safeJson, safeLine } from '../../core/safe-text.ts'
import { usageError } from '../../core/errors.ts'
import type { Context } from '../context/context.ts'
import { createPlaceholders, type Placeholders } from './placeholders.ts'
import { inTypedNames } from './typed-names.ts'

/** Prints the request that would be sent, without its secrets, and a `curl` line for it; machines get `facts`, too. */
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
  const placeholders = createPlaceholders()
  const shown = { ...input }
  const more = placeholders.hideNamed(extra)
  // Before it is planned: a secret may stand in the address, too.
  for (const { name, meta } of fieldsOf(operation))
    for (const fields of [shown, more])
      if (meta.secret && fields[name] !== undefined) fields[name] = placeholders.hide(name, fields[name])
  const plan = planRequest(baseUrl.value, operation, shown, more)
  await showPlan({ plan, placeholders, facts, withKey: !operation.open }, context)
}

type Printed = {
  plan: PrintableRequest
  placeholders: Placeholders
  facts?: object
  withKey?: boolean
}

/** Prints a request in which placeholders stand for secrets, with a `curl` line. */
export const showPlan = async (
  { plan, placeholders, facts, withKey = true }: Printed,
  context: Context,
): Promise<void> => {
  const { cacert } = await context.settings()
  const curl = curlLine(plan, { placeholders: placeholders.all, cacert: cacert?.value, withKey })
  const secrets = placeholders.all.map(({ variable }) => variable)
  const shown = placeholders.shown(plan)
  const output = await context.output()
  const { output: format } = context.globals
  if (format === 'id') throw usageError('--dry-run answers no id', '-o json shows the request')
  if (output.machine || (format !== undefined && format !== 'table')) {
    const data = { ...facts, ...shown, curl, ...(secrets.length > 0 && { secrets }) }
    return output.show({ status: 'dry_run', message: 'Nothing was sent', data })
  }
  const headers = Object.entries({ ...(withKey && { 'x-api-key': '***' }), ...shown.headers })
  const lines = [
    `${shown.method} ${safeLine(shown.url)}`,
    ...headers.map(([name, value]) => `${name}: ${safeLine(value)}`),
    ...(shown.body ? ['', safeJson(shown.body, 2)] : []),
    '',
    ...(secrets.length > 0 ? [`# Secrets are not printed: set ${secrets.join(', ')} first`] : []),
    curl,
  ]
  context.io.stdout.write(`${lines.join('\n')}\n`)
  output.note('Nothing was sent.')
}
