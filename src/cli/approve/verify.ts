import type { Command } from 'commander'
import { usageError } from '../../core/errors.ts'
import { safeLine } from '../../core/safe-text.ts'
import type { Context } from '../context.ts'
import { isLoopback } from '../profile/address.ts'
import { readText } from '../read-text.ts'
import { factors } from './ask.ts'
import { hintOf, sentence } from './verdict.ts'

type Options = {
  jwks?: string
  jwksUrl?: string
  action?: string
  approver?: string
  requester?: string
  status?: string
  factors?: string[]
  maxAge?: string
  pinnedKey?: string
  allowDev?: boolean
}

const units: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400 }

/** `15m`, `36h`, `90` (seconds). */
const secondsOf = (text: string): number => {
  const [, count, unit = 's'] = /^(\d{1,9})([smhd])?$/.exec(text) ?? []
  if (count === undefined) throw usageError(`--max-age must be a time such as 15m, 36h or 7d, not "${text}"`)
  return Number(count) * units[unit]!
}

const collect = (value: string, before: string[] = []): string[] => [
  ...before,
  ...value.split(',').filter((word) => word !== ''),
]

/** A receipt as it was saved; of a whole answer of the service (`svc approve status -o json`), its attestation. */
const receiptIn = (text: string): unknown => {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && 'attestation' in value && !('jws' in value))
      return value.attestation ?? ''
  } catch {
    // A bare JWS, or nothing that can be read: the verifier says which.
  }
  return text
}

const urlOf = (text: string): string => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol)) throw usageError(`--jwks-url is not a valid URL: "${text}"`)
  if (url.protocol === 'http:' && !isLoopback(url))
    throw usageError('--jwks-url must use https: otherwise the keys could be changed on the way')
  return url.href
}

/** The keys: of a file, without any network; of an address; else of the service of this profile. */
const readKeys = async ({ jwks, jwksUrl }: Options, context: Context): Promise<unknown> => {
  if (jwks !== undefined) {
    const text = await readText(jwks, context.io, '--jwks')
    try {
      return JSON.parse(text) as unknown
    } catch {
      throw usageError(
        `--jwks: ${jwks} is not valid JSON`,
        'curl https://host.example/.well-known/jwks.json > keys.json',
      )
    }
  }
  const { getJson } = await import('./get-json.ts')
  if (jwksUrl !== undefined) return getJson(context, urlOf(jwksUrl), context.globals.cacert)
  const { baseUrl, cacert } = await context.settings()
  const { origin } = new URL(baseUrl.value)
  return getJson(context, urlOf(`${origin}/.well-known/jwks.json`), cacert?.value)
}

/** `svc approve verify`: checks a receipt with nothing but the keys; no service, no profile. */
export const registerVerify = (group: Command, context: Context): void => {
  const command = group
    .command('verify')
    .description('Verify a receipt offline: exit 0 valid, 1 not')
    .usage('<receipt> [flags]')
    .argument('[receipt]', 'File with the receipt; - for standard input')
    .option('--jwks <file>', 'File with the keys of the service; no network is used')
    .option('--jwks-url <url>', 'Address of the keys; default: the service of the profile')
    .option('--action <text>', 'Action that must have been approved, character by character')
    .option('--approver <mobile>', 'Mobile number that the approver must have, E.164')
    .option('--requester <text>', 'Requester that the receipt must name')
    .option('--status <word>', 'Decision that is required; default: approved (approved|denied)')
    .option(
      '--factors <list>',
      `Factors that must have passed (${factors.join('|')}; repeat or separate with commas)`,
      collect,
    )
    .option('--max-age <time>', 'Maximum age: 90, 15m, 36h, 7d')
    .option('--pinned-key <key>', 'Public key of the approver, saved earlier (COSE, base64url)')
    .option('--allow-dev', 'Accept receipts of software keys, which prove nothing about a person')
    .addHelpText(
      'after',
      '\nExample:\n  svc approve verify receipt.json --jwks keys.json --action "Deploy 4.2" --max-age 15m',
    )

  command.action(async () => {
    const options = command.opts<Options>()
    const { io } = context
    const [given] = command.args
    if (given === undefined)
      throw usageError('Missing <receipt>', 'svc approve verify receipt.json --jwks keys.json')
    const { status = 'approved' } = options
    if (status !== 'approved' && status !== 'denied')
      throw usageError(`--status must be approved or denied, not "${status}"`)
    const bad = options.factors?.find((word) => !factors.includes(word))
    if (bad !== undefined) throw usageError(`--factors must be ${factors.join(', ')}, not "${bad}"`)
    if (given === '-' && options.jwks === '-')
      throw usageError('Only one of <receipt> and --jwks can be standard input')

    const wanted = {
      action: options.action,
      approver: options.approver,
      requester: options.requester,
      status,
      factors: options.factors,
      maxAgeS: options.maxAge === undefined ? undefined : secondsOf(options.maxAge),
      pinnedKey: options.pinnedKey,
      allowDev: options.allowDev === true,
    } as const
    const receipt = receiptIn(await readText(given, io, 'receipt'))
    const { verifyReceipt } = await import('../../receipt/verify.ts')
    const verdict = await verifyReceipt(receipt, await readKeys(options, context), wanted, io.now())

    const output = await context.output()
    const rows = verdict.checks.map(({ name, ok, detail }) => ({
      ok: ok ? 'ok' : 'FAILED',
      check: name,
      detail,
    }))
    const whole = ['json', 'yaml', 'ndjson'].includes(output.format)
    await output.show({
      status: verdict.valid ? 'success' : 'error',
      message: sentence(verdict),
      data: whole ? verdict : rows,
    })
    if (!whole) {
      output.warn(safeLine(sentence(verdict)))
      const hint = hintOf(verdict)
      if (hint) output.warn(`hint: ${hint}`)
      if (verdict.valid) output.note(`Confirmed by the service only: ${verdict.on_service_word.join('; ')}`)
    }
    if (!verdict.valid) context.exitCode = 1
  })
}
