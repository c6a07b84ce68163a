import type { Receipt } from '../../src/receipt/claims.ts'
import type { ApprovalContext } from '../../src/receipt/context.ts'
import { createUse, type GrantedReceipt, type UseClaims, useType } from '../../src/receipt/grant-use.ts'
import { digestOf, type Subject } from '../../src/receipt/subject.ts'
import { ada, answerOf, question } from './set-specimen.ts'
import { accepted, rejected, signed, type Signers, type Vectors } from './vector.ts'

const [group] = question.lines as [(typeof question.lines)[0]]

const deleting = (pod: string): Subject & { digest: string } => {
  const data = {
    argv: ['kubectl', 'delete', 'pod', pod],
    cwd: '/srv/prod',
    executable: { path: '/usr/bin/kubectl', sha256: 'ab'.repeat(32) },
    files: [],
    environment: { passed: [], set: {} },
  }
  return { type: 'command', data, digest: digestOf(data) }
}

const restarting = (meta: Record<string, string>): Subject & { digest: string } => {
  const data = { server: 'ops', tool: 'restart', arguments: { name: 'web' }, parameters: { _meta: meta } }
  return { type: 'tool_call', data, digest: digestOf(data) }
}

const granting: Partial<ApprovalContext> = {
  lines: [{ ...group, need: 1 }],
  grant: { free: ['3'], seconds: 300, uses: 20 },
}

/** Vectors of what somebody allowed again earlier. */
export const ofGrants = async ({ issuer }: Signers): Promise<Vectors> => {
  const { digest: _, ...subject } = deleting('web-1')
  const answer = (changes: Partial<ApprovalContext> = granting, of: Subject = subject): Promise<Receipt> =>
    answerOf(issuer, ada, changes, { subject: of })
  const receipt = await answer()
  const { iss, iat, aud, action, reason, organization, key, rules } = receipt.claims
  const used: Omit<UseClaims, 'grant' | 'subject'> & { subject: Subject & { digest: string } } = {
    iss,
    iat: iat + 60,
    jti: 'apr_7uSeD',
    aud,
    action,
    reason,
    organization,
    key,
    rules,
    subject: deleting('web-2'),
    use: 7,
  }
  const use = await createUse(used, receipt, issuer.sign)
  const using = async (changes: object, by: Receipt = receipt): Promise<GrantedReceipt> => ({
    format: 'grant',
    use: await signed({ ...use.use.claims, ...changes }, useType, issuer),
    receipt: by,
  })
  const granted = { allowGrant: true }
  const wrongly = (title: string, changes: object) => async () =>
    rejected(title, await using(changes), granted)
  const subjectOf = (changes: object) => ({ ...deleting('web-2'), ...changes })
  const { digest: __, ...call } = restarting({ callId: 'call_1' })
  const calling = await answer({ ...granting, grant: { free: [], seconds: 300, uses: 20 } }, call)
  const callUsed = (meta: Record<string, string>): Promise<GrantedReceipt> =>
    createUse({ ...used, subject: restarting(meta) }, calling, issuer.sign)
  return {
    'one-granting': async () =>
      accepted('An approval that allows the same again, and is one itself', receipt),
    'use-of-a-grant': async () =>
      accepted('The seventh use of a grant, with another last word', use, granted),
    'use-of-a-call': async () =>
      accepted(
        'The same call, which its host has numbered anew',
        await callUsed({ callId: 'call_2' }),
        granted,
      ),
    'not-the-metadata': async () =>
      rejected(
        'The same call with other metadata',
        await callUsed({ callId: 'call_2', 'acme/force': 'yes' }),
        granted,
      ),
    'not-a-grant': async () => rejected('A use of a grant, which nobody saw', use),
    'not-granting': async () => {
      const plain = await answer({ lines: granting.lines! })
      return rejected('The person granted nothing', await createUse(used, plain, issuer.sign), granted)
    },
    'not-the-granting': async () =>
      rejected('The receipt of another grant', await using({}, await answer()), granted),
    'not-the-requester': wrongly('Another key uses it', { key: { ...key, id: '4' } }),
    'not-the-rules': wrongly('Under another rule', { rules: [] }),
    'not-the-granted': wrongly('An option instead of a word', { subject: deleting('--all') }),
    'not-two-words': wrongly('Two words instead of one', { subject: deleting('web-1 --all') }),
    'not-the-folder': wrongly('Another folder', {
      subject: (() => {
        const data = { ...(deleting('web-1').data as object), cwd: '/srv' }
        return subjectOf({ data, digest: digestOf(data) })
      })(),
    }),
    'not-its-subject': wrongly('The digest is not that of the data', {
      subject: subjectOf({ digest: 'ab'.repeat(32) }),
    }),
    'not-so-often': wrongly('The twenty-first of twenty uses', { use: 21 }),
    'not-so-long': wrongly('After six of five minutes', { iat: iat + 360 }),
  }
}
