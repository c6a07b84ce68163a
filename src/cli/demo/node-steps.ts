import { step, type Step } from './step.ts'

const asks = { keyFrom: 'asks' }
const ada =
  '--first-name Ada --last-name Lovelace --email ada@acme.example --country-code +1 --mobile 2025550101'

/** Ends the first node with SIGKILL, and returns the command that does the same. */
type KillFirst = () => string

/** The steps of `svc demo --nodes`: one approval that three nodes take part in, one of which is killed. */
export const nodeSteps = (killFirst: KillFirst): Step[] => [
  step('The nodes', 'service nodes --base-url $node1', {
    answers: [1, 2, 3].map(() => ({ state: 'serving' })),
  }),
  step('An organization, created at one node', 'org create --name Acme --slug acme --base-url $node1'),
  step('A user of it, at another one', `user create --org acme ${ada} --base-url $node2`),
  step(
    'An approver, with a software key instead of a phone',
    'user enroll 1 --org acme --software --base-url $node3',
    { answers: { kind: 'software' } },
  ),
  step('A key that can only ask', 'key create --name asks --org acme --can ask --base-url $node1', {
    keep: { asks: 'key' },
  }),
  step(
    'Request an approval at the first node',
    'approve submit "Deploy 4.2 to production" --to +12025550101 --org acme --base-url $node1',
    { ...asks, keep: { id: 'request_id', digest: 'subject.digest' } },
  ),
  step(
    'Wait at the third one. Meanwhile the first one is killed, and the approver decides at the second one',
    'approve wait $id --base-url $node3',
    {
      ...asks,
      disturb: killFirst,
      meanwhile: () => 'approve inbox --approve $id --base-url $node2',
      answers: { status: 'approved' },
    },
  ),
  step('Save the receipt', 'approve status $id --jq .attestation --base-url $node2', {
    ...asks,
    into: 'receipt.json',
  }),
  step(
    'Anyone can check it',
    'approve verify receipt.json --action "Deploy 4.2 to production" --org acme --max-age 5m --allow-dev --details --base-url $node3',
    { answers: [{ ok: 'ok', check: 'key signature' }] },
  ),
  step('An approval counts once', 'approve consume $id --digest $digest --base-url $node2', {
    ...asks,
    answers: { used_at: /./ },
  }),
  step('on all nodes', 'approve consume $id --digest $digest --base-url $node3', {
    ...asks,
    exit: 'refused',
    answers: { message: /already used/ },
  }),
  step('The audit log was not changed', 'audit verify --org acme --base-url $node3', {
    answers: { valid: true },
  }),
]
