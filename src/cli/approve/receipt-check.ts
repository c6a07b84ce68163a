import { checkedLines, onlyPerson, parseLine } from '../../contract/approvers.ts'
import { usageError } from '../../core/errors.ts'
import { isRecord } from '../../core/is-record.ts'
import type { Expectations } from '../../receipt/expectations.ts'
import { issuerIn } from '../../receipt/signature.ts'
import { digestOf } from '../../receipt/subject.ts'
import type { ReceiptVerification } from '../../receipt/verify.ts'
import type { Context } from '../context/context.ts'
import { readWhole } from '../operation/flags.ts'
import { readJson } from '../terminal/input-file.ts'
import { factors, typedSubject } from './ask.ts'

type Texts = 'org' | 'issuer' | 'action' | 'subject' | 'digest' | 'rows' | 'rule' | 'requester' | 'status'
type MoreTexts = 'maxAge' | 'pinnedKey' | 'need' | 'separation'
type Allowed = 'Unseparated' | 'Unauthenticated' | 'BreakGlass' | 'Grant' | 'Dev'

export type ExpectedFlags = { [Flag in Texts | MoreTexts]?: string } & {
  [Flag in `allow${Allowed}`]?: boolean
} & { approver?: string[]; factors?: string[] }

/** One person must have answered, or several lines agreed. */
const peopleOf = (typed: readonly string[] | undefined): Pick<Expectations, 'approver' | 'lines'> => {
  if (!typed) return {}
  const lines = checkedLines(typed, '--approver')
  const approver = onlyPerson(lines)
  return approver === undefined ? { lines: lines.map(parseLine) } : { approver }
}

const units: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400 }

/** `15m`, `36h`, `90` (seconds). */
const secondsOf = (text: string): number => {
  const [, count, unit = 's'] = /^(\d{1,9})([smhd])?$/.exec(text) ?? []
  if (count === undefined) throw usageError(`--max-age must be a time such as 15m, 36h or 7d, not "${text}"`)
  return Number(count) * units[unit]!
}

/** The digest of a subject in JSON: `{"type", "data"}`. */
const digestIn = async (source: string, { io }: Context): Promise<string> =>
  digestOf((await typedSubject(await readJson(source, io, '--subject'))).data)

/** The digest of a list of changes, computed from their data: the digests and summaries in the file are not believed. */
const listIn = async (source: string, { io }: Context): Promise<string> => {
  const hint = 'svc approve rows apr_3mYk8wQZ -o json > rows.json'
  const rows = await readJson(source, io, '--rows', hint)
  const isWhole =
    Array.isArray(rows) &&
    rows.every((row, at) => isRecord(row) && isRecord(row.data) && row['row_index'] === at)
  if (!isWhole || rows.length === 0)
    throw usageError('--rows must contain every row of one approval, in their order', hint)
  return digestOf(rows.map(({ data }) => digestOf(data)))
}

const requireWords = ({ status, separation, factors: wanted, digest, subject }: ExpectedFlags): void => {
  if (status !== undefined && status !== 'approved' && status !== 'denied')
    throw usageError(`--status must be approved or denied, not "${status}"`)
  if (separation !== undefined && separation !== 'strict' && separation !== 'standard')
    throw usageError(`--separation must be standard or strict, not "${separation}"`)
  const bad = wanted?.find((word) => !factors.includes(word))
  if (bad !== undefined) throw usageError(`--factors must be ${factors.join(', ')}, not "${bad}"`)
  if (digest !== undefined && !/^[0-9a-f]{64}$/.test(digest))
    throw usageError(`--digest must be a SHA-256 in lower-case hex, 64 characters, not "${digest}"`)
  if (digest !== undefined && subject !== undefined)
    throw usageError('Use only one of --subject and --digest')
}

type Sources = {
  byProfile: boolean
  keys: () => Promise<unknown>
  /** The organization that the receipt names, if the service signed it. */
  slug: () => Promise<string | undefined>
}

/** The organization as typed, or of the profile if the keys come from its service. */
const organizationOf = async (
  { org, allowDev }: ExpectedFlags,
  { byProfile, slug }: Sources,
  context: Context,
): Promise<string | undefined> => {
  const organization = org ?? (byProfile ? (await context.settings()).org?.value : undefined)
  if (organization !== undefined || allowDev) return organization
  throw usageError(
    '--org is required: a receipt of another organization proves nothing to you',
    await context.command!.again({ plus: ['--org', (await slug()) ?? 'acme'] }),
  )
}

/**
 * The expectations from the flags. Organization and issuer come from the profile if the keys come from its service. Throws
 * a usage error that names the flag.
 */
export const readExpectations = async (
  flags: ExpectedFlags,
  sources: Sources,
  context: Context,
): Promise<Expectations> => {
  requireWords(flags)
  const { byProfile, keys } = sources
  const organization = await organizationOf(flags, sources, context)
  const maxAgeS = flags.maxAge === undefined ? undefined : secondsOf(flags.maxAge)
  const digest = flags.subject === undefined ? flags.digest : await digestIn(flags.subject, context)
  const fallback = byProfile ? new URL((await context.settings()).baseUrl.value).origin : undefined
  const issuer = flags.issuer ?? issuerIn(await keys()) ?? fallback
  if (issuer === undefined && !flags.allowDev)
    throw usageError(
      '--issuer is required: the key set does not name the service',
      await context.command!.again({ plus: ['--issuer', 'https://svc.example.com'] }),
    )
  return {
    organization,
    issuer,
    action: flags.action,
    digest,
    list: flags.rows === undefined ? undefined : await listIn(flags.rows, context),
    rule:
      flags.rule === undefined
        ? undefined
        : await (await import('./expected-rule.ts')).ruleIn(flags.rule, context),
    ...peopleOf(flags.approver),
    requester: flags.requester,
    status: flags.status === 'denied' ? 'denied' : 'approved',
    factors: flags.factors,
    maxAgeS,
    pinnedKey: flags.pinnedKey,
    need: flags.need === undefined ? undefined : readWhole('--need', flags.need, 1, 999),
    ...(flags.separation === 'strict' && { separation: 'strict' }),
    allowUnseparated: flags.allowUnseparated === true,
    allowUnauthenticated: flags.allowUnauthenticated === true,
    allowBreakGlass: flags.allowBreakGlass === true,
    allowGrant: flags.allowGrant === true,
    allowDev: flags.allowDev === true,
  }
}

/** The flag that accepts a receipt if only this check failed, and its consequence, or what else to do. */
const allowing: Record<string, string> = {
  development: 'To test without a phone: --allow-dev. Such a receipt does not prove that a person approved',
  separation:
    'To accept it: --allow-unseparated. Whoever requested it may have enrolled the device that approved',
  enrollment:
    'No flag accepts it. Ask with a key that did not enroll the approver: svc key create --name NAME --can ask --org ORG',
  'break glass':
    'To accept it: --allow-break-glass. In an emergency, one person approved instead of those whom the rules name',
  granted:
    'To accept it: --allow-grant. Nobody saw this call: a person had allowed an earlier one again for a while',
  'authenticated requester':
    'To accept it: --allow-unauthenticated. Any program on that machine could have made the request',
}

export const hintOf = ({ checks }: ReceiptVerification): string | undefined => {
  const [only, ...more] = new Set(checks.flatMap(({ name, ok }) => (ok ? [] : [name])))
  return only !== undefined && more.length === 0 ? allowing[only] : undefined
}
