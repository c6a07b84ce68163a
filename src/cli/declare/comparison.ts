import { usageError } from '../../core/errors.ts'
import type { Context } from '../context/context.ts'
import { readDocument } from './document.ts'
import { planFrom, type Plan } from './plan.ts'
import { readState, type Scope } from './read-state.ts'
import { readSource } from './source.ts'
import type { State } from './state.ts'
import { checkTargets, readTarget, targetedRows, targetedSections } from './target.ts'

export type Comparing = { file?: string; target?: string[]; prune?: boolean }
export type Comparison = { scope: Scope; state: State; plan: Plan }

/** Compares a file with the service. The file is checked whole before the service is asked anything. */
export const compare = async (options: Comparing, command: string, context: Context): Promise<Comparison> => {
  if (options.file === undefined) throw usageError('Missing <file>', `svc ${command} org.yaml`)
  const targets = (options.target ?? []).map(readTarget)
  const { name, text } = await readSource(options.file, context.io)
  const wanted = readDocument(text, name)
  const sections = targetedSections(wanted, targets)
  const rules = wanted.rows.users?.some(({ fields }) => fields.geofences || fields.timeslots) ?? false
  const scope = { sections, rules: rules && sections.includes('users') }

  const client = await context.client()
  const state = await readState(client, wanted.slug, scope, context.io.signal)
  if (state.org_id === undefined && !sections.includes('organization'))
    throw usageError(
      `Organization "${wanted.slug}" does not exist yet, so --target cannot be used`,
      `${await context.command!.again({ without: ['--target'] })} makes it`,
    )
  const rows = targetedRows(wanted.rows, targets)
  checkTargets(targets, rows, state.rows)
  const present = { ...state, rows: targetedRows(state.rows, targets) }
  const plan = planFrom({ slug: wanted.slug, rows }, present, { prune: options.prune === true })
  return { scope, state, plan }
}
