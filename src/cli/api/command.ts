import type { Command } from 'commander'
import { usageError } from '../../core/errors.ts'
import { exitCode, exitOfAnswer } from '../../core/exit-codes.ts'
import { safeText } from '../../core/safe-text.ts'
import type { Effect } from '../../contract/operation.ts'
import { linkedPage } from '../../client/paging.ts'
import { belowRoot, rawUrl } from '../../client/request.ts'
import { everyPage, showAnswer } from './answer.ts'
import { addBodyFlags, readBody, type BodyFlags } from '../operation/body-fields.ts'
import { confirmWrite } from '../operation/confirm.ts'
import type { Context } from '../context/context.ts'

type Options = BodyFlags & {
  method?: string
  header?: string[]
  include?: boolean
  paginate?: boolean
  dryRun?: boolean
  confirm?: string
}

const methods = ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE']

/** Routes that read although they are no GET; everything else that is no GET may reach a person. */
const effectOf = (method: string): Effect =>
  method === 'GET' || method === 'HEAD' || method === 'OPTIONS' ? 'read' : 'notifies'

const collect = (value: string, before: string[] = []): string[] => [...before, value]

const headersOf = (lines: string[] = []): Record<string, string> =>
  Object.fromEntries(
    lines.map((line) => {
      const at = line.indexOf(':')
      const name = line.slice(0, at).trim().toLowerCase()
      if (!/^[a-z0-9-]+$/.test(name)) throw usageError(`--header must be name:value, not "${line}"`)
      if (name === 'x-api-key' || name === 'authorization')
        throw usageError(`A secret cannot be an argument: remove ${name}`, 'svc help environment')
      return [name, line.slice(at + 1).trim()]
    }),
  )

/** `svc api PATH`: any route of the service, raw; the answer's body on stdout whatever its status is. */
export const registerApi = (command: Command, context: Context): void => {
  addBodyFlags(
    command
      .usage('<path> [flags]')
      .argument(
        '[path]',
        'Path below the API root, with or without /admin/public/api, or from the origin if it starts with /svc/',
      )
      .option('-X, --method <method>', 'Method; default: GET, or POST with a body')
      .option('-H, --header <name:value>', 'Additional header', collect)
      .option('-i, --include', 'Show the status and the headers too')
      .option('--paginate', 'Fetch all pages of a list and show them as one')
      .option('--dry-run', 'Print the request and send nothing')
      .option('--confirm <path>', 'In a protected profile, for a DELETE: the path'),
  ).addHelpText(
    'after',
    "\nExamples:\n  svc api /organizations\n  svc api /organization/create -f name=Acme\n  svc api /organizations --paginate --jq '.data[].slug'",
  )

  command.action(async () => {
    const options = command.opts<Options>()
    const [typed] = command.args
    if (!typed?.startsWith('/') || typed.startsWith('//'))
      throw usageError('The path of svc api must start with /', 'svc api /organizations')
    const body = await readBody(options, context.io)
    const method = (options.method ?? (body ? 'POST' : 'GET')).toUpperCase()
    if (!methods.includes(method)) throw usageError(`--method must be ${methods.join(', ')}`)
    if (options.paginate && method !== 'GET')
      throw usageError(`--paginate requires GET, not ${method}`, 'Remove --paginate')

    const { baseUrl, protected: guarded } = await context.settings()
    const path = belowRoot(baseUrl.value, typed)
    if (options.dryRun) {
      const { createPlaceholders, showPlan } = await import('../operation/dry-run.ts')
      const placeholders = createPlaceholders()
      const url = placeholders.hideInUrl(rawUrl(baseUrl.value, path))
      const headers = placeholders.hideNamed(headersOf(options.header))
      const plan = { method, url, headers, ...(body && { body: placeholders.hideNamed(body) }) }
      return showPlan({ plan, placeholders }, context)
    }
    if (method === 'DELETE' && guarded) {
      const write = { what: `DELETE ${typed}`, name: typed, declined: 'Nothing was sent' }
      await confirmWrite(write, options, context)
    }
    const client = await context.client()
    const request = {
      method,
      path,
      headers: headersOf(options.header),
      body: body && JSON.stringify(body),
      effect: effectOf(method),
    }
    const { signal, stdout } = context.io
    const answer = options.paginate
      ? await everyPage(client, request, { baseUrl: baseUrl.value, signal })
      : await client.raw(request, { signal })
    if (options.include) {
      const headers = Object.entries(answer.headers).map(([name, value]) => `${name}: ${value}\n`)
      const text = headers.join('')
      stdout.write(`${answer.status}\n${stdout.isTTY ? safeText(text) : text}\n`)
    }
    await showAnswer(answer, request, context)
    const url = rawUrl(baseUrl.value, path)
    const isPart = method === 'GET' && answer.status < 300 && linkedPage(answer.headers['link'], 'next', url)
    if (isPart && !options.paginate)
      (await context.output()).warn(`More: ${await context.command!.again({ plus: ['--paginate'] })}`)
    if (answer.status >= 300) context.exitCode = exitCode(exitOfAnswer(answer.status))
  })
}
