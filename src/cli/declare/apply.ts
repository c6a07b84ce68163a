import { safeLine } from '../../core/safe-text.ts'
import { confirmWrite, type Answers } from '../operation/confirm.ts'
import type { Context } from '../context/context.ts'
import { boundPlan, isForPeople, planFor, showPlan, stepName, summary } from './plan-output.ts'
import { compare, type Comparing } from './comparison.ts'
import { unfinished, outcomeLine, resultPayload } from './summary.ts'
import { runSteps, type Outcome } from './execution.ts'
import type { Plan, Step } from './plan.ts'
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
    output.warn('Nothing was changed.')
    return
  }
  showBefore(plan, context)
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
  const interrupt = (): void =>
    output.warn(
      'Finishing the requests in progress. Press Ctrl-C again to stop immediately. To continue later, apply again',
    )
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
