import { SvcError, usageError } from '../../core/errors.ts'
import { parseJson } from '../../core/parse-json.ts'
import { safeLine } from '../../core/safe-text.ts'
import { isLoopbackHost } from '../../core/loopback.ts'
import type { Context } from '../context/context.ts'
import { collectWords, many } from '../operation/flags.ts'
import { defineCommand } from '../program/define-command.ts'
import { readInput, readJson } from '../terminal/input-file.ts'
import { factors } from './ask.ts'
import type { ExpectedFlags } from './receipt-check.ts'

type Options = ExpectedFlags & { jwks?: string; jwksUrl?: string; details?: boolean }

/** A saved receipt, or the attestation in a whole answer of the service (`svc approve status -o json`). */
const receiptIn = (text: string): unknown => {
  const value = parseJson(text)
  if (typeof value === 'object' && value !== null && 'attestation' in value && !('jws' in value))
    return value.attestation ?? ''
  // A bare JWS, or not a receipt: the verifier reports which.
  return text
}

const urlOf = (text: string): string => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol)) throw usageError(`--jwks-url is not a valid URL: "${text}"`)
  if (url.protocol === 'http:' && !isLoopbackHost(url.hostname))
    throw usageError('--jwks-url must use https: otherwise the keys could be changed in transit')
  return url.href
}

/** Reads the keys from a file without network access, from an address, or from the service of this profile. */
const readKeys = async ({ jwks, jwksUrl }: Options, context: Context): Promise<unknown> => {
  if (jwks !== undefined)
    return readJson(jwks, context.io, '--jwks', 'curl https://host.example/.well-known/jwks.json > keys.json')
  const { getJson } = await import('../context/open-client.ts')
  if (jwksUrl !== undefined) return getJson(context, urlOf(jwksUrl), context.globals.cacert)
  const { baseUrl, cacert } = await context.settings()
  const { origin } = new URL(baseUrl.value)
  return getJson(context, urlOf(`${origin}/.well-known/jwks.json`), cacert?.value).catch((error: unknown) => {
    throw error instanceof SvcError ? error.with({ hint: `${error.hint}; offline: --jwks FILE` }) : error
  })
}

/** `svc approve verify`: verifies a receipt with only the keys. */
export const registerVerify = defineCommand<Options>({
  name: 'verify',
  summary: 'Verify a receipt, or those of several people, offline: exit 0 valid, 1 not',
  usage: '<receipt> [flags]',
  args: ['[receipt]'],
  options: {
    '--jwks <file>': 'File with the keys of the service; no network is used',
    '--jwks-url <url>': 'Address of the keys; default: the service of the profile',
    '--org <org>': 'Organization of the receipt, id or slug; default: that of the profile',
    '--issuer <url>': 'Service that must have issued the receipt; default: the one in the key set',
    '--action <text>': 'Exact action that must have been approved',
    '--subject <file>': 'File with the subject that must have been approved, as JSON; - for standard input',
    '--rows <file>':
      'File with the changes of a list that must have been approved (svc approve rows -o json); - for standard input',
    '--digest <hex>': 'SHA-256 that the subject must have',
    '--rule <rule>': 'Rule under which it must have been given: a file with it, its SHA-256 or its name',
    '--approver <people>': many('Who must have answered, as --to names them: +12025550101, or @dba:2'),
    '--need <number>': 'How many different people must have agreed, at least',
    '--requester <text>': 'Requester that the receipt must name; claimed, not verified',
    '--status <word>': 'Required decision; default: approved (approved|denied)',
    '--factors <list>': {
      about: `Factors that must have passed (${factors.join('|')}; repeat or separate with commas)`,
      read: collectWords,
    },
    '--max-age <time>': 'Maximum age: 90, 15m, 36h, 7d',
    '--pinned-key <key>': 'Public key of the approver, saved earlier (COSE, base64url)',
    '--separation <word>':
      'strict: the device must not go back to the requesting key or one that created it (standard|strict)',
    '--allow-unseparated': 'Accept a key that can influence who approves, and a device of unknown origin',
    '--allow-unauthenticated': 'Accept a request from a local program without a credential',
    '--allow-break-glass': 'Accept that others were asked than the people whom the rules name',
    '--allow-grant': 'Accept a call that nobody saw, because somebody had allowed it again earlier',
    '--allow-dev':
      'Accept receipts of software keys, which prove nothing about a person; implies --allow-unseparated',
    '--details': 'Print each check',
  },
  examples: [
    'svc approve verify receipt.json --org acme --jwks keys.json --action "Deploy 4.2" --max-age 15m',
  ],
  action: async ({ args: [file], options }, context) => {
    const { io } = context
    if (file === undefined)
      throw usageError('Missing <receipt>', await context.command!.again({ args: ['receipt.json'] }))
    const inputs = {
      '<receipt>': file,
      '--jwks': options.jwks,
      '--subject': options.subject,
      '--rows': options.rows,
    }
    const fromInput = Object.entries(inputs).flatMap(([name, source]) => (source === '-' ? [name] : []))
    if (fromInput.length > 1) throw usageError(`Only one of ${fromInput.join(' and ')} can be standard input`)

    const byProfile = options.jwks === undefined && options.jwksUrl === undefined
    let keys: Promise<unknown> | undefined
    const keysOnce = (): Promise<unknown> => (keys ??= readKeys(options, context))
    const { readExpectations, hintOf } = await import('./receipt-check.ts')
    const { nameOf, sentence } = await import('../../receipt/sentence.ts')
    const receipt = receiptIn((await readInput(file, io)).toString('utf8'))
    const { verifyReceipt } = await import('../../receipt/verify.ts')
    const slug = async (): Promise<string | undefined> => {
      const jwks = await keysOnce().catch(() => undefined)
      const { receipts } = await verifyReceipt(receipt, jwks, {}, io.now())
      return receipts[0]?.organization.slug
    }
    const wanted = await readExpectations(options, { byProfile, keys: keysOnce, slug }, context)
    const verdict = await verifyReceipt(receipt, await keysOnce(), wanted, io.now())

    const output = await context.output()
    const rows = verdict.checks.map((check) => ({
      ok: check.ok ? 'ok' : 'FAILED',
      check: nameOf(check),
      detail: check.detail,
    }))
    const whole = ['json', 'yaml', 'ndjson'].includes(output.format)
    if (whole || options.details || context.globals.output !== undefined)
      await output.show({
        status: verdict.valid ? 'success' : 'error',
        message: sentence(verdict),
        data: whole ? verdict : rows,
      })
    if (!whole) {
      output.warn(safeLine(sentence(verdict)))
      const hint = hintOf(verdict)
      if (hint) output.warn(`hint: ${hint}`)
      // In a pipe too: the log of a job must not show a bare "Valid".
      if (verdict.valid) for (const fact of verdict.facts) output.warn(safeLine(fact))
      if (verdict.valid)
        output.warn(`Claimed by the service, not verified: ${verdict.on_service_word.join('; ')}`)
    }
    if (!verdict.valid) context.exitCode = 1
  },
})
