import { randomBytes } from 'node:crypto'
import { curlLine, type Placeholder, type PrintableRequest } from '../../client/curl.ts'
import { planRequest } from '../../client/request.ts'
import { fieldsOf } from '../../contract/describe.ts'
import type { Operation } from '../../contract/operation.ts'
import { safeJson, safeLine } from '../../core/safe-text.ts'
import { usageError } from '../../core/errors.ts'
import type { Context } from '../context/context.ts'
import { looksSecret } from '../program/command-line.ts'
import { inTypedNames } from './typed-names.ts'

/** What is printed instead of a secret. */
const hidden = '***'

/** Replaces the secrets of a printed request with placeholders. */
export const createPlaceholders = () => {
  const nonce = randomBytes(8).toString('hex')
  const all: Placeholder[] = []

  /** The placeholder for the value of a field. */
  const hide = (name: string, value: unknown): string => {
    // `MY_`, because a variable such as TOKEN or PASSWORD may already have another value.
    const base = `MY_${name.replace(/[^a-z0-9]+/gi, '_').toUpperCase()}`
    const taken = all.filter(({ variable }) => variable.replace(/_\d+$/, '') === base).length
    const token = `svc${nonce}n${all.length}x`
    all.push({
      token,
      variable: taken === 0 ? base : `${base}_${taken + 1}`,
      isText: typeof value === 'string',
    })
    return token
  }

  /** A copy without the values of fields whose name looks like a secret, at any depth. */
  const hideNamed = <T>(value: T): T =>
    JSON.parse(JSON.stringify(value), (name, inner: unknown) => {
      const isHidden = typeof inner === 'string' && all.some(({ token }) => token === inner)
      return looksSecret(name) && !isHidden ? hide(name, inner) : inner
    }) as T

  const hideInUrl = (url: string): string => {
    const shown = new URL(url)
    for (const name of new Set(shown.searchParams.keys()))
      if (looksSecret(name)) shown.searchParams.set(name, hide(name, shown.searchParams.get(name)!))
    // spec: the one route of the specification with a token in its path
    shown.pathname = shown.pathname.replace(
      /(\/save\/faceauth\/success\/)(.+)/,
      (_, path: string, token: string) => path + hide('token', token),
    )
    return shown.href
  }

  const readable = (text: string): string =>
    all.reduce((shown, { token }) => shown.replaceAll(token, hidden), text)

  return {
    all,
    hide,
    hideNamed,
    hideInUrl,
    /** The request with `***` instead of placeholders. */
    shown: (request: PrintableRequest): PrintableRequest =>
      JSON.parse(readable(JSON.stringify(request))) as PrintableRequest,
  }
}

export type Placeholders = ReturnType<typeof createPlaceholders>

/** Prints the request without its secrets, and a `curl` line for it. JSON output includes `facts` too. */
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
  // Before the request is planned, because its URL may contain a secret too.
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

/** Prints a request with placeholders for its secrets, and a `curl` line. */
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
  if (format === 'id')
    throw usageError('--dry-run cannot be combined with -o id', '-o json shows the request')
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
