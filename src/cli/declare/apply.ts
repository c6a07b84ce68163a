import { usageError } from '../../core/errors.ts'
import { safeLine } from '../../core/safe-text.ts'
import { shellWord } from '../../core/shell-word.ts'
import { confirmWrite, type Answers } from '../confirm.ts'
import type { Context } from '../context.ts'
import { compare, type Comparing } from './comparison.ts'
import { ending, outcomeLine, resultPayload } from './ending.ts'
import { carryOutAll, type Outcome } from './execution.ts'
import type { Plan } from './plan.ts'
import { checkStillValid, planFileOf, readPlan, writePlan } from './plan-file.ts'
import { summary } from './plan-text.ts'
import { readState } from './present.ts'
import { isForPeople, planFor, planPayload } from './showing.ts'
import type { Section, State } from './state.ts'

export type ApplyOptions = Comparing & Answers & { plan?: string; planOut?: string }

type Ready = { plan: Plan; state: State; source: string }

/** Whose commands do the same, one by one: a profile may want an approval for them. */
const groupOf: Record<Section, string> = {
  organization: 'org',
  geofences: 'geofence',
  timeslots: 'timeslot',
  users: 'user',
  auth_codes: 'org auth-code',
  idp: 'org creds',
}

const wordsOf = ({ steps }: Plan): string[] => [
  ...new Set(
    steps.flatMap(({ section, action }) => {
      const words = `${groupOf[section]} ${action}`
      return words === 'user delete' ? [words, 'user remove'] : [words]
    }),
  ),
]

/** What to type to go on: the plan is made anew of what is still to be done. */
const resumeCommand = (source: string, { prune, target }: Comparing, { globals }: Context): string =>
  [
    'svc apply -f',
    source === '-' ? 'FILE' : shellWord(source),
    ...(prune ? ['--prune'] : []),
    ...(target ?? []).map((one) => `--target ${shellWord(one)}`),
    ...(globals.profile === undefined ? [] : [`--profile ${shellWord(globals.profile)}`]),
    ...(globals.baseUrl === undefined ? [] : [`--base-url ${shellWord(globals.baseUrl)}`]),
  ].join(' ')

const checkFlags = ({ file, plan, planOut, prune, target }: ApplyOptions): void => {
  if (plan === undefined) return
  const foreign = { '-f': file, '--prune': prune, '--target': target, '--plan-out': planOut }
  for (const [flag, value] of Object.entries(foreign))
    if (value !== undefined)
      throw usageError(
        `${flag} does not go with --plan: the plan says all`,
        `svc apply --plan ${shellWord(plan)}`,
      )
}

const fromPlan = async (file: string, context: Context): Promise<Ready> => {
  const kept = readPlan(file, context.io)
  const { baseUrl } = await context.settings()
  const client = await context.client()
  const state = await readState(client, kept.organization, kept.scope, context.io.signal)
  checkStillValid(kept, state, baseUrl.value)
  const { organization, steps, source } = kept
  return { state, source, plan: { organization, steps, extra: [], ambiguous: [] } }
}

const fromFile = async (options: ApplyOptions, context: Context): Promise<Ready | undefined> => {
  const { state, plan, scope } = await compare(options, 'apply', context)
  const source = options.file!
  if (options.planOut === undefined) return { state, plan, source }
  const { baseUrl } = await context.settings()
  writePlan(options.planOut, planFileOf(plan, state, { base_url: baseUrl.value, source, scope }), context.io)
  show(plan, context)
  const output = await context.output()
  if (!isForPeople(context))
    await output.show({ status: 'success', message: 'Planned', data: planPayload(plan, context) })
  output.warn(`Nothing was changed. svc apply --plan ${shellWord(options.planOut)} carries this plan out.`)
  return undefined
}

/** On stdout for a person; where the result is for a program, a terminal still shows what it is asked about. */
const show = (plan: Plan, context: Context): void => {
  const { stdout, stderr } = context.io
  if (isForPeople(context)) stdout.write(planFor(plan, context, 'stdout'))
  else if (stderr.isTTY) stderr.write(planFor(plan, context, 'stderr'))
}

/** `svc apply`: plan, question, steps. */
export const runApply = async (options: ApplyOptions, context: Context): Promise<void> => {
  checkFlags(options)
  const { io, globals } = context
  const output = await context.output()
  const ready =
    options.plan === undefined ? await fromFile(options, context) : await fromPlan(options.plan, context)
  if (!ready) return
  const { plan, state, source } = ready
  show(plan, context)
  const total = plan.steps.filter(({ action }) => action !== 'by_hand').length
  if (total > 0) {
    const command =
      options.plan === undefined ? `apply -f ${shellWord(source)}` : `apply --plan ${shellWord(options.plan)}`
    const changes = summary({ steps: plan.steps, extra: [] })
    await confirmWrite(
      {
        command,
        what: `Apply to ${state.slug}: ${changes}`,
        name: state.slug,
        org: state.org_id,
        declined: 'Nothing was applied',
      },
      options,
      context,
    )
    await context.approveFirst({ cli: wordsOf(plan), line: `svc ${command}: ${changes}`, org: state.org_id })
  }

  const people = isForPeople(context)
  const masked = io.stderr.isTTY && !globals.reveal
  let count = 0
  const told = (outcome: Outcome): void => {
    const say = people ? output.warn : output.note
    say(`[${++count}/${total}] ${outcomeLine(outcome, masked)}`)
    const { section, action } = outcome.step
    if (section === 'auth_codes' && action === 'create' && !outcome.error && outcome.code === undefined)
      output.warn('  its code was not told: delete it (svc org auth-code delete) and apply again')
    // At once: it is told only here, and the rest of the way may be long.
    if (people && outcome.code !== undefined)
      io.stdout.write(
        `auth_codes/${safeLine(outcome.step.key)}  ${safeLine(outcome.code)}  (shown once: keep it now)\n`,
      )
  }
  const client = await context.client()
  const { org_id, slug } = state
  const interrupt = (): void =>
    output.warn('Finishing what is on its way; Ctrl-C again leaves at once, and applying again goes on')
  io.signal.addEventListener('abort', interrupt, { once: true })
  const result = await carryOutAll(plan.steps, { client, org_id, signal: io.signal, told })
  io.signal.removeEventListener('abort', interrupt)

  if (!people) {
    const status = result.failed.length > 0 ? 'partial' : 'success'
    await output.show({ status, message: 'Applied', data: resultPayload(slug, result, context) })
  }
  const failure = ending(result, io.signal.aborted, resumeCommand(source, options, context), masked)
  if (failure) throw failure
  if (total > 0) output.warn(`Done: ${total} of ${total} steps.`)
}
