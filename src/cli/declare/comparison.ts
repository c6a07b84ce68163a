import { usageError } from '../../core/errors.ts'
import { nearest } from '../../core/nearest.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import { readPhone } from '../../factors/phone.ts'
import type { Context } from '../context/context.ts'
import { readInput, textOf } from '../terminal/input-file.ts'
import type { Io } from '../terminal/io.ts'
import { readDocument, type WantedState } from './document.ts'
import { planFrom, type Plan } from './plan.ts'
import { readState, type Coverage } from './read-state.ts'
import { sections, type Rows, type Section, type State } from './state.ts'

/** A whole section, or one row of it. */
type Target = { section: Section; key?: string | undefined; typed: string }

/** `users`, `users/+12025550101`, `geofences/HQ`. Throws a usage error that names the nearest section. */
const readTarget = (typed: string): Target => {
  const slash = typed.indexOf('/')
  const word = slash < 0 ? typed : typed.slice(0, slash)
  const key = slash < 0 ? undefined : typed.slice(slash + 1)
  const section = sections.find((one) => one === word)
  if (!section || key === '') {
    const near = nearest(word, sections)
    throw usageError(
      `--target must be one of ${sections.join(', ')}, alone or with /NAME, not "${typed}"`,
      `--target ${shellQuote(`${near ?? 'users'}${key ? `/${key}` : ''}`)}`,
    )
  }
  if (section !== 'users' || key === undefined) return { section, key, typed }
  const phone = readPhone(key)
  if ('wrong' in phone) throw usageError(`--target ${typed}: ${phone.message}`, '--target users/+12025550101')
  return { section, key: phone.mobile, typed }
}

const matches = (targets: readonly Target[], section: Section, key?: string): boolean =>
  targets.length === 0 ||
  targets.some(
    (target) =>
      target.section === section && (key === undefined || target.key === undefined || target.key === key),
  )

/** The sections of the file that the targets select. Throws if a target is in a section that the file does not have. */
const selectSections = (desired: WantedState, targets: readonly Target[]): Section[] => {
  const present = sections.filter((section) => desired.rows[section])
  for (const { section, typed } of targets)
    if (!present.includes(section))
      throw usageError(
        `--target ${typed}: the file has no section ${section}`,
        `the file has ${present.join(', ')}`,
      )
  return present.filter((section) => matches(targets, section))
}

const selectRows = (rows: Rows, targets: readonly Target[]): Rows =>
  Object.fromEntries(
    sections
      .filter((section) => rows[section] && matches(targets, section))
      .map((section) => [section, rows[section]!.filter(({ key }) => matches(targets, section, key))]),
  )

/** Throws if a target is neither in the file nor in the service. */
const checkTargets = (targets: readonly Target[], ...sides: Rows[]): void => {
  for (const { section, key, typed } of targets) {
    if (key === undefined) continue
    const keys = sides.flatMap((rows) => rows[section]?.map((row) => row.key) ?? [])
    if (keys.includes(key)) continue
    const near = nearest(key, keys)
    throw usageError(
      `--target ${typed}: neither the file nor the service has it`,
      near === undefined ? `--target ${section}` : `--target ${shellQuote(`${section}/${near}`)}`,
    )
  }
}

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

export type Comparing = { file?: string; target?: string[]; prune?: boolean }
export type Comparison = { scope: Coverage; state: State; plan: Plan }

/** Compares a file with the service. The whole file is checked before the first request. */
export const compare = async (options: Comparing, context: Context): Promise<Comparison> => {
  if (options.file === undefined)
    throw usageError('Missing <file>', await context.command!.again({ args: ['org.yaml'] }))
  const targets = (options.target ?? []).map(readTarget)
  const { name, text } = await readSource(options.file, context.io)
  const wanted = readDocument(text, name)
  const sections = selectSections(wanted, targets)
  const rules = wanted.rows.users?.some(({ fields }) => fields.geofences || fields.timeslots) ?? false
  const scope = { sections, rules: rules && sections.includes('users') }

  const client = await context.client()
  const state = await readState(client, wanted.slug, scope, context.io.signal)
  if (state.org_id === undefined && !sections.includes('organization'))
    throw usageError(
      `Organization "${wanted.slug}" does not exist yet, so --target cannot be used`,
      `${await context.command!.again({ without: ['--target'] })} creates it`,
    )
  const rows = selectRows(wanted.rows, targets)
  checkTargets(targets, rows, state.rows)
  const present = { ...state, rows: selectRows(state.rows, targets) }
  const plan = planFrom({ slug: wanted.slug, rows }, present, { prune: options.prune === true })
  return { scope, state, plan }
}
