import { resolve } from 'node:path'
import { type SvcError, usageError } from '../../core/errors.ts'
import { readAtMost } from '../../core/read-at-most.ts'
import type { Context } from '../context/context.ts'
import { textOf } from '../terminal/input-file.ts'
import type { Io } from '../terminal/io.ts'
import { readDocument } from './document.ts'
import { type Plan, planFrom } from './plan.ts'
import { readState, type Scope } from './read-state.ts'
import type { State } from './state.ts'
import { checkTargets, readTarget, targetedRows, targetedSections } from './target.ts'

/** Eight times what an organization of 5,000 users takes. */
const mostBytes = 10 * 1024 * 1024

const tooLarge = (name: string): SvcError =>
  usageError(`${name} is larger than 10 MiB`, 'Use svc user import for lists of this size')

const bytesOf = (file: string, { cwd }: Io): Buffer => {
  let bytes: Buffer | undefined
  try {
    bytes = readAtMost(resolve(cwd, file), mostBytes)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw usageError(
      code === 'EISDIR' ? `${file} is a folder` : `Cannot read ${file} (${code})`,
      'svc export --org acme > org.yaml writes a file like this',
    )
  }
  if (!bytes) throw tooLarge(file)
  return bytes
}

export type Source = { name: string; text: string }

/** The text of a file, or of standard input for `-`. Fails with a usage error when it is too large or no UTF-8. */
export const readSource = async (file: string, io: Io): Promise<Source> => {
  const name = file === '-' ? 'standard input' : file
  if (file === '-' && io.stdin.isTTY)
    throw usageError('- reads standard input: pipe a file into it', 'svc apply - < org.yaml')
  const bytes = file === '-' ? await io.stdin.bytes() : bytesOf(file, io)
  if (bytes.length > mostBytes) throw tooLarge(name)
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
