import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import * as z from 'zod/mini'
import { SvcError, usageError } from '../../core/errors.ts'
import { sha256 } from '../../core/ids.ts'
import { parseJson } from '../../core/parse-json.ts'
import { replaceFile } from '../../core/replace-file.ts'
import { safeJson } from '../../core/safe-text.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import type { Io } from '../terminal/io.ts'
import { readBytes } from '../terminal/input-file.ts'
import { requirePlainFile } from '../terminal/output-file.ts'
import { actions, type Plan } from './plan.ts'
import type { Coverage } from './read-state.ts'
import { sections, type State } from './state.ts'

const positive = z.int().check(z.gte(1))
const section = z.enum(sections)

const planFile = z.strictObject({
  svc_plan: z.literal(1),
  base_url: z.string(),
  /** The file that was compared. */
  source: z.string(),
  prune: z.optional(z.boolean()),
  target: z.optional(z.array(z.string())),
  organization: z.string(),
  org_id: z.optional(positive),
  scope: z.strictObject({ sections: z.array(section), rules: z.boolean() }),
  /** Hash of the state of the service. */
  state_sha256: z.string(),
  steps: z.array(
    z.strictObject({
      action: z.enum(actions),
      section,
      key: z.string(),
      id: z.optional(z.union([positive, z.string()])),
      changes: z.array(
        z.strictObject({
          field: z.string().check(z.regex(/^[a-z_]{1,40}$/)),
          before: z.optional(z.unknown()),
          after: z.optional(z.unknown()),
        }),
      ),
      note: z.optional(z.string()),
    }),
  ),
})
export type PlanFile = z.infer<typeof planFile>

/** Changes with every ID and every value that was compared. */
const stateHash = ({ slug, org_id, rows, ambiguous }: State): string =>
  sha256(JSON.stringify([slug, org_id ?? null, sections.map((name) => rows[name] ?? null), ambiguous]))

export const planFileOf = (
  { organization, org_id, steps }: Plan,
  state: State,
  about: Pick<PlanFile, 'base_url' | 'source' | 'prune' | 'target'> & { scope: Coverage },
): PlanFile => ({
  svc_plan: 1,
  ...about,
  scope: { ...about.scope, sections: [...about.scope.sections] },
  organization,
  org_id,
  state_sha256: stateHash(state),
  steps,
})

const beginning = '{\n  "svc_plan":'

/** A plan may overwrite a plan, but never another file, such as the one that was compared. */
const requirePlan = (path: string, file: string): void => {
  requirePlainFile(path, file, 'Use --plan-out FILE to choose another')
  if (existsSync(path) && !readFileSync(path, 'utf8').startsWith(beginning))
    throw usageError(
      `--plan-out: ${file} exists and is not a plan, so it is not overwritten`,
      '--plan-out org.plan',
    )
}

/** Writes the plan atomically. Only the owner can read it, because it contains names of users. */
export const writePlan = (file: string, plan: PlanFile, { cwd }: Io): void => {
  const path = resolve(cwd, file)
  try {
    requirePlan(path, file)
    replaceFile(path, `${safeJson(plan, 2)}\n`)
  } catch (error) {
    if (error instanceof SvcError) throw error
    throw usageError(`--plan-out: cannot write ${file} (${(error as NodeJS.ErrnoException).code})`)
  }
}

/** Reads a plan that `writePlan` wrote. Throws a usage error for anything else. */
export const readPlan = (file: string, io: Io): PlanFile => {
  const text = readBytes(file, io, { flag: '--plan' }).toString('utf8')
  const checked = planFile.safeParse(parseJson(text))
  if (checked.success) return checked.data
  throw usageError(
    `--plan: ${file} is not a plan of this version of svc`,
    `svc apply org.yaml --plan-out ${shellQuote(file)} writes one`,
  )
}

/** Whether the service still has the rows of the steps under the same IDs, and none of the rows to create. */
const fits = ({ steps, scope }: PlanFile, state: State): boolean =>
  steps.every(({ action, section, key, id: rowId }) => {
    if (!scope.sections.includes(section)) return false
    const there = state.rows[section]?.find((row) => row.key === key)
    if (action === 'by_hand') return true
    return action === 'create' ? !there : there !== undefined && there.id === rowId
  })

/** Throws if the organization has changed since the plan. `again` is the command that creates a new plan. */
export const checkStillValid = (plan: PlanFile, state: State, baseUrl: string, again: string): void => {
  if (plan.base_url !== baseUrl)
    throw usageError(
      `The plan is for ${plan.base_url}, but the service is ${baseUrl}`,
      'Use --base-url or --profile to choose the service',
    )
  if (plan.state_sha256 === stateHash(state) && plan.org_id === state.org_id && fits(plan, state)) return
  const stale = 'The plan is out of date: the organization has changed since'
  throw new SvcError('failed', 'stale_plan', stale, {
    detail: 'Nothing was applied.',
    hint: `${again} creates a new one`,
  })
}
