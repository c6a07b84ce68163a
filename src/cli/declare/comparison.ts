import { usageError } from '../../core/errors.ts'
import type { Context } from '../context/context.ts'
import { readInput, textOf } from '../terminal/input-file.ts'
import type { Io } from '../terminal/io.ts'
import { readDocument } from './document.ts'
import { planFrom, type Plan } from './plan.ts'
import { readState } from './read-state.ts'
import { sections, type State } from './state.ts'

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
export type Comparison = { source: string; state: State; plan: Plan }

/** Compares a file with the service. The whole file is checked before the first request. */
export const compare = async (
  source: string | undefined,
  { prune = false }: Comparing,
  context: Context,
): Promise<Comparison> => {
  if (source === undefined)
    throw usageError('Missing <file>', await context.command!.again({ args: ['org.yaml'] }))
  const { name, text } = await readSource(source, context.io)
  const { slug, rows } = readDocument(text, name)
  const scope = {
    sections: sections.filter((section) => rows[section]),
    rules: rows.users?.some(({ fields }) => fields.geofences || fields.timeslots) ?? false,
  }
  const state = await readState(await context.client(), slug, scope, context.io.signal)
  return { source, state, plan: planFrom({ slug, rows }, state, { prune }) }
}
