import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { step, type Step } from './step.ts'

const hank = '--to +12025550109 --org globex'
const asks = { keyFrom: 'asks' }
const inbox = (decision: string) => (request: { request_id: string }) =>
  `approve inbox --${decision} ${request.request_id}`

/** Changes the action in the copy of a receipt that people read. */
const forge = (folder: string): void => {
  const receipt = readFileSync(join(folder, 'receipt.json'), 'utf8')
  writeFileSync(join(folder, 'forged.json'), receipt.replace('Deploy 4.2', 'Deploy 9.9'))
}

/** The script succeeds only if it gets the receipt. */
const writeScript = (folder: string): void =>
  writeFileSync(join(folder, 'deploy.sh'), 'test -s "$SVC_APPROVAL_RECEIPT"\n')

/** Changes the script while the request is pending. */
const swapScript = (folder: string): void => writeFileSync(join(folder, 'deploy.sh'), 'echo stolen\n')

/** What a host tells its hook about a command that its agent wants to run. */
const writeCall = (folder: string): void => {
  const call = {
    hook_event_name: 'PreToolUse',
    tool_name: 'Bash',
    tool_input: { command: 'git push --force' },
  }
  writeFileSync(join(folder, 'call.json'), JSON.stringify({ ...call, cwd: '/home/hank/work' }))
}

const hook = `hook run claude ${hank} --base-url $service --key-file agent.key`

/** Decisions of an approver, checks of a receipt, and a command that requires an approval. */
export const approvals: Step[] = [
  step('An approver, with a software key instead of a phone', 'user enroll 1 --org globex --software', {
    answers: { kind: 'software' },
  }),
  step(
    'A second key is pending as long as the first one is active',
    'user enroll 1 --org globex --software --file second.json',
    {
      answers: { state: 'pending', proof: 'device' },
    },
  ),
  step('A key that can only ask', 'key create --name asks --org globex --can ask --expires 30d', {
    keep: { asks: 'key' },
    answers: { scopes: ['ask'] },
  }),
  step(
    'Request an approval; the approver types the number that the requester sees',
    `approve request "Deploy 4.2 to production" ${hank} --number --receipt receipt.json`,
    {
      meanwhile: ({ request_id, number }) => `approve inbox --approve ${request_id} --number ${number}`,
      ...asks,
      answers: { status: 'approved', number: /^\d\d$/ },
    },
  ),
  step(
    'Anyone can check the receipt',
    `approve verify receipt.json --action "Deploy 4.2 to production" --org globex --max-age 5m --allow-dev --details`,
    { answers: [{ ok: 'ok', check: 'key signature' }] },
  ),
  step(
    'It is not valid for another organization',
    'approve verify receipt.json --org acme --allow-dev --details',
    {
      exit: 'failed',
      answers: [{ ok: 'FAILED', check: 'expected organization' }],
    },
  ),
  step('A changed receipt is rejected', 'approve verify forged.json --org globex --allow-dev --details', {
    before: forge,
    exit: 'failed',
    answers: [{ ok: 'FAILED', check: 'copy' }],
  }),
  step('The approver denies a request', `approve request "Delete the backups" ${hank}`, {
    ...asks,
    meanwhile: inbox('deny'),
    exit: 'denied',
    answers: { status: 'denied' },
  }),
  step('Without a decision there is no approval', `approve request "Wire 9,000" ${hank} --timeout 1`, {
    ...asks,
    exit: 'expired',
    answers: { status: 'expired' },
  }),
  step('An approval counts once', `approve submit "Deploy 4.3" ${hank}`, {
    ...asks,
    keep: { id: 'request_id', digest: 'subject.digest' },
  }),
  step('', 'approve inbox --approve $id', { answers: { status: 'approved' } }),
  step('', 'approve consume $id --digest $digest', { ...asks, answers: { used_at: /./ } }),
  step('and not twice', 'approve consume $id --digest $digest', {
    ...asks,
    exit: 'refused',
    answers: { message: /already used/ },
  }),
  step(
    'A command that runs only after an approval, bound to the hash of its script',
    `approve run ${hank} -- sh deploy.sh`,
    {
      ...asks,
      before: writeScript,
      meanwhile: inbox('approve'),
    },
  ),
  step('and not if the script has changed in the meantime', `approve run ${hank} -- sh deploy.sh`, {
    ...asks,
    meanwhile: (request, folder) => {
      swapScript(folder)
      return inbox('approve')(request)
    },
    exit: 101,
    answers: { message: /is not what was approved/ },
  }),
  step(
    "A key for an agent, and the hook of Claude Code. The approver denies the agent's command",
    'key create --name agent --org globex --can ask --jq .key',
    { into: 'agent.key' },
  ),
  step('', hook, {
    before: writeCall,
    from: 'call.json',
    meanwhile: inbox('deny'),
    exit: 2,
  }),
  step('and approves it the second time', hook, {
    from: 'call.json',
    meanwhile: inbox('approve'),
  }),
]
