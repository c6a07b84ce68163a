import type { Torture } from './torture.ts'

// `npm run torture [-- name…]`: the reliability table. Exits 1 when a count is not what it must be, when a control
// did not fail, or when no fault occurred. `npm run torture -- --list` prints the names.

const suites: Record<string, () => Promise<{ torture: Torture }>> = {
  tenants: () => import('./tenants.ts'),
  scopes: () => import('./scope-matrix.ts'),
  'take-over': () => import('./take-over.ts'),
  'bad-inputs': () => import('./bad-inputs.ts'),
  'bad-tools': () => import('./bad-tools.ts'),
  'bad-lines': () => import('./bad-lines.ts'),
  profiles: () => import('./profiles.ts'),
  'kill-nine': () => import('./kill-nine.ts'),
  bodies: () => import('./bodies.ts'),
  'noisy-tenant': () => import('./noisy-tenant.ts'),
  'long-lists': () => import('./long-lists.ts'),
  redirects: () => import('./redirects.ts'),
  oauth: () => import('./oauth.ts'),
  'sign-in': () => import('./sign-in.ts'),
  canaries: () => import('./canaries.ts'),
  terminal: () => import('./terminal.ts'),
  receipts: () => import('./receipts.ts'),
  sets: () => import('./sets.ts'),
  subjects: () => import('./subjects.ts'),
  gate: () => import('./gate.ts'),
  consume: () => import('./consume.ts'),
  hooks: () => import('./hooks.ts'),
  assertions: () => import('./assertions.ts'),
  approvals: () => import('./approvals.ts'),
  ballots: () => import('./ballots.ts'),
  rules: () => import('./rules.ts'),
  batches: () => import('./batches.ts'),
  grants: () => import('./grants.ts'),
  away: () => import('./away.ts'),
  'break-glass': () => import('./break-glass.ts'),
  'lost-wakeups': () => import('./lost-wakeups.ts'),
  'approval-limits': () => import('./approval-limits.ts'),
  pipelines: () => import('./pipelines.ts'),
  prompts: () => import('./prompts.ts'),
  otp: () => import('./otp.ts'),
  'kill-nine-approvals': () => import('./kill-nine-approvals.ts'),
  'kill-nine-rotations': () => import('./kill-nine-rotations.ts'),
  signals: () => import('./signals.ts'),
  delivery: () => import('./delivery.ts'),
  webhooks: () => import('./webhooks.ts'),
  'delivery-canaries': () => import('./delivery-canaries.ts'),
  'nodes-races': () => import('./nodes-races.ts'),
  'nodes-kills': () => import('./nodes-kills.ts'),
  'database-kills': () => import('./database-kills.ts'),
  'lost-answers': () => import('./lost-answers.ts'),
  'lost-listeners': () => import('./lost-listeners.ts'),
  waiters: () => import('./waiters.ts'),
  'clock-skew': () => import('./clock-skew.ts'),
  failover: () => import('./failover.ts'),
  'noisy-neighbour': () => import('./noisy-neighbour.ts'),
  // Needs Chromium.
  page: () => import('./page.ts'),
  // Needs root, sudo and sshd.
  guards: () => import('./guards.ts'),
}

const wanted = process.argv.slice(2)
const names = Object.keys(suites)
const unknown = wanted.filter((name) => !names.includes(name) && name !== '--list')
if (unknown.length > 0)
  throw new Error(`There is no row ${unknown.join(', ')}. There are: ${names.join(', ')}`)

/** Runs a row and prints it; returns whether it is as it must be. */
const play = async (name: string): Promise<boolean> => {
  const { torture } = await suites[name]!()
  const started = Date.now()
  const { count, failures, hits, control, examples } = await torture.run()
  const met = Object.values(hits).reduce((sum, hit) => sum + hit, 0)
  const good = failures === 0 && control > 0 && met > 0
  const seconds = ((Date.now() - started) / 1000).toFixed(1)
  console.log(
    `${good ? 'ok  ' : 'FAIL'}  ${torture.name}: ${count} tried, ${failures} wrong (must: ${torture.must}), ${seconds} s`,
  )
  console.log(
    `      hits: ${Object.entries(hits)
      .map(([what, hit]) => `${what} ${hit}`)
      .join(', ')}`,
  )
  console.log(`      negative control: ${control} wrong in the broken variant`)
  for (const example of examples ?? []) console.log(`      ${example}`)
  return good
}

if (wanted.includes('--list')) console.log(names.join('\n'))
else
  for (const name of names)
    if ((wanted.length === 0 || wanted.includes(name)) && !(await play(name))) process.exitCode = 1
