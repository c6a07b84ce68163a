import { SvcError } from '../../core/errors.ts'
import { safeLine } from '../../core/safe-text.ts'
import { confirmWrite, type Answers } from '../operation/confirm.ts'
import { warnOfRules } from '../operation/rule-warnings.ts'
import type { Context } from '../context/context.ts'
import { isForPeople } from '../terminal/output.ts'
import { boundPlan, planFor, showPlan, stepName, summary, wantsRows } from './plan-output.ts'
import { compare, type Comparing } from './comparison.ts'
import { runSteps, type Outcome, type Result } from './execution.ts'
import { changedRules, type Plan, type Step } from './plan.ts'
import { type Approvals, rowsOfStep } from './requests.ts'
import type { Section } from './state.ts'

export type ApplyOptions = Comparing & Answers & { dryRun?: boolean }

/** The commands that do the same. A profile can require an approval for them. */
const groupOf: Record<Section, string> = {
  organization: 'org',
  geofences: 'geofence',
  timeslots: 'timeslot',
  users: 'user',
  groups: 'group',
  rules: 'rule',
  auth_codes: 'org auth-code',
  idp: 'org creds',
}

const commandsOf = ({ steps }: Plan): string[] => [
  ...new Set(
    steps.flatMap(({ section, action }) => {
      const words = `${groupOf[section]} ${action}`
      return words === 'user delete' ? [words, 'user remove'] : [words]
    }),
  ),
]

/** Shows the plan on stdout or, if stdout is for a program, on a terminal at stderr. */
const showBefore = (plan: Plan, context: Context): void => {
  const { stdout, stderr } = context.io
  if (isForPeople(context)) stdout.write(planFor(plan, context, 'stdout'))
  else if (stderr.isTTY) stderr.write(planFor(plan, context, 'stderr'))
}

/** Requests one approval for all steps that rules of the organization hold, but those of groups and rules, which are asked alone. */
const approveSteps = async (
  { steps }: Plan,
  org: number | undefined,
  context: Context,
): Promise<Approvals> => {
  const approvals = new Map<Step, (string | undefined)[]>()
  if (org === undefined) return approvals
  const rows = await Promise.all(steps.map((step) => rowsOfStep(step, org)))
  const from = steps.flatMap((step, i) => rows[i]!.map(() => step))
  if (from.length === 0) return approvals
  const masked = !context.globals.reveal
  const nameOf = (place: number): string => stepName(from[place]!, masked)
  const found = await context.approveTogether(rows.flat(), { org, skipExisting: false, nameOf })
  for (const [i, step] of from.entries())
    approvals.set(step, [...(approvals.get(step) ?? []), found.approvals[i]])
  return approvals
}

const past = { create: 'created', change: 'changed', delete: 'deleted', by_hand: 'left' } as const

/** `created geofences/HQ`, `not created geofences/HQ: why`. */
const outcomeLine = ({ step, error }: Outcome, masked: boolean): string => {
  const verb = step.action === 'delete' && step.section === 'users' ? 'removed' : past[step.action]
  return `${error ? 'not ' : ''}${verb} ${stepName(step, masked)}${error ? `: ${error.message}` : ''}`
}

const row = ({ action, section, key }: Step, outcome: string, details = {}) => ({
  action,
  section,
  key,
  outcome,
  ...details,
})

/** The outcome of each step. */
const resultPayload = (organization: string, result: Result, context: Context): unknown => {
  const { done, failed, left, by_hand } = result
  const steps = [
    ...done.map(({ step, code }) => row(step, 'done', code === undefined ? {} : { code })),
    ...failed.map(({ step, error }) => row(step, 'failed', { error: error.message })),
    ...left.map((step) => row(step, 'left')),
    ...by_hand.map((step) => row(step, 'by_hand', { error: step.note })),
  ]
  if (wantsRows(context)) return steps
  const summary = { done: done.length, failed: failed.length, left: left.length, by_hand: by_hand.length }
  return { organization, summary, steps }
}

/** The error that says what is left to do; undefined if nothing is left. */
const unfinished = (
  { done, failed, left, by_hand }: Result,
  aborted: boolean,
  resume: string,
  masked: boolean,
): SvcError | undefined => {
  const total = done.length + failed.length + left.length
  const counts = `${done.length} of ${total} steps done`
  if (aborted && left.length > 0)
    return new SvcError('interrupted', 'interrupted', `Stopped: ${counts}`, { hint: `${resume} continues` })
  // The only reason says more than a count, and has the hint.
  const [first] = failed
  const isOneReason = failed.every(({ error }) => error === first?.error)
  if (done.length === 0 && first && isOneReason) return first.error
  const issues = [
    ...failed.map(({ step, error }) => ({ field: stepName(step, masked), message: error.message })),
    ...by_hand.map((step) => ({ field: stepName(step, masked), message: step.note ?? 'by hand' })),
  ]
  if (issues.length === 0) return undefined
  const parts = [
    ...(total > 0 ? [counts] : []),
    ...(failed.length > 0 ? [`${failed.length} failed`] : []),
    ...(left.length > 0 ? [`${left.length} not attempted`] : []),
    ...(by_hand.length > 0 ? [`${by_hand.length} left to do by hand`] : []),
  ]
  return new SvcError('partial', 'apply_incomplete', parts.join(', '), {
    issues: issues.slice(0, 20),
    hint: [
      ...(isOneReason && first?.error.hint !== undefined ? [first.error.hint] : []),
      failed.length > 0 ? `${resume} continues with what is left` : resume,
    ].join('. Then: '),
  })
}

/** `svc apply`: shows the plan, asks for confirmation, and runs the steps. */
export const runApply = async (
  file: string | undefined,
  options: ApplyOptions,
  context: Context,
): Promise<void> => {
  const { io, globals } = context
  const output = await context.output()
  const { plan, state, source } = await compare(file, options, context)
  if (options.dryRun) {
    await showPlan(plan, 'Planned', context)
    await warnOfRules(changedRules(plan), context)
    output.warn('Nothing was changed.')
    return
  }
  showBefore(plan, context)
  await warnOfRules(changedRules(plan), context)
  const total = plan.steps.filter(({ action }) => action !== 'by_hand').length
  if (total > 0) {
    const changes = summary({ steps: plan.steps, extra: [] })
    await confirmWrite(
      {
        what: `Apply to ${state.slug}: ${changes}`,
        name: state.slug,
        org: state.org_id,
        declined: 'Nothing was applied',
      },
      options,
      context,
    )
    await context.approveFirst({
      cli: commandsOf(plan),
      line: `${await context.command!.line()}: ${changes}`,
      org: state.org_id,
      bound: async () => boundPlan(plan, source),
    })
  }

  const people = isForPeople(context)
  const masked = !globals.reveal
  let count = 0
  const report = (outcome: Outcome): void => {
    const write = people ? output.warn : output.note
    write(`[${++count}/${total}] ${outcomeLine(outcome, masked)}`)
    const { section, action } = outcome.step
    if (section === 'auth_codes' && action === 'create' && !outcome.error && outcome.code === undefined)
      output.warn('  its code was not shown: delete it (svc org auth-code delete) and apply again')
    // Immediately: it is shown only here, and the other steps may take long.
    if (people && outcome.code !== undefined) {
      const line = `auth_codes/${safeLine(outcome.step.key)}  ${safeLine(outcome.code)}  (shown once: save it now)\n`
      context.once = `${context.once ?? ''}${line}`
      io.stdout.write(line)
    }
  }
  const client = await context.client()
  const { org_id, slug } = state
  const approvals = await approveSteps(plan, org_id, context)
  const interrupt = (): void => {
    if (io.stderr.isTTY) io.stderr.write('\r\u001b[K')
    output.warn(
      'Finishing the requests in progress. Press Ctrl-C again to stop immediately. To continue later, apply again',
    )
  }
  io.signal.addEventListener('abort', interrupt, { once: true })
  const result = await runSteps(plan.steps, { client, org_id, signal: io.signal, approvals, report })
  io.signal.removeEventListener('abort', interrupt)

  if (!people) {
    const status = result.failed.length > 0 ? 'partial' : 'success'
    await output.show(
      { status, message: 'Applied', data: resultPayload(slug, result, context) },
      { once: new Set(['code']) },
    )
  }
  const again = await context.command!.again({ args: [source === '-' ? 'FILE' : source] })
  const failure = unfinished(result, io.signal.aborted, again, masked)
  if (failure) throw failure
  if (total > 0) output.warn(`Done: ${total} of ${total} steps.`)
}
