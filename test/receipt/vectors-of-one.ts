import { receiptType, type ReceiptClaims } from '../../src/receipt/claims.ts'
import { digestOf } from '../../src/receipt/subject.ts'
import { answerOf, ada, grace, joan, ofOrigin, question } from './set-specimen.ts'
import { accepted, encoded, rejected, signed, type Signers, type Vectors, withPart } from './vector.ts'

const [group, named] = question.lines as [(typeof question.lines)[0], (typeof question.lines)[0]]
/** Only Ada is asked. */
const alone = { lines: [{ ...named, people: ['5'] }], rules: [] }
const [rule] = question.rules as [(typeof question.rules)[0]]
/** One of a group is asked, because of a rule. */
const ruled = { lines: [{ ...group, need: 1 }] }
const data = { text: 'Delete production' }

/** Vectors of the receipt of one person. */
export const ofOne = async ({ issuer, second, stranger }: Signers): Promise<Vectors> => {
  const receipt = await answerOf(issuer, ada, alone)
  const { claims } = receipt
  const head = { alg: 'EdDSA', typ: receiptType, kid: issuer.kid }
  const wrongly = (title: string, changes: Partial<Record<keyof ReceiptClaims, unknown>>) => async () =>
    rejected(title, await signed({ ...claims, ...changes } as ReceiptClaims, receiptType, issuer))
  return {
    'one-person': async () => accepted('The only person who is asked approves', receipt),
    'one-bare-jws': async () => accepted('The JWS alone, without the JSON around it', receipt.jws),
    'one-es256': async () =>
      accepted(
        'A service key for ES256 and a passkey for ES256',
        await answerOf(second, joan, { lines: [{ ...named, people: ['12'] }], rules: [] }),
      ),
    'one-of-a-group': async () =>
      accepted(
        'One of three must agree, and one did',
        await answerOf(issuer, ada, { lines: [{ ...group, need: 1 }] }),
      ),
    'one-under-a-rule': async () =>
      accepted(
        'The requester named nobody, and a rule asks one of a group',
        await answerOf(issuer, ada, ruled),
        { lines: [], rule: { ...rule, who: [{ group: 'sre', need: 1 }] } },
      ),
    'one-denial': async () =>
      accepted(
        'The denial of one of three people',
        await answerOf(issuer, ada, { decision: 'deny', note: 'Not today' }),
        { status: 'denied' },
      ),
    'one-twin': async () =>
      accepted(
        'Another member has a similar name, which is shown and changes nothing',
        await answerOf(issuer, ada, { ...alone, approver: { ...ada.approver, twin: true } }),
      ),

    'one-break-glass': async () =>
      accepted(
        'An emergency: somebody else was asked than the people whom the rule names',
        await answerOf(issuer, ada, {
          ...ruled,
          break_glass: { reason: 'prod is down', skipped: ['9', '12'] },
        }),
        { allowBreakGlass: true },
      ),

    'not-under-this-rule': async () =>
      rejected('The rule said something else then', await answerOf(issuer, ada, ruled), {
        rule: { name: rule.name, digest: 'e'.repeat(64) },
      }),
    'not-whom-the-rule-asks': async () =>
      rejected('Fewer were asked than the rule needs', await answerOf(issuer, ada, ruled), {
        rule: { ...rule, who: [{ group: 'sre', need: 2 }] },
      }),
    'not-only-in-the-list': async () =>
      rejected('A rule holds it and asked nobody', await answerOf(issuer, ada, { ...alone, rules: [rule] }), {
        lines: [],
        rule,
      }),
    'not-of-nobody': async () =>
      rejected('Neither the requester nor a rule named the person', receipt, { lines: [] }),
    'not-one-of-three': async () =>
      rejected('One of three people who must agree', await answerOf(issuer, grace)),
    'not-two-lines': async () =>
      rejected(
        'One person for two lines',
        await answerOf(issuer, ada, {
          lines: [
            { ...group, need: 1 },
            { ...named, people: ['5'] },
          ],
        }),
      ),
    'not-own-phone': async () =>
      rejected(
        'The requesting key enrolled the phone, so it does not count for a group',
        await answerOf(issuer, ada, { lines: [{ ...group, need: 1 }] }, ofOrigin('self')),
      ),
    'not-unknown-origin': async () =>
      rejected(
        'The origin of the phone is not known, so it does not count for a group',
        await answerOf(issuer, ada, { lines: [{ ...group, need: 1 }] }, ofOrigin('unknown')),
        { allowUnseparated: true },
      ),
    'not-influential': async () =>
      rejected(
        'The requesting key can influence who approves',
        await answerOf(issuer, ada, alone, { influences: true }),
      ),
    'not-a-denial': async () =>
      rejected('A denial is not an approval', await answerOf(issuer, ada, { ...alone, decision: 'deny' })),
    'not-break-glass': async () =>
      rejected(
        'Somebody else was asked than the people whom the rules name',
        await answerOf(issuer, ada, { ...alone, break_glass: { reason: 'prod is down', skipped: ['9'] } }),
      ),
    'not-dev': async () =>
      rejected(
        'A software key of a service for development',
        await answerOf(issuer, ada, alone, { dev: true }),
      ),
    'not-local-program': async () =>
      rejected(
        'A program without a credential requested it',
        await answerOf(issuer, ada, {
          ...alone,
          key: { id: '0', name: 'unauthenticated local program', scopes: ['ask'] },
        }),
      ),
    'not-another-organization': async () =>
      rejected('Another organization than expected', receipt, { organization: 'globex' }),
    'not-another-issuer': wrongly('Another issuer than expected', { iss: 'https://other.example.com' }),

    'not-padded': async () => rejected('Base64url with padding', `${receipt.jws}=`),
    'not-json': async () => rejected('No receipt', '{"format":"jws"}'),
    'not-another-header': async () =>
      rejected('A header with another member', withPart(receipt, 0, encoded({ ...head, crit: [] }))),
    'not-alg-none': async () =>
      rejected('The algorithm "none"', withPart(receipt, 0, encoded({ ...head, alg: 'none' }))),
    'not-another-type': async () =>
      rejected('The type of a completion', await signed(claims, 'approval-completion+jwt', issuer)),
    'not-a-stranger': async () =>
      rejected('A key that is not in the key set', await signed(claims, receiptType, stranger)),
    'not-signed': async () =>
      rejected(
        'Other claims below the signature',
        withPart(receipt, 1, encoded({ ...claims, jti: 'apr_0' })),
      ),
    'not-the-copy': async () => ({
      ...rejected('Other claims next to the JWS', receipt),
      attestation: { ...receipt, claims: { ...claims, jti: 'apr_0' } },
    }),
    'not-more-claims': wrongly('A claim that is not known', { admin: true } as never),
    'not-canonical': wrongly('A context with white space', {
      context: Buffer.from(` ${Buffer.from(claims.context, 'base64url').toString()}`).toString('base64url'),
    }),
    'not-asked': async () => {
      const json = Buffer.from(claims.context, 'base64url')
        .toString()
        .replace('"people":["5"]', '"people":["6"]')
      const context = Buffer.from(json).toString('base64url')
      const lines = [{ ...named, people: ['6'] }]
      return rejected(
        'An approver who is in no line',
        await signed({ ...claims, lines, context }, receiptType, issuer),
      )
    },
    'not-the-lines': wrongly('Other lines in the claims than in the context', {
      lines: [{ ...named, people: ['5', '9'] }],
    }),
    'not-the-decision': wrongly('The claims say that a yes was a no', { status: 'denied' }),
    'not-the-action': wrongly('The hash of another action', { action_sha256: '0'.repeat(64) }),
    'not-the-subject': wrongly('Other data than those of the digest', {
      subject: { ...claims.subject, data },
    }),
    'not-another-subject': wrongly('Another subject than the one in the context', {
      subject: { type: 'text', data, digest: digestOf(data) },
    }),
    'not-in-time': wrongly('Decided after the request had expired', { iat: claims.iat + 120 }),
    'not-yet': async () => {
      const later = {
        requested_at: '2030-02-01T12:00:00.000Z',
        request_expires_at: '2030-02-01T12:02:00.000Z',
      }
      const decidedAt = new Date('2030-02-01T12:01:00.000Z')
      return rejected('Decided after now', await answerOf(issuer, ada, { ...alone, ...later }, { decidedAt }))
    },
    'not-twice-a-factor': wrongly('A factor twice', { factors: [...claims.factors, claims.factors[0]] }),
    'not-without-a-factor': wrongly('A requested factor that did not pass', { factors: [] }),
    'not-the-number': wrongly('A number that did not match', { number_matched: false }),
    'not-the-means': wrongly('Other means than the signature shows', { amr: ['face'] }),
    'not-another-challenge': wrongly('The evidence for another request', {
      evidence: (await answerOf(issuer, ada, { ...alone, request_id: 'apr_0' })).claims.evidence,
    }),
    'not-this-person': wrongly('The signature of another key', {
      evidence: { ...claims.evidence, public_key: grace.key.public_key_cose },
    }),
    'not-only-touched': async () => {
      const touched = await answerOf(issuer, ada, { ...alone, decision: 'deny' }, {}, { userVerified: false })
      const evidence = { ...claims.evidence, authenticator_data: touched.claims.evidence.authenticator_data }
      return rejected(
        'An approval for which the phone did not verify its user',
        await signed({ ...claims, evidence, amr: ['hwk', 'user'] }, receiptType, issuer),
      )
    },
  }
}
