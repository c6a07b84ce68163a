import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { step, type Step } from './step.ts'

const hank = '--to +12025550109'
const inbox = (decision: string) => (request: { request_id: string }) =>
  `approve inbox --${decision} ${request.request_id}`

/** Somebody changes the receipt: another action, in the copy that people read. */
const forge = (folder: string): void => {
  const receipt = readFileSync(join(folder, 'receipt.json'), 'utf8')
  writeFileSync(join(folder, 'forged.json'), receipt.replace('Deploy 4.2', 'Deploy 9.9'))
}

// Stands for ./deploy.sh: it succeeds only where the receipt was handed to it.
const deploy = `${process.execPath} -e 'process.exit(require("fs").existsSync(process.env.SVC_APPROVAL_RECEIPT) ? 0 : 1)'`

/** An approver decides, a receipt is checked, a command waits for a yes. */
export const approvals: Step[] = [
  step('A key that can ask, and change nothing', 'key create --name asks --can ask', {
    keep: { as: 'asks', field: 'key' },
    answers: { scopes: ['ask'] },
  }),
  step(
    'An approver, with a key made of software in place of a phone',
    'user enroll 1 --org globex --software',
    {
      answers: { kind: 'software' },
    },
  ),
  step(
    'Ask, and the approver types the number that the requester sees',
    `approve request "Deploy 4.2 to production" ${hank} --number --receipt receipt.json`,
    {
      keyFrom: 'asks',
      meanwhile: ({ request_id, number }) => `approve inbox --approve ${request_id} --number ${number}`,
      answers: { status: 'approved', number: /^\d\d$/ },
    },
  ),
  step(
    'Anyone can check the receipt',
    `approve verify receipt.json --org globex --action "Deploy 4.2 to production" --max-age 5m --allow-dev`,
    { answers: [{ ok: 'ok', check: 'human signature' }] },
  ),
  step('It is of no other organization', 'approve verify receipt.json --org acme --allow-dev', {
    exit: 'failed',
    answers: [{ ok: 'FAILED', check: 'expected organization' }],
  }),
  step('Somebody changes it', 'approve verify forged.json --org globex --allow-dev', {
    before: forge,
    exit: 'failed',
    answers: [{ ok: 'FAILED', check: 'copy' }],
  }),
  step('The approver says no', `approve request "Delete the backups" ${hank}`, {
    keyFrom: 'asks',
    meanwhile: inbox('deny'),
    exit: 'denied',
    answers: { status: 'denied' },
  }),
  step('Nobody answers, and silence is no consent', `approve request "Wire 9,000" ${hank} --timeout 1`, {
    keyFrom: 'asks',
    exit: 'expired',
    answers: { status: 'expired' },
  }),
  step('A command that runs only after a yes', `approve run --action "Deploy 4.3" ${hank} -- ${deploy}`, {
    keyFrom: 'asks',
    meanwhile: inbox('approve'),
  }),
  step('and not after a no', `approve run --action "Drop the database" ${hank} -- ${deploy}`, {
    keyFrom: 'asks',
    meanwhile: inbox('deny'),
    exit: 106,
    answers: { message: /nothing was run/ },
  }),
]
