import { randomInt } from 'node:crypto'
import { fieldsOf, summaryOf } from '../../src/receipt/subject-text.ts'
import { digestOf, readSubject, type Subject } from '../../src/receipt/subject.ts'
import { verifyReceipt, type ReceiptVerification } from '../../src/receipt/verify.ts'
import type { Receipt } from '../../src/receipt/receipt.ts'
import { approval, approverKey, createIssuer, now, ours, specimen, type Issuer } from '../receipt/specimen.ts'
import type { Result, Torture } from './torture.ts'

const each = 1000

const pick = <T>(all: readonly T[]): T => all[randomInt(all.length)]!
const hex = (): string => Array.from({ length: 64 }, () => pick([...'0123456789abcdef'])).join('')
const word = (): string => Array.from({ length: 1 + randomInt(8) }, () => pick([...'abcdefgh'])).join('')

const makers: (() => Subject)[] = [
  () => ({ type: 'text', data: { text: `Deploy ${word()} ${randomInt(1000)}` } }),
  () => ({ type: 'file', data: { name: `${word()}.tgz`, size: randomInt(1e6), sha256: hex() } }),
  () => ({
    type: 'tool_call',
    data: {
      server: word(),
      tool: word(),
      arguments: { [word()]: randomInt(100), deep: { [word()]: [word()] } },
    },
  }),
  () => ({
    type: 'command',
    data: {
      argv: [`./${word()}`, word()],
      cwd: `/srv/${word()}`,
      executable: { path: `/srv/${word()}`, sha256: hex() },
      files: [{ path: `/srv/${word()}`, sha256: hex() }],
      environment: { passed: ['PATH'], set: { STAGE: word() } },
    },
  }),
  () => ({
    type: 'request',
    data: {
      organization: { id: String(1 + randomInt(99)), slug: word() },
      operation: word(),
      body: { name: word(), radius: randomInt(500) },
      before: { radius: randomInt(500) + 1000 },
      deletions: [word()],
    },
  }),
]

const leaves = (value: unknown, path: (string | number)[] = []): (string | number)[][] =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([name, inner]) =>
        leaves(inner, [...path, Array.isArray(value) ? Number(name) : name]),
      )
    : [path]

const other = (value: unknown): unknown => {
  if (typeof value === 'number') return value + 1 + randomInt(9)
  const text = String(value)
  if (/^[0-9a-f]{64}$/.test(text)) return hex()
  return pick([`${text}x`, `${text} `, text.toUpperCase() === text ? `${text}1` : text.toUpperCase()])
}

/** Changes one value of the data, as somebody would to run something else. */
const changed = (data: Subject['data']): Record<string, unknown> => {
  const copy = structuredClone(data) as Record<string, unknown>
  const path = pick(leaves(copy))
  const last = path.at(-1)!
  const parent = path.slice(0, -1).reduce<unknown>((at, name) => (at as Record<string, unknown>)[name], copy)
  ;(parent as Record<string | number, unknown>)[last] = other(
    (parent as Record<string | number, unknown>)[last],
  )
  return copy
}

type Claims = Receipt['claims']
type Change = (claims: Claims, mutated: Claims) => Record<string, unknown>

const turned = {
  self: 'operator',
  creator: 'other',
  other: 'creator',
  operator: 'unknown',
  unknown: 'self',
} as const

/** Dishonest claims with a valid signature, as from a service whose key was stolen. */
const kinds: Record<string, Change> = {
  'data changed': ({ subject }) => ({
    subject: { ...subject, data: changed(subject.data as Subject['data']) },
  }),
  'data and digest changed': ({ subject }) => {
    const data = changed(subject.data as Subject['data'])
    return { subject: { ...subject, data, digest: digestOf(data) } }
  },
  'digest changed': ({ subject }) => ({ subject: { ...subject, digest: hex() } }),
  'type changed': ({ subject }) => ({
    subject: { ...subject, type: pick(['text', 'file', 'request'].filter((type) => type !== subject.type)) },
  }),
  'subject of another': (_, { subject }) => ({ subject }),
  'member more': ({ subject }) => ({ subject: { ...subject, data: { ...subject.data, more: 1 } } }),
  'organization changed': ({ organization }) =>
    pick([
      { organization: { ...organization, id: `${organization.id}1` } },
      { organization: { ...organization, slug: `${organization.slug}-x` } },
    ]),
  'key changed': ({ key }) =>
    pick([
      { key: { ...key, id: `${key.id}0` } },
      { key: { ...key, name: `${key.name}!` } },
      { key: { ...key, scopes: [...key.scopes, 'keys'] } },
    ]),
  'a member less': () => ({
    [pick(['organization', 'key', 'subject', 'device', 'influences'])]: undefined,
  }),
  'self enrolled': ({ device }) => ({
    device: { ...device, enrolled_by: { ...device.enrolled_by, relation: 'self' } },
  }),
  influential: () => ({ influences: true }),
  'relation unknown to us': ({ device }) => ({
    device: {
      ...device,
      enrolled_by: { ...device.enrolled_by, relation: `${turned[device.enrolled_by.relation]}?` },
    },
  }),
}

/** The broken variant trusts the service: all checks except those that compare with what the human signed. */
const believing = new Set(['claims', 'subject'])
const withoutHuman = ({ checks }: ReceiptVerification): boolean =>
  checks.at(-1)?.name === 'past' && checks.every(({ name, ok }) => ok || believing.has(name))

const sign = (issuer: Issuer, receipt: Receipt, mutated: Receipt, kind: string): Promise<string> => {
  const claims = { ...receipt.claims, ...kinds[kind]!(receipt.claims, mutated.claims) }
  return issuer.sign(JSON.parse(JSON.stringify(claims)) as Record<string, unknown>, 'approval-receipt+jwt')
}

export const torture: Torture = {
  name: 'Mutated subjects and receipts',
  must: '0 accepted, all genuine ones accepted',
  run: async (): Promise<Result> => {
    const issuer = await createIssuer()
    const hits: Record<string, number> = { 'genuine receipt': 0, 'genuine subject': 0 }
    const hit = (name: string): void => void (hits[name] = (hits[name] ?? 0) + 1)
    const examples: string[] = []
    let [count, failures, control] = [0, 0, 0]
    const wrong = (what: string): void => {
      failures++
      if (examples.length < 8) examples.push(what)
    }
    const key = approverKey()
    const receipts: Receipt[] = []
    for (let at = 0; at < 60; at++)
      receipts.push(
        await specimen(issuer, { ...approval, request_id: `apr_${at}` }, key, {
          subject: makers[at % makers.length]!(),
        }),
      )
    for (const { jws } of receipts)
      if ((await verifyReceipt(jws, issuer.jwks, ours, now)).valid) hit('genuine receipt')
      else wrong('a genuine receipt is refused')
    const names = Object.keys(kinds)
    for (let at = 0; at < each; at++) {
      count++
      const kind = names[at % names.length]!
      const receipt = receipts[at % receipts.length]!
      const mutated = receipts[(at + 1) % receipts.length]!
      const verdict = await verifyReceipt(await sign(issuer, receipt, mutated, kind), issuer.jwks, ours, now)
      hit(`receipt: ${kind}`)
      if (verdict.valid) wrong(`receipt: ${kind}`)
      if (withoutHuman(verdict)) control++
    }
    for (let at = 0; at < each; at++) {
      count++
      const subject = makers[at % makers.length]!()
      const digest = digestOf(subject.data)
      const read = readSubject({ ...subject, digest })
      if (digestOf(read.data) === digest) hit('genuine subject')
      else wrong('a genuine subject is read as another')
      const data = changed(subject.data)
      const shown = JSON.stringify([summaryOf(subject), fieldsOf(subject)])
      try {
        readSubject({ type: subject.type, data, digest })
        wrong(`subject: ${JSON.stringify(data)} passes for ${JSON.stringify(subject.data)}`)
      } catch {
        hit('subject: data changed')
      }
      // The broken variant does not compare the digest, so the data can change after the approver saw it.
      try {
        const lax = readSubject({ type: subject.type, data })
        if (JSON.stringify([summaryOf(lax), fieldsOf(lax)]) !== shown) control++
        else wrong(`two subjects look the same: ${JSON.stringify(data)}`)
      } catch {
        hit('subject: not even a subject')
      }
    }
    return { count, failures, hits, control, examples }
  },
}
