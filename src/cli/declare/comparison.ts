import { usageError } from '../../core/errors.ts'
import type { Context } from '../context/context.ts'
import { readInput, textOf } from '../terminal/input-file.ts'
import type { Io } from '../terminal/io.ts'
import { findAskingProblems } from './asking-problems.ts'
import { readDocument } from './document.ts'
import { planFrom } from './plan.ts'
import { readState } from './read-state.ts'
import { sections } from './state.ts'

/** Eight times the size of a file with 5,000 users. */
const mostMiB = 10

/** The text of a file, or of standard input for `-`. Throws a usage error if it is too large or not UTF-8. */
const readSource = async (file: string, io: Io): Promise<{ name: string; text: string }> => {
  const name = file === '-' ? 'standard input' : file
  const hint = 'svc export --org acme > org.yaml'
  const split = 'Use svc user import for lists of this size'
  const bytes = await readInput(file, io, { mostMiB, hint, split })
  if (bytes.length > mostMiB * 1024 * 1024) throw usageError(`${name} is larger than ${mostMiB} MiB`, split)
  return { name, text: textOf(bytes, name) }
}

export type Comparing = { prune?: boolean }

/** Compares a file with the service. The whole file is checked before the first request, and whom it lets ask before any change. */
export const compare = async (source: string | undefined, { prune = false }: Comparing, context: Context) => {
  if (source === undefined)
    throw usageError('Missing <file>', await context.command!.again({ args: ['org.yaml'] }))
  const { name, text } = await readSource(source, context.io)
  const { slug, rows, invalid } = readDocument(text, name)
  const scope = {
    // A rule asks groups.
    sections: sections.filter((section) => rows[section] ?? (section === 'groups' && rows.rules)),
    rules: rows.users?.some(({ fields }) => fields.geofences || fields.timeslots) ?? false,
  }
  const client = await context.client()
  const state = await readState(client, slug, scope, context.io.signal)
  const plan = planFrom({ slug, rows }, state, { prune })
  const wrong = await findAskingProblems({ rows, state, plan, prune }, client)
  if (wrong.length > 0) throw invalid(wrong)
  return { source, state, plan }
}
