import { randomInt } from 'node:crypto'
import { sha256 } from '../../src/core/ids.ts'
import { type Receipt, receiptType } from '../../src/receipt/claims.ts'
import { type Completion, type CompletionClaims, completionType } from '../../src/receipt/set.ts'
import type { Issuer } from '../receipt/specimen.ts'
import type { Made } from './made-sets.ts'

/** A genuine set, another one of the same service, and what its holder of the key can sign. */
export type Case = Made & { other: Made; issuer: Issuer; stranger: Issuer }

const pick = <T>(all: readonly T[]): T => all[randomInt(all.length)]!
const hex = (): string => Array.from({ length: 64 }, () => randomInt(16).toString(16)).join('')

const flipped = (jws: string): string => {
  const parts = jws.split('.')
  const at = randomInt(3)
  const bytes = Buffer.from(parts[at]!, 'base64url')
  bytes[randomInt(bytes.length)]! ^= 1 << randomInt(8)
  return parts.with(at, bytes.toString('base64url')).join('.')
}

const bare = ({ format, jws, kid }: Receipt | Completion) => ({ format, jws, kid })

/** What a service signs that checks nothing. */
const completed = async (
  { set, issuer }: Case,
  changes: object,
  receipts: readonly Receipt[] = set.receipts,
): Promise<object> => {
  const ballots = receipts.map(({ jws, claims }) => ({
    user_id: claims.approver.user_id,
    receipt: sha256(jws),
  }))
  const claims = { ...set.completion.claims, ballots, ...changes }
  const jws = await issuer.sign(claims, completionType)
  return { format: 'set', receipts, completion: { format: 'jws', jws, kid: issuer.kid, claims } }
}

const completing = (change: (claims: CompletionClaims, one: Case) => object) => (one: Case) =>
  completed(one, change(one.set.completion.claims, one))

/** The set with another receipt of the second person, or of the first. */
const replacing = (name: keyof Case['bad']) => (one: Case) =>
  completed(one, {}, one.set.receipts.with(1, one.bad[name]))

const resigned = (change: (claims: Receipt['claims'], one: Case) => object) => async (one: Case) => {
  const { set, issuer } = one
  const at = randomInt(set.receipts.length)
  const claims = { ...set.receipts[at]!.claims, ...change(set.receipts[at]!.claims, one) }
  const jws = await issuer.sign(claims, receiptType)
  return completed(one, {}, set.receipts.with(at, { format: 'jws', jws, kid: issuer.kid, claims }))
}

const lineOf = ({ lines }: CompletionClaims, change: object) => ({
  lines: lines.with(0, { ...lines[0]!, ...change }),
})

type Mutation = (one: Case) => unknown

/** Sets of somebody without the key of the service. */
const byStranger: Record<string, Mutation> = {
  'bit of a receipt': ({ set }) => {
    const at = randomInt(set.receipts.length)
    const one = { ...bare(set.receipts[at]!), jws: flipped(set.receipts[at]!.jws) }
    return { ...set, receipts: set.receipts.with(at, one as Receipt) }
  },
  'bit of the completion': ({ set }) => ({
    ...set,
    completion: { ...bare(set.completion), jws: flipped(set.completion.jws) },
  }),
  'one alone': ({ set }) => pick<unknown>([pick(set.receipts), pick(set.receipts).jws, set.completion]),
  'one left out': ({ set }) => ({
    ...set,
    receipts: set.receipts.toSpliced(randomInt(set.receipts.length), 1),
  }),
  'one twice': ({ set }) => ({ ...set, receipts: [...set.receipts, pick(set.receipts)] }),
  'one for another': ({ set }) => ({ ...set, receipts: set.receipts.with(1, set.receipts[0]!) }),
  'another order': ({ set }) => ({ ...set, receipts: set.receipts.toReversed() }),
  'one of another set': ({ set, other }) => ({
    ...set,
    receipts: set.receipts.with(randomInt(set.receipts.length), pick(other.set.receipts)),
  }),
  'one that was not counted': ({ set, bad }) => ({
    ...set,
    receipts: pick([[...set.receipts, bad.again], set.receipts.with(0, bad.again)]),
  }),
  'completion of another set': ({ set, other }) => ({ ...set, completion: other.set.completion }),
  'no completion': ({ set }) =>
    pick<unknown>([{ ...set, completion: undefined }, { ...set, completion: null }, set.receipts]),
  'a receipt as completion': ({ set }) => ({ ...set, completion: pick(set.receipts) }),
  'a completion as receipt': ({ set }) => ({ ...set, receipts: [...set.receipts, set.completion] }),
  nobody: ({ set }) => ({ ...set, receipts: [] }),
  'copy edited': ({ set }) => {
    const claims = { ...set.completion.claims, iat: set.completion.claims.iat + 1 }
    return { ...set, completion: { ...set.completion, claims } }
  },
  'copy of another': ({ set, other }) => ({
    ...set,
    receipts: set.receipts.with(0, { ...other.set.receipts[0]!, jws: set.receipts[0]!.jws }),
  }),
  'another form': ({ set }) =>
    pick<unknown>([
      { ...set, format: 'jws' },
      { ...set, count: 9 },
      { ...set, kid: set.completion.kid },
      [set],
    ]),
  'key of a stranger': async ({ set, stranger }) => ({
    ...set,
    completion: {
      format: 'jws',
      jws: await stranger.sign(set.completion.claims, completionType),
      kid: pick([stranger.kid, set.completion.kid]),
    },
  }),
}

/** Sets of the holder of the key of the service, who cannot sign for people. */
const byService: Record<string, Mutation> = {
  'signed: fewer needed': completing((claims) => lineOf(claims, { need: claims.lines[0]!.need - 1 })),
  'signed: another line': completing((claims) =>
    pick<object>([
      lineOf(claims, { separated: false }),
      lineOf(claims, { group: null }),
      { lines: [claims.lines[0], claims.lines[0]] },
    ]),
  ),
  'signed: another request': completing(({ jti }) =>
    pick<object>([
      { jti: `${jti}0` },
      { organization: { id: '8', slug: 'acme' } },
      { iss: 'https://evil.example' },
    ]),
  ),
  'signed: another subject or rule': completing(({ subject }) =>
    pick<object>([
      { subject: { ...subject, digest: hex() } },
      { rules: [] },
      { rules: [{ name: 'destroy', digest: hex() }] },
    ]),
  ),
  'signed: other names': completing(({ ballots }) => ({
    ballots: ballots.with(0, { ...ballots[0]!, user_id: pick(['999999', ballots[1]!.user_id]) }),
  })),
  'signed: another assignment': completing(({ assignment }) => ({
    assignment: pick([
      [],
      assignment.map(() => []),
      assignment.map((line) => line.slice(1)),
      assignment.map((line) => [...line, '999999']),
      assignment.map(() => [assignment[0]![0]!, assignment[0]![0]!]),
    ]),
  })),
  'signed: somebody left out': completing(({ ballots }) => ({
    excluded: [{ user_id: ballots[0]!.user_id, reason: 'owns the requesting key' }],
  })),
  'signed: another time': completing(({ iat }) => ({ iat: iat + pick([-60, -3600, 600, 86_400]) })),
  'signed: more claims': completing(({ ballots }) =>
    pick<object>([{ count: ballots.length }, { exp: 4e9 }, { ballots: undefined }]),
  ),
  'signed: too few': (one) => completed(one, {}, one.set.receipts.slice(0, -1)),
  'signed: one person twice': replacing('again'),
  'signed: one key twice': replacing('sameKey'),
  'signed: a denial': replacing('denial'),
  'signed: another question': replacing('otherTimes'),
  'signed: a phone of unknown origin': replacing('unknownOrigin'),
  'signed: somebody of another request': (one) =>
    completed(one, {}, one.set.receipts.with(0, one.other.set.receipts[0]!)),
  'signed: a forged person': resigned((claims, { other }) => ({
    evidence: pick([
      { ...claims.evidence, public_key: other.set.receipts[0]!.claims.evidence.public_key },
      other.set.receipts[0]!.claims.evidence,
    ]),
  })),
  'signed: a receipt at another time': resigned(({ iat }) => ({ iat: iat + pick([-600, 600, 86_400]) })),
  'signed: a receipt edited': resigned((claims) =>
    pick<object>([
      { sub: `${claims.sub}0` },
      { approver: { ...claims.approver, user_id: '999999' } },
      { lines: [{ ...claims.lines[0]!, need: 1 }] },
      { rules: [] },
    ]),
  ),
}

export const kinds: Record<string, Mutation> = { ...byStranger, ...byService }
