import { usageError } from '../../core/errors.ts'
import { safeLine } from '../../core/safe-text.ts'
import { confirmWrite, type Answers } from '../operation/confirm.ts'
import type { Context } from '../context/context.ts'
import { checkWritable } from '../terminal/output-file.ts'
import { boundPlan, isForPeople, planFor, showPlan, summary } from './plan-output.ts'
import { compare, type Comparing } from './comparison.ts'
import { unfinished, outcomeLine, resultPayload } from './summary.ts'
import { runSteps, type Outcome } from './execution.ts'
import type { Plan } from './plan.ts'
import { checkStillValid, planFileOf, readPlan, writePlan } from './plan-file.ts'
import { readState } from './read-state.ts'
import type { Section, State } from './state.ts'

export type ApplyOptions = Comparing & Answers & { plan?: string; planOut?: string; dryRun?: boolean }

/** The comparison that a plan is from. */
type Source = { source: string; prune?: boolean | undefined; target?: string[] | undefined }
type Ready = { plan: Plan; state: State; from: Source }

/** The commands that do the same. A profile can require an approval for them. */
const groupOf: Record<Section, string> = {
  organization: 'org',
  geofences: 'geofence',
  timeslots: 'timeslot',
  users: 'user',
  groups: 'group',
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

const comparingFlags = ['--file', '--prune', '--target']

/** The `svc apply` that was typed, for the same comparison. */
const applyAgain = (
  { source, prune, target = [] }: Source,
  { command }: Context,
  { without = [], plus = [] }: { without?: string[]; plus?: string[] } = {},
): Promise<string> =>
  command!.again({
    args: [source === '-' ? 'FILE' : source],
    without: [...comparingFlags, '--plan', '--plan-out', ...without],
    plus: [...(prune ? ['--prune'] : []), ...target.flatMap((one) => ['--target', one]), ...plus],
  })

const planAgain = (plan: string, { command }: Context): Promise<string> =>
  command!.again({
    args: [],
    without: [...comparingFlags, '--plan-out', '--dry-run'],
    plus: ['--plan', plan],
  })

const checkFlags = async (
  { file, plan, planOut, prune, target }: ApplyOptions,
  context: Context,
): Promise<void> => {
  if (planOut !== undefined) checkWritable('--plan-out', planOut, context.io)
  if (plan === undefined) return
  const foreign = { FILE: file, '--prune': prune, '--target': target, '--plan-out': planOut }
  for (const [flag, value] of Object.entries(foreign))
    if (value !== undefined)
      throw usageError(`${flag} cannot be combined with --plan`, await planAgain(plan, context))
}

const fromPlan = async (file: string, context: Context): Promise<Ready> => {
  const from = readPlan(file, context.io)
  const { baseUrl } = await context.settings()
  const client = await context.client()
  const state = await readState(client, from.organization, from.scope, context.io.signal)
  const again = await applyAgain(from, context, {
    without: ['--yes', '--confirm'],
    plus: ['--plan-out', 'FILE'],
  })
  checkStillValid(from, state, baseUrl.value, again)
  const { organization, steps } = from
  return { state, from, plan: { organization, steps, extra: [], ambiguous: [] } }
}

const fromFile = async (options: ApplyOptions, context: Context): Promise<Ready | undefined> => {
  const { state, plan, scope } = await compare(options, context)
  const { prune, target, planOut } = options
  const from = { source: options.file!, prune, target }
  if (planOut === undefined) return { state, plan, from }
  const { baseUrl } = await context.settings()
  if (!options.dryRun)
    writePlan(planOut, planFileOf(plan, state, { base_url: baseUrl.value, ...from, scope }), context.io)
  await showPlan(plan, 'Planned', context)
  const output = await context.output()
  const next = `${await planAgain(planOut, context)} applies this plan.`
  output.warn(
    options.dryRun ? `Nothing was changed, and ${planOut} was not written.` : `Nothing was changed. ${next}`,
  )
  return undefined
}

/** Shows the plan on stdout or, if stdout is for a program, on a terminal at stderr. */
const showBefore = (plan: Plan, context: Context): void => {
  const { stdout, stderr } = context.io
  if (isForPeople(context)) stdout.write(planFor(plan, context, 'stdout'))
  else if (stderr.isTTY) stderr.write(planFor(plan, context, 'stderr'))
}

/** `svc apply`: shows the plan, asks for confirmation, and runs the steps. */
export const runApply = async (options: ApplyOptions, context: Context): Promise<void> => {
  await checkFlags(options, context)
  const { io, globals } = context
  const output = await context.output()
  const ready =
    options.plan === undefined ? await fromFile(options, context) : await fromPlan(options.plan, context)
  if (!ready) return
  const { plan, state, from } = ready
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
      bound: async () => boundPlan(plan, from.source),
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
  const interrupt = (): void =>
    output.warn(
      'Finishing the requests in progress. Press Ctrl-C again to stop immediately. To continue later, apply again',
    )
  io.signal.addEventListener('abort', interrupt, { once: true })
  const result = await runSteps(plan.steps, { client, org_id, signal: io.signal, report })
  io.signal.removeEventListener('abort', interrupt)

  if (!people) {
    const status = result.failed.length > 0 ? 'partial' : 'success'
    await output.show(
      { status, message: 'Applied', data: resultPayload(slug, result, context) },
      { once: new Set(['code']) },
    )
  }
  const failure = unfinished(result, io.signal.aborted, await applyAgain(from, context), masked)
  if (failure) throw failure
  if (total > 0) output.warn(`Done: ${total} of ${total} steps.`)
}
