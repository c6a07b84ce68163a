import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { ask, type Approval, type Terms, type Wanted } from '../../asking/ask.ts'
import { subjectFor } from '../../asking/subject.ts'
import { failure, type SvcError } from '../../core/errors.ts'
import type { Subject } from '../../receipt/subject.ts'
import { summaryOf } from '../../receipt/subject-text.ts'
import { openBackend } from '../approve/open-backend.ts'
import { requestingKey } from '../approve/separation.ts'
import type { Io, OutputStream } from '../terminal/io.ts'
import { closedContext } from './closed-context.ts'
import type { GuardConfig } from './config.ts'
import { createProgress } from '../approve/progress.ts'
import { readKeySet } from './trust.ts'

/**
 * A number that is part of each subject. A receipt of an earlier run has another one, so a service cannot answer with it,
 * whatever it says about the request and its use.
 */
export const newRun = (): string => randomBytes(16).toString('hex')

export const hostOf = ({ host }: GuardConfig): string => host ?? hostname()

/** Checks a subject. Throws an SvcError. */
export const guardSubject = (type: Subject['type'], data: object): Subject =>
  subjectFor({ type, data }, (problem) =>
    failure(
      'guard_subject',
      `It cannot be approved as it is: ${problem}`,
      'Make it shorter, and remove characters that nobody can see',
    ),
  )

type Held = {
  subject: Subject
  /** The account that wants it. Its own approver is not asked. */
  account: string
  /** `nothing was run` */
  nothing: string
  recheck?: () => void
}

/** What a guard prints ends up in a terminal, in the output of git and in logs. */
const plainLines = ({ stderr }: Io): OutputStream => ({
  write: (text) => stderr.write(`guard: ${text}`),
  isTTY: false,
  columns: Infinity,
})

const noApprover = (account: string, need: number): SvcError =>
  failure(
    'guard_no_approver',
    `${need === 1 ? 'Nobody' : `Fewer than ${need} people`} but ${account} can approve what ${account} does: nothing was run`,
    'Add people without this account to /etc/svc/guard.yaml',
  )

/**
 * Returns the approval that permits this action once. Asks everybody whom root named and who is not tied to the account, and
 * counts who agreed itself. Throws in every other case; nothing may be done then.
 */
export const hold = async (
  config: GuardConfig,
  { subject, account, nothing, recheck }: Held,
  io: Io,
): Promise<Approval> => {
  const { issuer, organization, jwks, allow_dev: allowDev = false, factors, need, timeout } = config
  const people = config.people.filter(({ accounts = [] }) => !accounts.includes(account))
  if (people.length < need) throw noApprover(account, need)
  const keys = readKeySet(jwks)
  const context = closedContext(config, io)
  try {
    const backend = await openBackend(context, { through: 'service', org: organization })
    if (allowDev)
      io.stderr.write('guard: allow_dev is set: an approval does not prove that a person made it\n')
    const wanted: Wanted = {
      action: summaryOf(subject),
      subject,
      factors,
      lifetime_s: timeout,
      requester: `${account} on ${hostOf(config)}`,
      org_id: /^\d+$/.test(organization) ? Number(organization) : undefined,
    }
    const terms: Terms = {
      backend,
      progress: createProgress({ io: { ...io, stderr: plainLines(io) }, globals: {} }, backend),
      signal: io.signal,
      nothing,
      proof: 'required',
      once: 'always',
      separated: {
        scopes: async () => (await requestingKey(context))?.scopes,
        hint: `Replace the key in ${config.key_file} by one that can only ask: svc key create --name guard --can ask`,
      },
      recheck,
    }
    const numbers = people.map(({ mobile }) => mobile)
    const passkeys = people.flatMap((one) => (one.passkeys ? [[one.mobile, one.passkeys] as const] : []))
    const pinned = {
      keys,
      issuer,
      organization,
      allowDev,
      passkeys: passkeys.length > 0 ? Object.fromEntries(passkeys) : undefined,
    }
    return await ask(wanted, { approvers: [`${numbers.join(',')}:${need}`] }, { ...terms, pinned })
  } finally {
    await context.close()
  }
}
