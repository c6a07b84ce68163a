import { usageError } from '../../core/errors.ts'
import type { Context } from '../context/context.ts'
import { readInput, textOf } from '../terminal/input-file.ts'
import type { Io } from '../terminal/io.ts'
import { readDocument } from './document.ts'
import { type Plan, planFrom } from './plan.ts'
import { readState, type Scope } from './read-state.ts'
import type { State } from './state.ts'
import { checkTargets, readTarget, targetedRows, targetedSections } from './target.ts'

/** Eight times what an organization of 5,000 users takes. */
const mostMiB = 10

/** The text of a file, or of standard input for `-`. Fails with a usage error when it is too large or no UTF-8. */
const readSource = async (file: string, io: Io): Promise<{ name: string; text: string }> => {
  const name = file === '-' ? 'standard input' : file
  const hint = 'svc export --org acme > org.yaml writes a file like this'
  const split = 'Use svc user import for lists of this size'
  const bytes = await readInput(file, io, { mostMiB, hint, split })
  if (bytes.length > mostMiB * 1024 * 1024) throw usageError(`${name} is larger than ${mostMiB} MiB`, split)
  return { name, text: textOf(bytes, name) }
}

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
