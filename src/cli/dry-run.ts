import { curlLine } from '../client/curl.ts'
import { planRequest, type PlannedRequest } from '../client/request.ts'
import { fieldsOf } from '../contract/describe.ts'
import type { Operation } from '../contract/operation.ts'
import { safeJson } from '../core/safe-text.ts'
import { usageError } from '../core/errors.ts'
import { withoutSecrets } from './command-line.ts'
import type { Context } from './context.ts'
import { inTypedNames } from './typed-names.ts'

/** Prints the request that would be sent, secrets redacted, with a `curl` line that sends the same; `facts` are told to machines, too. */
export const showDryRun = async (
  operation: Operation,
  input: Record<string, unknown>,
  extra: Record<string, unknown>,
  context: Context,
  facts: object = {},
): Promise<void> => {
  const { baseUrl } = await context.settings()
  const { checkShownFields } = await import('../client/shown-fields.ts')
  try {
    checkShownFields(operation, input)
  } catch (error) {
    throw inTypedNames(operation, error)
  }
  const shown = { ...input }
  const more = withoutSecrets(extra) as Record<string, unknown>
  // Before it is planned: a secret may stand in the address, too.
  for (const { name, meta } of fieldsOf(operation))
    for (const fields of [shown, more]) if (meta.secret && name in fields) fields[name] = '***'
  await showPlan(planRequest(baseUrl.value, operation, shown, more), context, facts)
}

/** Prints a request that holds no secret, with a `curl` line. */
export const showPlan = async (
  plan: Omit<PlannedRequest, 'method'> & { method: string },
  context: Context,
  facts: object = {},
): Promise<void> => {
  const curl = curlLine(plan)
  const output = await context.output()
  const { output: format } = context.globals
  if (format === 'id') throw usageError('--dry-run answers no id', '-o json shows the request')
  if (output.machine || (format !== undefined && format !== 'table'))
    return output.show({ status: 'dry_run', message: 'Nothing was sent', data: { ...facts, ...plan, curl } })
  const body = plan.body && `\n${safeJson(plan.body, 2)}\n`
  context.io.stdout.write(`${plan.method} ${plan.url}\nx-api-key: ***\n${body ?? ''}\n${curl}\n`)
  output.note('Nothing was sent.')
}
