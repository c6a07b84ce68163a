import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { exitCode } from '../../core/exit-codes.ts'

export type Request = { request_id: string; number?: string }

/** A command of the demo. `$name` in its line is a value that an earlier step kept. */
export type Step = {
  /** What the step shows; empty if it belongs to the step before. */
  title: string
  line: string
  /** The exit code that it must have; 0 by default. */
  exit?: number
  /** Saves values of the answer under these names. */
  keep?: Record<string, string>
  /** Uses the kept key that can only ask. */
  asks?: true
  /** Runs before the step, in the folder of the demo. */
  before?(folder: string): void
  /** The command for another terminal, once there is a request. */
  meanwhile?(request: Request, folder: string): string
}

const hank = '--to +12025550109 --org globex'
const inbox =
  (decision: string) =>
  ({ request_id }: Request): string =>
    `approve inbox --${decision} ${request_id}`

/** Changes the action in the copy of a receipt that people read. */
const forge = (folder: string): void => {
  const receipt = readFileSync(join(folder, 'receipt.json'), 'utf8')
  writeFileSync(join(folder, 'forged.json'), receipt.replace('Deploy 4.2', 'Deploy 9.9'))
}

const writeScript = (folder: string, text: string): void => writeFileSync(join(folder, 'deploy.sh'), text)

/** The steps of `svc demo` on an empty service: people, then approvals and their proof. */
export const steps: Step[] = [
  {
    title: 'An organization, with its first administrator, auth code and key in one step',
    line: 'org onboard --name Globex --first-name Hank --last-name Scorpio --email hank@globex.example --country-code +1 --mobile 2025550109',
  },
  {
    title: 'An approver, with a software key instead of a phone',
    line: 'user enroll 1 --org globex --software',
  },
  {
    title: 'A key that can only ask',
    line: 'key create --name asks --org globex --can ask --expires 30d',
    keep: { key: 'key' },
  },
  {
    title: 'Request an approval; the approver types the number that the requester sees',
    line: `approve request "Deploy 4.2 to production" ${hank} --number --receipt receipt.json`,
    asks: true,
    meanwhile: ({ request_id, number }) => `approve inbox --approve ${request_id} --number ${number}`,
  },
  {
    title: 'Anyone can check the receipt',
    line: 'approve verify receipt.json --action "Deploy 4.2 to production" --org globex --max-age 5m --allow-dev',
  },
  {
    title: 'A changed receipt is rejected',
    line: 'approve verify forged.json --org globex --allow-dev',
    before: forge,
    exit: exitCode('failed'),
  },
  {
    title: 'The approver denies a request',
    line: `approve request "Delete the backups" ${hank}`,
    asks: true,
    meanwhile: inbox('deny'),
    exit: exitCode('denied'),
  },
  {
    title: 'Without a decision there is no approval',
    line: `approve request "Wire 9,000" ${hank} --timeout 1`,
    asks: true,
    exit: exitCode('expired'),
  },
  {
    title: 'An approval counts once',
    line: `approve submit "Deploy 4.3" ${hank}`,
    asks: true,
    keep: { id: 'request_id', digest: 'subject.digest' },
  },
  { title: '', line: 'approve inbox --approve $id' },
  { title: '', line: 'approve consume $id --digest $digest', asks: true },
  {
    title: 'and not twice',
    line: 'approve consume $id --digest $digest',
    asks: true,
    exit: exitCode('refused'),
  },
  {
    title: 'A command that runs only after an approval, bound to the hash of its script',
    line: `approve run ${hank} -- sh deploy.sh`,
    asks: true,
    // It succeeds only if it gets the receipt.
    before: (folder) => writeScript(folder, 'test -s "$SVC_APPROVAL_RECEIPT"\n'),
    meanwhile: inbox('approve'),
  },
  {
    title: 'and not if the script has changed in the meantime',
    line: `approve run ${hank} -- sh deploy.sh`,
    asks: true,
    meanwhile: (request, folder) => {
      writeScript(folder, 'echo stolen\n')
      return inbox('approve')(request)
    },
    exit: 100 + exitCode('failed'),
  },
  { title: 'The audit log was not changed', line: 'audit verify --org globex' },
]
